import Foundation
import Switchboard
@testable import SwitchboardMocks
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Stubs of a session: their order, their number of answers, and their verification.
@Suite(.timeLimit(.minutes(10)))
struct StubTests {
    private func get(_ path: String, from session: StubSession) async throws -> String {
        try await session.send(NetworkRequest(.get, URL(string: "http://h.test\(path)"))).text
    }

    @Test("the newest matching stub answers")
    func newestStub() async throws {
        let session = StubSession()
        session.stub(.any, with: .text("any"))
        session.stub(.get("/a"), with: .text("a"))
        #expect(try await get("/a", from: session) == "a")
        #expect(try await get("/b", from: session) == "any")
        session.enqueue(.text("queue"))
        #expect(try await get("/a", from: session) == "queue")
        #expect(try await get("/a", from: session) == "a")
    }

    @Test("responses answer in order, and the last one repeats")
    func responseOrder() async throws {
        let session = StubSession()
        let stub = session.stub(.get("/a"), with: .text("1").repeated(2), .text("2"))
        var texts: [String] = []
        for _ in 0..<5 { texts.append(try await get("/a", from: session)) }
        #expect(texts == ["1", "1", "2", "2", "2"])
        #expect(stub.count == 5)
        #expect(stub.requests.map(\.target) == ["/a", "/a", "/a", "/a", "/a"])
        #expect(session.faults.isEmpty)
    }

    @Test("after a stub is used up, the next one answers")
    func usedUp() async throws {
        let session = StubSession()
        session.stub(.get("/a"), with: .text("older"))
        let once = session.stub(.get("/a"), times: .once, with: .text("once"))
        #expect(try await get("/a", from: session) == "once")
        #expect(try await get("/a", from: session) == "older")
        #expect(once.count == 1)
    }

    @Test("a request that must not be sent is refused, whatever else could answer")
    func never() async throws {
        func check(_ session: StubSession) async {
            session.stub(.get("/a"), times: .any, with: .text("older"))
            session.stub(.get("/a"), times: .never)
            let error = await #expect(throws: NetworkError.self) { try await get("/a", from: session) }
            #expect(error?.code == .unmatchedRequest)
            #expect(session.faults.first?.contains("expects no request") == true)
        }
        await check(StubSession())
        await check(StubSession(.text("queue")))
        await check(StubSession { _ in .text("closure") })
        await check(StubSession(fallingBackTo: StubSession(.text("session"))))
        let server = try MockServer { _ in .text("handler") }
        defer { server.stop() }
        server.stub(.any, times: .never)
        server.enqueue(.text("queue"))
        #expect(try await DefaultSession.make().send(NetworkRequest(.get, server.url)).statusCode == 404)
        #expect(server.faults.count == 2)
    }

    @Test("responses that repeat very often are counted without overflow")
    func manyResponses() async throws {
        let session = StubSession()
        session.stub(.any, with: .text("a").repeated(.max), .text("b"))
        #expect(try await get("/a", from: session) == "a")
    }

    @Test("a closure receives the request as on the wire")
    func closureRequest() async throws {
        let session = StubSession()
        session.stub(.post("/echo")) { request in
            .text(request.text, headers: ["X-Length": request.headers["Content-Length"] ?? ""])
        }
        let request = NetworkRequest(.post, URL(string: "http://h.test/echo"), body: JSONBody([1]))
        let response = try await session.send(request)
        #expect(response.text == "[1]")
        #expect(response.headers["X-Length"] == "3")
        struct Odd: Error {}
        session.stub(.any) { _ in throw Odd() }
        let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
        #expect(error?.code == .unknown && error?.underlying is Odd)
    }

    // S2.12 Mock loader: scripted queue, default handler, fall-through to next, count of loads, error when unused
    // scripts remain.
    @Test(
        "queue answers first, then stubs, then fallback; leftovers are faults",
        .requirement("S2.12"))
    func order() async throws {
        let session = StubSession { _ in .text("default") }
        session.enqueue(.text("queue"))
        session.stub(.get("/a"), with: .text("stub"))
        #expect(session.faults.count == 2)
        #expect(try await get("/a", from: session) == "queue")
        #expect(try await get("/a", from: session) == "stub")
        #expect(try await get("/b", from: session) == "default")
        #expect(session.requests.count == 3)
        #expect(session.faults.isEmpty)
        let next = StubSession(fallingBackTo: session)
        next.enqueue(.text("first"))
        #expect(try await get("/b", from: next) == "first")
        #expect(try await get("/b", from: next) == "default")
        #expect(session.requests.count == 4)
        next.enqueue(.text("left"), .stall, .redirectLoop)
        #expect(next.faults == ["never requested: 200, 4 bytes; stall"])
    }

