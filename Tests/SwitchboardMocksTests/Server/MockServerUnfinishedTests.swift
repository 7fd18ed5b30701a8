import Foundation
import Switchboard
@testable import SwitchboardMocks
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The report of a script that was not played to its end.
@Suite(.timeLimit(.minutes(10)))
struct MockServerUnfinishedTests {
    private let get = "GET /asked?token=s3cret HTTP/1.1\r\nHost: h\r\n\r\n"

    @Test("a script played to its end leaves nothing unfinished")
    func nothingUnfinished() async throws {
        let server = try MockServer()
        server.enqueue(.text("one"), .text("two").chunked(1), .close, .status(204).repeated())
        for _ in 0..<4 { _ = try? await DefaultSession.make().send(NetworkRequest(.get, server.url)) }
        #expect(server.faults.isEmpty)
        #expect(server.stop().isEmpty)
    }

    @Test("unused responses are listed")
    func unusedResponses() throws {
        let server = try MockServer()
        server.enqueue(.text("one"), .stall, .redirectLoop)
        let unfinished = server.stop()
        #expect(unfinished.responses == ["200, 3 bytes", "stall"])
        #expect(unfinished.description == "never requested: 200, 3 bytes; stall")
        #expect(server.stop() == unfinished)
        #expect(server.faults == [unfinished.description])
    }

    @Test("an interrupted answer is listed with its request")
    func interruptedAnswer() async throws {
        let server = try MockServer()
        server.enqueue(.stalled(after: 3))
        let client = try RawClient(port: server.port).send(get)
        _ = try await server.takeRequest()
        let unfinished = server.stop()
        #expect(unfinished.answers == ["GET /asked?token=<redacted>: 200, 1027 bytes, stalled after 3 bytes"])
        #expect(unfinished.openConnections == 1)
        #expect(client.readAll().end != .silent)
    }

    @Test("a stall that the client ended counts as finished")
    func endedStall() async throws {
        let server = try MockServer()
        server.enqueue(.stall)
        let client = try RawClient(port: server.port).send(get)
        _ = try await server.takeRequest()
        client.leave()
        try await server.waitForDisconnect()
        #expect(server.stop().isEmpty)
    }

    /// Returns the faults after the end of an answer, which a busy machine may notice late.
    private func patientFaults(of server: MockServer) -> [String] {
        MockServerCore.$answerLimit.withValue(.seconds(300)) { server.faults }
    }

