import SwitchboardPlatform
@testable import SwitchboardHAR
import Foundation
@testable import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Kept-alive connections that are dead when they are used again (RFC 9110 §9.2.2).
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct SessionRepeatTests {
    /// The number of idle connections. The server reads one more request on each and closes it without a response.
    private static let connections = 10

    @Test(
        "a GET is repeated once, though ten connections are dead [one repeat]",
        arguments: SessionKind.curlAlone)
    func onceThoughAllAreDead(kind: SessionKind) async throws {
        let (events, logs, recorder) = (Events(), Deliveries<String>(), HARRecorder())
        try await withDyingConnections { url, probes in
            let session = kind.make(SessionConfiguration(maximumConnectionsPerHost: Self.connections))
            try await warm(session, url)
            let logger = NetworkLogger(level: .basic) { logs.add($0) }
            let router = Router<URLEndPoint>(session: session, interceptors: [logger])
            let options = RequestOptions { $0.monitors += [events, recorder] }
            let endPoint = URLEndPoint(.get, url.appendingPathComponent("probe"), options: options)
            let response = try await router.response(for: endPoint)
            #expect(response.text == "ok")
            #expect(probes.all.count == 2)
            let history = response.history
            #expect(history.map(\.outcome) == [.failure(.connectionLost), .status(200)])
            #expect(history.map(\.number) == [1, 2])
            #expect(history.first?.cause == nil && history.last?.cause?.contains("kept-alive") == true)
            #expect(response.metrics.isReusedConnection == false)
        }
        #expect(events.texts.filter { $0.hasPrefix("exchange ") } == ["exchange 1", "exchange 2"])
        #expect(events.texts.filter { $0.hasPrefix("retry") }.count == 1)
        #expect(events.texts.filter { $0.hasPrefix("exchanged") }.count == 2)
        #expect(recorder.count == 2)
        #expect(logs.all.last?.contains(", exchanges connectionLost, HTTP 200") == true)
    }

    @Test(
        "without a router the history shows both exchanges [one repeat]",
        arguments: SessionKind.curlAlone)
    func withoutRouter(kind: SessionKind) async throws {
        try await withDyingConnections { url, probes in
            let session = kind.make(SessionConfiguration(maximumConnectionsPerHost: Self.connections))
            try await warm(session, url)
            let response = try await session.send(NetworkRequest(.get, url.appendingPathComponent("probe")))
            #expect(probes.all.count == 2)
            #expect(response.history.map(\.outcome) == [.failure(.connectionLost), .status(200)])
        }
    }

    @Test(
        "the request of an ended call is repeated too [one repeat]",
        arguments: SessionKind.curlAlone)
    func requestOfAnEndedCall(kind: SessionKind) async throws {
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            _ = try connection.readHead()  // the second request on a connection gets no response
        } body: { server in
            let session = kind.make()
            let ended = try await Router<URLEndPoint>(session: session).response(for: URLEndPoint(.get, server.url))
            let response = try await session.send(try #require(ended.request))
            #expect(response.text == "ok")
            #expect(response.history.map(\.outcome) == [.failure(.connectionLost), .status(200)])
        }
    }

    @Test(
        "a new connection that dies too is an error [one repeat]",
        arguments: SessionKind.curlAlone, [true, false])
    func newConnectionDiesToo(kind: SessionKind, isRouted: Bool) async throws {
        let heads = Deliveries<String>()
        try await RawServer.run { connection in
            let head = try connection.readHead()
            heads.add(head)
            guard !head.contains("/probe") else { return }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            heads.add(try connection.readHead())
        } body: { server in
            let session = kind.make()
            _ = try await session.send(NetworkRequest(.get, server.url))
            let url = server.url.appendingPathComponent("probe")
            let error = await #expect(throws: NetworkError.self) {
                if isRouted {
                    _ = try await Router<URLEndPoint>(session: session).response(for: URLEndPoint(.get, url))
                } else {
                    _ = try await session.send(NetworkRequest(.get, url))
                }
            }
            #expect(error?.code == .connectionLost)
            #expect(error?.history.map(\.outcome) == [.failure(.connectionLost), .failure(.connectionLost)])
            #expect(heads.all.count == 3)
        }
    }

    @Test(
        "a PUT reset inside its body is repeated, a POST is not [one repeat]",
        arguments: SessionKind.curlAlone, [HTTPMethod.put, .post])
    func resetInsideTheBody(kind: SessionKind, method: HTTPMethod) async throws {
        let body = Data(count: 8 << 20)
        let heads = Deliveries<String>()
        try await RawServer.run { connection in
            let head = try connection.readHead()
            heads.add(String(head.prefix { $0 != " " }))
            if head.hasPrefix("PUT") { try connection.read(body.count) }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            heads.add(String(try connection.readHead().prefix { $0 != " " }))
            try connection.read(1)
            connection.reset()
        } body: { server in
            let session = kind.make()
            _ = try await session.send(NetworkRequest(.get, server.url))
            let router = Router<URLEndPoint>(session: session)
            let endPoint = URLEndPoint(method, server.url, task: .requestBody(DataBody(body)))
            guard method == .put else {
                let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
                #expect(error?.code == .connectionLost)
                #expect(error?.history.count == 1)
                return #expect(heads.all == ["GET", "POST"])
            }
            let response = try await router.response(for: endPoint)
            #expect(response.history.map(\.outcome) == [.failure(.connectionLost), .status(200)])
            #expect(response.metrics.bytesSent == Int64(body.count))
            #expect(heads.all == ["GET", "PUT", "PUT"])
        }
    }

    @Test("a POST is not repeated if its session lost another request", arguments: [HTTPMethod.get, .post])
    func otherRequest(method: HTTPMethod) async throws {
        let session = StubSession { _ in
            var lost = NetworkError(.connectionLost)
            lost.replay = .onNewConnection
            throw lost
        }
        let endPoint = URLEndPoint(method, URL(text: "https://api.example.com/a"))
        let router = Router<URLEndPoint>(session: session)
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.code == .connectionLost)
        #expect(session.requests.count == (method == .get ? 2 : 1))
    }

    @Test(
        "over a new connection nothing is repeated [one repeat]", arguments: SessionKind.curlAlone)
    func newConnection(kind: SessionKind) async throws {
        let heads = Deliveries<String>()
        try await RawServer.run { connection in
            heads.add(try connection.readHead())
        } body: { server in
            let router = Router<URLEndPoint>(session: kind.make())
            let error = await #expect(throws: NetworkError.self) {
                try await router.response(for: URLEndPoint(.get, server.url))
            }
            #expect(error?.code == .connectionLost)
            #expect(error?.history.count == 1)
            #expect(heads.all.count == 1)
        }
    }

    /// Opens all connections with one request each, and leaves them idle.
    private func warm(_ session: any NetworkSession, _ url: URL) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.connections { group.addTask { _ = try await session.send(NetworkRequest(.get, url)) } }
            try await group.waitForAll()
        }
    }

    private func withDyingConnections(_ body: (URL, Deliveries<String>) async throws -> Void) async throws {
        let (probes, arrivals) = (Deliveries<String>(), NSCondition())
        let arrived = Protected(0)
        try await RawServer.run { connection in
            let head = try connection.readHead()
            if head.contains("/probe") {
                probes.add(head)
            } else if connection.number <= Self.connections {
                // All requests wait for each other, so that no connection serves two.
                arrivals.lock()
                arrived.withLock { $0 += 1 }
                arrivals.broadcast()
                let end = Date() + 300
                while arrived.value < Self.connections, arrivals.wait(until: end) {}
                arrivals.unlock()
            }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            if connection.number > Self.connections {
                try connection.answerAll("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
            let next = try connection.readHead()
            if next.contains("/probe") { probes.add(next) }
        } body: { server in
            try await body(server.url, probes)
        }
    }
}
