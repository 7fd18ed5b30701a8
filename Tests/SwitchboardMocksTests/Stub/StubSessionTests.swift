import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StubSessionTests {
    private let url = URL(string: "https://h.example/p?api_key=s3cret")
    private var request: NetworkRequest { NetworkRequest(.get, url) }

    @Test("the closure answers each request")
    func closure() async throws {
        let session = StubSession { request in
            .json(#"{"host":"\#(request.host)"}"#, statusCode: 203, headers: ["X": "1"])
        }
        let response = try await session.send(request)
        #expect(response.statusCode == 203)
        #expect(response.text == #"{"host":"h.example"}"#)
        #expect(response.headers == ["Content-Type": "application/json", "X": "1"])
        #expect(response.url == url)
        #expect(response.request?.id == session.requests.first?.id)
    }

    @Test("the queue answers before the closure, in order")
    func queueBeforeClosure() async throws {
        let session = StubSession { _ in .text("closure") }
        session.enqueue(.text("1"), .text("2"))
        var texts: [String] = []
        for _ in 0..<3 { texts.append(try await session.send(request).text) }
        #expect(texts == ["1", "2", "closure"])
        #expect(session.requests.count == 3)
    }

    @Test("a request without an answer is an error without secrets")
    func emptyQueue() async throws {
        let session = StubSession(.text("1"), .text("2"))
        _ = try await session.send(request)
        _ = try await session.send(request)
        let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(error?.code == .unmatchedRequest)
        let place = "GET https://h.example/p?api_key=<redacted>"
        #expect(error?.reason == "StubSession: nothing left to answer \(place) (2 answered)")
        #expect(session.requests.count == 3)
    }

    @Test("a request to a session without stubs and responses gets advice")
    func emptySession() async throws {
        let error = await #expect(throws: NetworkError.self) { try await StubSession().send(request) }
        #expect(
            error?.reason?.hasSuffix(" (0 answered); add a stub or a response to this session before the call") == true)
    }

    @Test("an invalid request is neither recorded nor answered")
    func invalidRequest() async throws {
        let session = StubSession(.text("kept"))
        for bad in [
            NetworkRequest(.get, nil), NetworkRequest("BAD METHOD", url),
            NetworkRequest(.get, url, headers: ["a": "b\r\nc"]),
        ] {
            await #expect(throws: NetworkError.self) { try await session.send(bad) }
        }
        #expect(session.requests.isEmpty)
        #expect(try await session.send(request).text == "kept")
    }

    @Test("a body that cannot be encoded ends the request")
    func encodingError() async throws {
        let session = StubSession(.text("kept"))
        let error = await #expect(throws: NetworkError.self) {
            try await session.send(NetworkRequest(.post, url, body: JSONBody(Double.nan)))
        }
        #expect(error?.code == .encodingFailed)
        #expect(session.requests.isEmpty)
    }

    @Test("HEAD, 204 and 304 have no body", arguments: [(HTTPMethod.head, 200), (.get, 204), (.get, 304)])
    func noBody(method: HTTPMethod, status: Int) async throws {
        let session = StubSession(
            .text("not there", statusCode: status), .text("nor here", statusCode: status).truncated(after: 1))
        for _ in 0..<2 {
            let response = try await session.send(NetworkRequest(method, url))
            #expect(response.statusCode == status)
            #expect(response.body.isEmpty)
        }
    }

    @Test("a body above the limit is an error")
    func bodyLimit() async throws {
        let request = NetworkRequest(.get, url, options: RequestOptions { $0.limits.responseBody = 3 })
        let session = StubSession(.text("abc"), .text("abcd"))
        #expect(try await session.send(request).text == "abc")
        let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(error?.code == .responseTooLarge)
        #expect(error?.body == Data("abc".utf8))
    }

    @Test("a download is written to its file")
    func download() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("stub-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let endPoint = URLEndPoint(.get, try #require(url), task: .download(to: file))
        let router = Router<URLEndPoint>(session: StubSession(.text("missing", statusCode: 404), .text("there")))
        let missing = try await router.rawResponse(for: endPoint)
        #expect(missing.text == "missing")
        #expect(!FileManager.default.fileExists(atPath: file.path))
        let response = try await router.rawResponse(for: endPoint)
        #expect(response.fileURL == file)
        #expect(response.body.isEmpty)
        #expect(try Data(contentsOf: file) == Data("there".utf8))
    }

    @Test("a router uses the session")
    func router() async throws {
        let session = StubSession { _ in .json("[1,2]") }
        let manager = NetworkManager(session: session)
        let data = try await manager.data(from: #require(url))
        #expect(data == Data("[1,2]".utf8))
    }
}