    @Test("a stall whose client has just left is no fault")
    func stallAtFaults() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.enqueue(.stall)
        let client = try RawClient(port: server.port).send(get)
        _ = try await server.takeRequest()
        client.leave()
        #expect(patientFaults(of: server).isEmpty)
    }

    @Test("a stall before the end of a request is listed")
    func stallInRequest() async throws {
        let server = try MockServer()
        server.enqueue(.stall(at: .requestHead))
        let client = try RawClient(port: server.port).send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n")
        while !server.unfinished.responses.isEmpty { await Task.yield() }
        let unfinished = server.stop()
        #expect(unfinished.answers == ["stall after the request's head"])
        #expect(client.readAll().end != .silent)
    }

    @Test("a break in a request is finished before the client sees it")
    func breakInRequest() throws {
        let server = try MockServer()
        defer { server.stop() }
        server.enqueue(.close(at: .accept).repeated())
        for _ in 0..<200 {
            let end = try RawClient(port: server.port).readAll().end
            #expect(end == .closed && server.unfinished.answers.isEmpty)
        }
    }

    @Test("an answer whose last piece is empty is complete")
    func emptyPiece() async throws {
        let server = try MockServer()
        server.enqueue(.script(.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .send(""), .keepAlive))
        let client = try RawClient(port: server.port).send(get)
        _ = client.read(through: "\r\n\r\n")
        #expect(server.stop().isEmpty)
    }

    @Test("a canceled run keeps its report")
    func cancelledRun() async throws {
        let servers = Deliveries<MockServer>()
        let run = Task {
            try await MockServer.run { server in
                server.enqueue(.stall)
                let client = try RawClient(port: server.port).send(get)
                _ = try await server.takeRequest()
                servers.add(server)
                // The connection's thread has then removed its answer. A read that blocks would keep other tests waiting.
                while server.openConnections > 0 { await Task.yield() }
                client.leave()
            }
        }
        let server = try await servers.first()
        run.cancel()
        try await run.value
        #expect(server.unfinished.answers == ["GET /asked?token=<redacted>: stall"])
    }

    private struct Odd: Error {}

    @Test("a request that nothing answers is a fault")
    func unmatchedRequest() async throws {
        let server = try MockServer()
        defer { server.stop() }
        let request = NetworkRequest(.get, server.url.appendingPathComponent("asked"))
        let unanswered = try await DefaultSession.make().send(request)
        #expect(unanswered.statusCode == 404)
        #expect(server.faults == ["nothing left to answer GET /asked"])
        server.stub(.get("/asked")) { _ in throw Odd() }
        let thrown = try await DefaultSession.make().send(request)
        #expect(thrown.statusCode == 500)
        #expect(server.faults.last == "the closure of GET /asked threw Odd()")
        server.stub(.get("/asked")) { _ in throw NetworkError(.timedOut) }
        let error = await #expect(throws: NetworkError.self) { try await DefaultSession.make().send(request) }
        #expect(error?.code == .connectionLost)
    }

    @Test("verify of a server fails the test")
    func verify() throws {
        let server = try MockServer()
        server.enqueue(.text("one"))
        let line = #line + 2
        withKnownIssue {
            server.verify()
        } matching: { issue in
            issue.sourceLocation?.line == line
                && issue.comments.map(\.rawValue) == ["MockServer: never requested: 200, 3 bytes"]
        }
    }
}

/// Queues and break points of a script, byte by byte.
@Suite(.timeLimit(.minutes(10)))
struct MockServerScriptTests {
    private let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
    private let post = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n"

    @Test("a response repeats the given number of times")
    func repeated() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("a").repeated(2), .text("b"), .text("c").repeated())
            let session = DefaultSession.make()
            var texts = ""
            for _ in 0..<6 { texts += try await session.send(NetworkRequest(.get, server.url)).text }
            #expect(texts == "aabccc")
        }
    }

    @Test("a script can keep the connection for the next request")
    func keepAliveScript() async throws {
        try await MockServer.run { server in
            server.enqueue(
                .script(.send("HTTP/1.1 200 OK\r\nContent-"), .send("Length: 1\r\n\r\na"), .keepAlive), .raw("raw"))
            let heard = try RawClient(port: server.port).send(get + get).readAll()
            #expect(heard.text == "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naraw")
            #expect(heard.end == .closed)
            #expect(server.requests.map(\.index) == [0, 1])
        }
    }

    @Test("a break within a request's body does not wait for the rest")
    func breakInBody() async throws {
        try await MockServer.run { server in
            server.enqueue(.close(at: .requestBody(after: 4)), .reset(at: .requestHead), .text("whole"))
            let closed = try RawClient(port: server.port).send(post + "1234").readAll()
            #expect(closed.end == .closed)
            let reset = try RawClient(port: server.port).send(post).readAll()
            #expect(reset.end == .reset)
            #expect(server.requests.isEmpty)
            let last = try RawClient(port: server.port).send(post + "1234567890")
            #expect(last.read(through: "whole").hasSuffix("\r\n\r\nwhole"))
            #expect(server.requests.map(\.text) == ["1234567890"])
        }
    }

    @Test("a chunked body is read up to the break")
    func breakInChunks() async throws {
        try await MockServer.run { server in
            server.enqueue(.close(at: .requestBody(after: 4)))
            let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            let heard = try RawClient(port: server.port).send(head + "3\r\nabc\r\n5\r\nd").readAll()
            #expect(heard.end == .closed)
        }
    }
}
