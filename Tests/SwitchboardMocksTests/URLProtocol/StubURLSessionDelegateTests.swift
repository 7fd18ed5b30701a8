import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// A delegate's events of a stubbed URLSession, and redirects.
@Suite(.timeLimit(.minutes(10)))
struct StubURLSessionDelegateTests {
    private let url: URL

    init() throws {
        url = try #require(URL(string: "https://h.example/start"))
    }

    @Test("a delegate receives head, body and end")
    func delegate() async throws {
        let delegate = TaskDelegate()
        let session = StubSession(.text("there", statusCode: 202).chunked(2)).urlSession(delegate: delegate)
        session.dataTask(with: url).resume()
        #expect(try await delegate.ends.first() == nil)
        #expect(delegate.statuses.all == [202])
        #expect(delegate.data.all.reduce(Data(), +) == Data("there".utf8))
    }

    @Test("a delegate receives the part before the fault")
    func delegateFault() async throws {
        let delegate = TaskDelegate()
        let session = StubSession(.text("abcdef", statusCode: 201).truncated(after: 3)).urlSession(delegate: delegate)
        session.dataTask(with: url).resume()
        #expect(try await delegate.ends.first() == .networkConnectionLost)
        #expect(delegate.statuses.all == [201])
        #expect(delegate.data.all.reduce(Data(), +) == Data("abc".utf8))
    }

    @Test("credentials of a delegate do not reach the network")
    func credentials() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("the network"))
            let delegate = TaskDelegate()
            let stub = StubSession(.status(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""]))
            stub.urlSession(delegate: delegate).dataTask(with: server.url).resume()
            let end = try await delegate.ends.first()
            #expect(end == nil)
            #expect(delegate.statuses.all == [401])
            #expect(server.requests.isEmpty)
        }
    }

    // MARK: Redirects

    @Test(
        "the stub follows redirects",
        arguments: [
            (301, "GET", ""), (302, "GET", ""), (303, "GET", ""), (307, "POST", "body"), (308, "POST", "body"),
        ])
    func redirects(status: Int, method: String, body: String) async throws {
        let stub = StubSession(.status(status, headers: ["Location": "/end?x=1"]), .text("arrived"))
        let delegate = TaskDelegate()
        let session = stub.urlSession(delegate: delegate)
        let (data, response) = try await session.data(for: posting)
        #expect(data == Data("arrived".utf8))
        #expect(response.url?.absoluteString == "https://h.example/end?x=1")
        #expect(stub.requests.map(\.url?.absoluteString) == [url.absoluteString, "https://h.example/end?x=1"])
        #expect(stub.requests.last?.method.rawValue == method)
        #expect(try stub.requests.last?.body.encode() == Data(body.utf8))
        #expect(delegate.redirects.all == [status])
    }

    @Test("a delegate can decline a redirect")
    func declinedRedirect() async throws {
        let delegate = TaskDelegate(redirect: { _ in nil })
        let stub = StubSession(.status(302, headers: ["Location": "/end"], body: Data("moved".utf8)), .text("arrived"))
        let (data, response) = try await stub.urlSession(delegate: delegate).data(for: posting)
        #expect((response as? HTTPURLResponse)?.statusCode == 302)
        #expect(data == Data("moved".utf8))
        #expect(stub.requests.count == 1)
    }

    @Test("a delegate can change a redirect")
    func changedRedirect() async throws {
        let delegate = TaskDelegate(redirect: { proposed in
            var request = proposed
            request.setValue("1", forHTTPHeaderField: "X-Changed")
            return request
        })
        let stub = StubSession(.status(307, headers: ["Location": "/end"]), .text("arrived"))
        _ = try await stub.urlSession(delegate: delegate).data(for: posting)
        #expect(stub.requests.last?.headers["X-Changed"] == "1")
        #expect(try stub.requests.last?.body.encode() == Data("body".utf8))
    }

    @Test("endless redirects are an error")
    func redirectLoop() async throws {
        let stub = StubSession { _ in .status(302, headers: ["Location": "/again"]) }
        let session = stub.urlSession()
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.code == .httpTooManyRedirects)
        #expect(stub.requests.count == 17)
    }

    @Test("a redirect without Location is the answer")
    func redirectWithoutLocation() async throws {
        let (data, response) = try await StubSession(.status(302, body: Data("moved".utf8))).urlSession().data(
            from: url)
        #expect((response as? HTTPURLResponse)?.statusCode == 302)
        #expect(data == Data("moved".utf8))
    }

    private var posting: URLRequest { URLRequest("POST", url, body: Data("body".utf8)) }
}
