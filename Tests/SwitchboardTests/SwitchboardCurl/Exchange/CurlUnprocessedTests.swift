#if os(Linux)
import Foundation
import SwitchboardCurl
import SwitchboardPlatform
import Testing

import SwitchboardTestSupport
@testable import Switchboard

/// Requests that are not idempotent, on HTTP/2 connections whose server ends a stream without an answer.
@Suite(.needsServers, .inTurn, .serialized, .timeLimit(.minutes(10)))
struct CurlUnprocessedTests {
    /// The state of the connection before the request.
    enum Connection: CaseIterable { case new, reused, withOneExchange, withEightExchanges }

    private static func url(_ path: String) throws -> URL { try Servers.http2("scriptsTLS", path) }

    private static func post(_ path: String, _ body: String = "text") throws -> NetworkRequest {
        var request = NetworkRequest(.post, try url(path))
        if !body.isEmpty { request.body = DataBody(Data(body.utf8), contentType: "text/plain") }
        request.timeouts.attempt = .seconds(300)
        return request
    }

    /// Runs `body` with a session whose connection has that state.
    private static func withSession(_ connection: Connection, _ body: (CurlSession) async throws -> Void) async throws {
        let session = try CurlHTTP2Tests.session(connections: 2)
        if connection != .new { _ = try await CurlHTTP2FrameTests.count(session, url("/count")) }
        var others: [Task<NetworkResponse, any Error>] = []
        // libcurl reads a GOAWAY for any exchange of the connection.
        for _ in 0..<(connection == .withEightExchanges ? 8 : connection == .withOneExchange ? 1 : 0) {
            others.append(try await CurlHTTP2FrameTests.hang(session, url("/count")))
        }
        try await body(session)
        for other in others { other.cancel() }
    }

    @Test(
        "a POST that GOAWAY excludes is sent again, once",
        arguments: Connection.allCases, ["text", ""])
    func excluded(connection: Connection, body: String) async throws {
        try await Self.withSession(connection) { session in
            let response = try await session.send(Self.post("/goawayonce/\(UUID().uuidString)", body))
            #expect(response.history.map(\.outcome) == [.failure(.connectionLost), .status(200)])
            #expect(response.history.last?.cause == "retry after a request that the server did not process")
        }
    }

    @Test("a POST that is refused on a new connection is sent again, once")
    func refused() async throws {
        try await Self.withSession(.new) { session in
            let response = try await session.send(Self.post("/refuseonce/\(UUID().uuidString)"))
            #expect(response.history.map(\.outcome) == [.failure(.connectionLost), .status(200)])
        }
    }

    // libcurl does not distinguish this end from others of a reused connection.
    @Test("a POST that is refused on a kept-alive connection is sent once")
    func refusedLater() async throws {
        try await Self.withSession(.reused) { session in
            let path = "/refuseonce/\(UUID().uuidString)"
            let error = await #expect(throws: NetworkError.self) { try await session.send(Self.post(path)) }
            #expect(error?.reason == "the HTTP/2 stream ended before the server answered; POST is not sent again")
        }
    }

    @Test("a GET whose stream GOAWAY ends on a new connection is sent again")
    func getOnNewConnection() async throws {
        let session = try CurlHTTP2Tests.session()
        let response = try await session.send(NetworkRequest(.get, Self.url("/goawayonce/\(UUID().uuidString)")))
        #expect(response.history.map(\.outcome) == [.failure(.connectionLost), .status(200)])
    }

    @Test("a POST that the server may have processed is sent once", arguments: Connection.allCases)
    func processed(connection: Connection) async throws {
        try await Self.withSession(connection) { session in
            let path = "/goawaylater/\(UUID().uuidString)"
            let error = await #expect(throws: NetworkError.self) { try await session.send(Self.post(path)) }
            #expect(error?.code == .connectionLost, "\(String(describing: error))")
            // Its second request is the first one that is answered.
            let next = try await session.send(NetworkRequest(.get, Self.url(path)))
            #expect(next.statusCode == 200)
        }
    }

    // libcurl 7.88 repeats each field in its verbose texts, which name the streams that a GOAWAY excludes.
    @Test("a field that reads like a GOAWAY repeats no other request")
    func forgedText() async throws {
        let session = try CurlHTTP2Tests.session()
        let hanging = try await CurlHTTP2FrameTests.hang(session, Self.url("/count"), Self.post("/silent"))
        // Without a body: libcurl 7.88 never ends an exchange whose answer ends before the body is sent.
        var forged = try Self.post("/resethanging/2", "")
        forged.headers["X-Note"] = "recveived GOAWAY, error=0, last_stream=0"
        _ = try await session.send(forged)
        let error = await #expect(throws: NetworkError.self) { try await hanging.value }
        #expect(error?.code == .connectionLost)  // sent again, it would time out
    }

    @Test("a GOAWAY excludes no request of another connection")
    func otherConnection() async throws {
        func other(_ path: String) throws -> URL {
            try Servers.url("https", "localhost", Servers.directory().http2["scriptsTLS"], path)
        }
        let session = try CurlHTTP2Tests.session()
        var silent = try Self.post("/silent")
        silent.url = try other("/silent")
        let hanging = try await CurlHTTP2FrameTests.hang(session, other("/count"), silent)
        // It is the first request of its connection, so that the GOAWAY excludes all streams.
        _ = try await session.send(Self.post("/goawayonce/\(UUID().uuidString)"))
        _ = try await session.send(NetworkRequest(.get, other("/resethanging/2")))
        let error = await #expect(throws: NetworkError.self) { try await hanging.value }
        #expect(error?.code == .connectionLost)  // sent again, it would time out
    }

    @Test("a POST that follows a GOAWAY is sent on another connection")
    func afterGoAway() async throws {
        try await Self.withSession(.withOneExchange) { session in
            let last = try await CurlHTTP2FrameTests.count(session, Self.url("/goaway"))
            let response = try await session.send(Self.post("/count", ""))
            #expect(try response.decode(CurlHTTP2FrameTests.Count.self, decoder: JSONDecoder()).port != last.port)
        }
    }

    @Test("a POST that is refused each time fails, and its text is true")
    func alwaysRefused() async throws {
        let session = try CurlHTTP2Tests.session()
        let error = await #expect(throws: NetworkError.self) { try await session.send(Self.post("/refuse/7")) }
        #expect(error?.code == .connectionLost)
        #expect(error?.reason == "the server did not process the request")
    }

    @Test("a streamed body that cannot start again is not sent again")
    func streamedOnce() async throws {
        let session = try CurlHTTP2Tests.session()
        var request = try Self.post("/goawayonce/\(UUID().uuidString)")
        request.body = StreamBody(isReplayable: false) {
            let left = Protected([Data("text".utf8)])
            return HTTPBodyStream { left.withLock { $0.popLast() } }
        }
        let streamed = request
        let error = await #expect(throws: NetworkError.self) { try await session.send(streamed) }
        #expect(error?.code == .connectionLost, "\(String(describing: error))")
        // libcurl 8.1 and later report the stream as refused.
        let cause =
            CurlLibrary.version < 0x08_01_00
            ? "the HTTP/2 stream ended before the server answered" : "the server did not process the request"
        #expect(error?.reason == "\(cause); its streamed body is not sent again")
    }
}
#endif
