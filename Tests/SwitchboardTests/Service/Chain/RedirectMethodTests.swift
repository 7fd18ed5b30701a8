import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Method, body and the headers of the body, by the Fetch standard §4.4 (HTTP-redirect fetch, steps 12 and 13).
@Suite(.timeLimit(.minutes(10)))
struct RedirectMethodTests {
    private let url = URL(text: "https://api.example.com/start")
    private let body = DataBody(Data("the body".utf8), additionalHeaders: ["Content-Type": "text/x-test"])

    @Test(
        "301/302 turn POST into GET, 303 all but GET and HEAD, 307/308 nothing",
        arguments: Rule.all)
    func methods(rule: Rule) async throws {
        let session = StubSession(.status(rule.status, headers: ["Location": "/end"]), .text("end"))
        let router = Router<URLEndPoint>(session: session)
        let task: HTTPTask = rule.method.allowsBody ? .requestBody(body) : .request
        _ = try await router.response(for: URLEndPoint(rule.method, url, task: task))
        let last = try #require(session.requests.last)
        #expect(session.requests.count == 2)
        #expect(last.url?.absoluteString == "https://api.example.com/end")
        #expect(last.method == rule.becomes)
        let keepsBody = rule.method.allowsBody && rule.becomes == rule.method
        #expect(try last.body.encode() == Data((keepsBody ? "the body" : "").utf8))
        #expect(last.headers["Content-Type"] == (keepsBody ? "text/x-test" : nil))
    }

    @Test("a redirect that drops the body drops only the body's headers", arguments: [301, 302, 303])
    func bodyHeaders(status: Int) async throws {
        let session = StubSession(.status(status, headers: ["Location": "/end"]), .text("end"))
        let headers: HTTPHeaders = [
            "Content-Encoding": "identity", "Content-Language": "de", "Content-Location": "/here",
            "Content-Length": "8", "Content-Digest": "sha-256=:AA==:", "Content-MD5": "AA==",
            "Content-Disposition": "inline", "Content-Range": "bytes 0-7/8", "Digest": "md5=AA==",
            "Repr-Digest": "sha-256=:AA==:", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
            "Expect": "100-continue", "X-Mine": "1", "Authorization": "Bearer t", "Accept-Language": "de",
        ]
        let endPoint = URLEndPoint(.post, url, task: .requestBody(body), headers: headers)
        _ = try await Router<URLEndPoint>(session: session).response(for: endPoint)
        let last = try #require(session.requests.last)
        #expect(
            last.headers == [
                "X-Mine": "1", "Authorization": "Bearer t", "Accept-Language": "de", "Accept": "application/json",
            ])
    }

    @Test("a POST that became GET has no body or body headers over the wire")
    func postToGet() async throws {
        try await MockServer.run { server in
            server.enqueue(.status(302, headers: ["Location": "/end"]), .text("end"))
            let task = HTTPTask.requestParameters(bodyParameters: ["a": 1], bodyEncoding: .formEncoding)
            let router = Router<URLEndPoint>(session: DefaultSession.make())
            let response = try await router.response(
                for: URLEndPoint(.post, server.url.appendingPathComponent("start"), task: task))
            #expect(server.requests.map { "\($0.method) \($0.target)" } == ["POST /start", "GET /end"])
            #expect(server.requests.map(\.text) == ["a=1", ""])
            #expect(server.requests[1].headers["Content-Type"] == nil)
            #expect(server.requests[1].headers["Content-Length"] == nil)
            #expect(response.text == "end")
            #expect(response.url?.path == "/end")
            #expect(response.request?.method == .get)
        }
    }

    @Test(
        "307 and 308 send the body again unchanged, over the wire", .requirement("S2.7"), arguments: [307, 308],
        [HTTPMethod.post, .put, .patch])
    func sameBytes(status: Int, method: HTTPMethod) async throws {
        let bytes = Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try await MockServer.run { server in
            server.enqueue(
                .status(status, headers: ["Location": "/b"]), .status(status, headers: ["Location": "/c"]), .text("end")
            )
            let router = Router<URLEndPoint>(session: DefaultSession.make())
            let task = HTTPTask.requestBody(DataBody(bytes, additionalHeaders: ["Content-Type": "application/x-bytes"]))
            _ = try await router.response(for: URLEndPoint(method, server.url.appendingPathComponent("a"), task: task))
            #expect(server.requests.map(\.target) == ["/a", "/b", "/c"])
            #expect(server.requests.map(\.method) == [method, method, method])
            #expect(server.requests.allSatisfy { $0.body == bytes })
            #expect(server.requests.allSatisfy { $0.headers["Content-Type"] == "application/x-bytes" })
        }
    }

    @Test("a one-shot body is refused for 307 and dropped for 303", .requirement("S2.7"))
    func oneShot() async throws {
        let session = StubSession(.status(307, headers: ["Location": "/end"]))
        let endPoint = URLEndPoint(.post, url, task: .requestBody(OneShotBody()))
        let error = await #expect(throws: NetworkError.self) {
            try await Router<URLEndPoint>(session: session).response(for: endPoint)
        }
        #expect(error?.code == .redirectRefused)
        #expect(error?.statusCode == 307)
        let other = StubSession(.status(303, headers: ["Location": "/end"]), .text("end"))
        #expect(try await Router<URLEndPoint>(session: other).request(endPoint, as: String.self) == "end")
    }

    @Test("a download follows redirects, and the file has only the last body")
    func download() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("redirect-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try await MockServer.run { server in
            server.enqueue(.text("moved", statusCode: 302, headers: ["Location": "/end"]), .text("the file"))
            let router = Router<URLEndPoint>(session: DefaultSession.make())
            let response = try await router.response(for: URLEndPoint(.get, server.url, task: .download(to: file)))
            #expect(response.fileURL == file)
            #expect(try Data(contentsOf: file) == Data("the file".utf8))
        }
    }
}

extension RedirectMethodTests {
    /// The method that the Fetch standard requires after a redirect status.
    struct Rule: Sendable, CustomTestStringConvertible {
        let status: Int
        let method: HTTPMethod
        let becomes: HTTPMethod
        var testDescription: String { "\(status) \(method)" }

        static let all: [Rule] =
            [301, 302].flatMap { status in
                [Rule(status: status, method: .post, becomes: .get)]
                    + kept(status, [.get, .head, .put, .patch, .delete, .options, "PURGE"])
            }
            + [HTTPMethod.post, .put, .patch, .delete, .options, "PURGE"].map {
                Rule(status: 303, method: $0, becomes: .get)
            }
            + kept(303, [.get, .head])
            + [307, 308].flatMap { kept($0, [.get, .head, .post, .put, .patch, .delete, .options, "PURGE"]) }

        private static func kept(_ status: Int, _ methods: [HTTPMethod]) -> [Rule] {
            methods.map { Rule(status: status, method: $0, becomes: $0) }
        }
    }
}