    @Test("the error of an unmatched request has the nearest stubs")
    func nearestStubs() async throws {
        let session = StubSession()
        session.stub(.get("/p?page=1"), with: .text("1"))
        session.stub(.post("/q").header("X-A"), with: .text("2"))
        session.stub(.get("/p"), times: .once, with: .text("3"))
        session.stub(.delete("/far").query("a", "1"), with: .text("4"))
        _ = try await get("/p", from: session)
        let error = await #expect(throws: NetworkError.self) { try await get("/p?page=2&token=s3cret", from: session) }
        #expect(error?.code == .unmatchedRequest)
        let lines = error?.reason?.split(separator: "\n").map(String.init)
        #expect(
            lines == [
                "StubSession: no stub answers GET http://h.test/p?page=2&token=<redacted>",
                "  nearest: GET /p: used up, expected exactly 1",
                #"  nearest: GET /p, query page=1: query page is "2", not "1""#,
                "  nearest: DELETE /far, query a=1: the method is GET; the path is /p; there is no query item a",
            ])
        #expect(session.requests.count == 2)
    }

    @Test("a router does not retry an unmatched request")
    func noRetry() async throws {
        let session = StubSession()
        session.stub(.get("/else"), with: .text(""))
        let router = Router<FilmApi>(session: session, interceptors: [RetryPolicy()])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: .film(id: 1)) }
        #expect(error?.code == .unmatchedRequest)
        #expect(error?.reason?.contains("FilmApi.film") == true)
        #expect(session.requests.count == 1)
    }

    @Test("verify checks the number of requests")
    func counts() async throws {
        let session = StubSession()
        session.stub(.get("/never"), times: .never, with: .text(""))
        session.stub(.get("/twice"), times: 2, with: .text(""))
        session.stub(.get("/some"), times: .atMost(3), with: .text(""))
        session.stub(.get("/unused"), with: .text(""))
        _ = try await get("/twice", from: session)
        #expect(
            session.faults == [
                "GET /twice: answered 1 time, expected exactly 2", "GET /unused: answered 0 times, expected at least 1",
            ])
        let error = await #expect(throws: NetworkError.self) { try await get("/never", from: session) }
        #expect(error?.reason?.contains("nearest: GET /never: expects no request") == true)
        #expect(session.faults.count == 3)
    }

    @Test("an unexpected error of a closure is a fault")
    func closureError() async throws {
        struct Odd: Error {}
        let session = StubSession { _ in throw Odd() }
        session.stub(.get("/stub")) { _ in throw Odd() }
        session.stub(.get("/meant")) { _ in throw NetworkError(.timedOut) }
        for path in ["/stub", "/meant", "/closure"] {
            await #expect(throws: NetworkError.self) { try await get(path, from: session) }
        }
        #expect(
            session.faults == [
                "the closure of GET /stub threw Odd()", "the closure for GET http://h.test/closure threw Odd()",
            ])
    }

    @Test(
        "negative counts are treated as the smallest value",
        arguments: [
            (.oversizedHeader(-1), .oversizedHeader(0)), (.garbage(-1), .garbage(0)),
            (.truncated(after: -1), .truncated(after: 0)),
            (.text("abc").truncated(after: -1), .text("abc").truncated(after: 0)),
            (.close(at: .requestBody(after: -1)), .close(at: .requestBody(after: 0))),
        ] as [(MockResponse, MockResponse)])
    func negativeCounts(negative: MockResponse, smallest: MockResponse) async throws {
        let steps = WireResponse(negative, to: nil).steps
        #expect(steps == WireResponse(smallest, to: nil).steps)
        #expect(negative.description == smallest.description)
        let text = try? await get("/", from: StubSession(negative))
        let expected = try? await get("/", from: StubSession(smallest))
        #expect(text == expected)
    }

    @Test("verify checks the order of the stubs")
    func verifiedOrder() async throws {
        let session = StubSession()
        let (a, b, c) = (
            session.stub(.get("/a"), with: .text("")), session.stub(.get("/b"), with: .text("")),
            session.stub(.get("/c"), with: .text(""))
        )
        for path in ["/a", "/c", "/b", "/a"] { _ = try await get(path, from: session) }
        #expect(session.fault(inOrder: [a, b, a]) == nil)
        #expect(session.fault(inOrder: [c, b]) == nil)
        #expect(
            session.fault(inOrder: [b, a])
                == "the order was:\n  GET /a\n  GET /b\n  GET /a\nexpected:\n  GET /b\n  GET /a")
    }

    @Test("verify fails at the line of its call")
    func failureLocation() async throws {
        let session = StubSession()
        session.stub(.get("/unused"), with: .text(""))
        let line = #line + 2
        withKnownIssue {
            session.verify()
        } matching: { issue in
            issue.sourceLocation?.line == line && issue.sourceLocation?.fileID == #fileID
                && issue.comments.map(\.rawValue) == ["StubSession: GET /unused: answered 0 times, expected at least 1"]
        }
        let stub = session.stub(.get("/a"), with: .text(""))
        let second = #line + 2
        withKnownIssue {
            session.verify(order: stub)
        } matching: { issue in
            issue.sourceLocation?.line == second
        }
    }

    @Test("a thousand concurrent tests never share stubs", arguments: 0..<1_000)
    func thousand(number: Int) async throws {
        let session = StubSession()
        session.stub(FilmApi.film(id: 1), with: .text("\(number)"))
        let router = Router<FilmApi>(session: session)
        #expect(try await router.response(for: .film(id: 1)).text == "\(number)")
        await Task.yield()
        #expect(try await router.response(for: .film(id: 1)).text == "\(number)")
        #expect(session.requests.count == 2)
    }
}
