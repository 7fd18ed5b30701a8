import Foundation
@testable import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Cases that crash, hang or corrupt URLSession on Linux, in Swift 6.3. CurlSession passes all of them. FoundationSession runs those that do not end the process.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct URLSessionTrapTests {
    // RFC 9112 §7.1.2.
    // Any trailer ends a process with URLSession.
    @Test(
        "trailers stay apart from headers, the connection is kept [trailers]",
        arguments: SessionKind.curlAlone)
    func trailers(kind: SessionKind) async throws {
        try await RawServer.run { connection in
            try connection.answerAll(
                "HTTP/1.1 200 OK\r\nTrailer: X-Sum, Set-Cookie\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "4\r\nbody\r\n0\r\nX-Sum: abc\r\nset-cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 7\r\n\r\n")
        } body: { server in
            let session = kind.make()
            for _ in 1...3 {
                let response = try await session.send(NetworkRequest(.get, server.url))
                #expect(response.text == "body")
                #expect(response.trailers["X-Sum"] == "abc")
                #expect(response.trailers.values(for: "Set-Cookie") == ["a=1", "b=2"])
                #expect(!response.headers.contains("X-Sum"))
                #expect(!response.headers.contains("Content-Length"))
            }
            #expect(server.connectionCount == 1)
        }
    }

    @Test(
        "endless trailers are headersTooLarge, cut ones are errors [trailers]",
        arguments: SessionKind.curlAlone)
    func hostileTrailers(kind: SessionKind) async throws {
        let start = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n"
        try await MockServer.run { server in
            let session = kind.make()
            server.enqueue(.raw(start + String(repeating: "X-Trailer: value\r\n", count: 100_000) + "\r\n"))
            let endless = await #expect(throws: NetworkError.self) {
                try await session.send(NetworkRequest(.get, server.url))
            }
            #expect(endless?.code == .headersTooLarge)
            for cut in ["X-Tra", "X-Trailer: val", "X-Trailer: value\r\n"] {
                server.enqueue(.raw(start + cut))
                let error = await #expect(throws: NetworkError.self) {
                    try await session.send(NetworkRequest(.get, server.url))
                }
                #expect(error?.code == .truncatedBody, "\(cut.debugDescription): \(String(describing: error))")
            }
        }
    }

    // An incomplete head ends a process with URLSession.
    @Test(
        "a cut head is connectionLost [connections cut in the head]",
        arguments: SessionKind.curlAlone, [true, false])
    func halfHead(kind: SessionKind, isReset: Bool) async throws {
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-A: b\r\n\r".utf8)
        try await RawServer.run { connection in
            let path = try connection.readHead().split(separator: " ")[1]
            guard let count = Int(path.dropFirst()) else { return }
            try connection.send(Data(head[..<count]))
            if isReset { connection.reset() }
        } body: { server in
            let session = kind.make()
            for count in 0...head.count {
                let request = NetworkRequest(.get, server.url.appendingPathComponent("\(count)"))
                let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
                #expect(error?.code == .connectionLost, "after \(count): \(String(describing: error))")
                #expect(error?.statusCode == nil)
            }
        }
    }

    @Test(
        "an interim head alone is connectionLost [connections cut in the head]",
        arguments: SessionKind.curlAlone)
    func interimAlone(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let session = kind.make()
            let hint = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
            for answer in ["HTTP/1.1 100 Continue\r\n\r\n", hint, hint + "HTTP/1.1 200 OK\r\n"] {
                server.enqueue(.raw(answer))
                let error = await #expect(throws: NetworkError.self) {
                    try await session.send(NetworkRequest(.get, server.url))
                }
                #expect(error?.code == .connectionLost, "\(String(describing: error))")
                #expect(error?.statusCode == nil)
            }
        }
    }

    // A cancellation or a timeout during a redirect ends a process with URLSession.
    @Test(
        "cancels and timeouts do no harm [cancellation amid redirects]",
        arguments: SessionKind.allCases)
    func redirectsAndCancels(kind: SessionKind) async throws {
        try await RawServer.run { connection in
            try connection.answerAll("HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n")
        } body: { server in
            let router = Router<URLEndPoint>(session: kind.make())
            for index in 0..<300 {
                let options = RequestOptions { if index % 3 == 0 { $0.timeouts.attempt = .microseconds(index * 10) } }
                let task = Task { try await router.response(for: URLEndPoint(.get, server.url, options: options)) }
                for _ in 0..<(index % 11) { await Task.yield() }
                if index % 3 != 0 { task.cancel() }
                switch await task.result {
                case .success: Issue.record("a redirect without end is no success")
                case .failure(let error):
                    let code = (error as? NetworkError)?.code
                    #expect(error is CancellationError || code == .timedOut || code == .tooManyRedirects)
                }
            }
            let error = await #expect(throws: NetworkError.self) {
                try await router.response(for: URLEndPoint(.get, server.url))
            }
            #expect(error?.code == .tooManyRedirects)
        }
    }

    // A call of URLSession never ends, before Swift 6.3.2.
    @Test(
        "a 401 with Basic is returned at once [challenges are returned]",
        arguments: SessionKind.allCases)
    func basicChallenge(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(
                .text("who?", statusCode: 401, headers: ["WWW-Authenticate": "Basic realm=\"x\", charset=\"UTF-8\""]))
            var request = NetworkRequest(.post, server.url, body: DataBody(Data("body".utf8)))
            request.timeouts = .none
            let response = try await kind.make().send(request)
            #expect(response.statusCode == 401)
            #expect(response.text == "who?")
            #expect(server.requests.count == 1)
        }
    }

    // MARK: 0.7: a connection that dies while it is kept alive

    private static let body = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private static func bodies(_ name: String) -> any HTTPBody {
        let halves = [body.prefix(20_000), body.dropFirst(20_000)]
        return switch name {
        case "memory": DataBody(body)
        case "stream": StreamBody(length: Int64(body.count)) { .init(chunks: halves) }
        case "chunked": StreamBody { .init(chunks: halves) }
        default: StreamBody(isReplayable: false) { .init(chunks: halves) }
        }
    }

    @Test(
        "a POST is sent once, then fails [requests on a dying connection]",
        arguments: SessionKind.curlAlone, ["memory", "stream", "chunked", "once"])
    func postOnDyingConnection(kind: SessionKind, body: String) async throws {
        for end in [MockResponse.close, .reset] {
            try await MockServer.run { server in
                let session = kind.make()
                server.enqueue(.text("kept"), end, .text("twice!"))
                _ = try await session.send(NetworkRequest(.get, server.url))
                let error = await #expect(throws: NetworkError.self) {
                    try await session.send(NetworkRequest(.post, server.url, body: Self.bodies(body)))
                }
                #expect(error?.code == .connectionLost)
                #expect(error?.description.contains("not sent again") == true, "\(String(describing: error))")
                #expect(server.requests.map(\.method) == [.get, .post])
                #expect(server.requests.last?.body == Self.body)
            }
        }
    }

    // RFC 9110 §9.2.2: a client may repeat what is idempotent.
    @Test(
        "a PUT is sent again in full [requests on a dying connection]",
        arguments: SessionKind.curlAlone, ["memory", "stream", "chunked"])
    func putOnDyingConnection(kind: SessionKind, body: String) async throws {
        for end in [MockResponse.close, .reset] {
            try await MockServer.run { server in
                let session = kind.make()
                server.enqueue(.text("kept"), end, .text("put"))
                _ = try await session.send(NetworkRequest(.get, server.url))
                let response = try await session.send(NetworkRequest(.put, server.url, body: Self.bodies(body)))
                #expect(response.text == "put")
                #expect(server.requests.map(\.method) == [.get, .put, .put])
                #expect(server.requests.dropFirst().map(\.body) == [Self.body, Self.body])
                #expect(server.connectionCount == 2)
            }
        }
    }

    @Test(
        "a one-shot PUT is not sent again [requests on a dying connection]",
        arguments: SessionKind.curlAlone)
    func onceOnDyingConnection(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let session = kind.make()
            server.enqueue(.text("kept"), .close, .text("twice!"))
            _ = try await session.send(NetworkRequest(.get, server.url))
            let error = await #expect(throws: NetworkError.self) {
                try await session.send(NetworkRequest(.put, server.url, body: Self.bodies("once")))
            }
            #expect(error?.code == .connectionLost)
            #expect(server.requests.map(\.method) == [.get, .put])
        }
    }

    @Test(
        "racing POSTs arrive once or fail [requests on a dying connection]",
        arguments: SessionKind.curlAlone)
    func postsOnDyingConnections(kind: SessionKind) async throws {
        let arrived = Deliveries<String>()
        try await RawServer.run { connection in
            for turn in 0... {
                // Every second connection does not read the next request.
                if turn > 0, connection.number % 2 == 0, try connection.hears(within: .seconds(5)) {
                    return connection.reset()
                }
                let head = try connection.readHead()
                guard let field = head.range(of: "Content-Length: ") else { return arrived.add("no length") }
                let body = try connection.read(Int(head[field.upperBound...].prefix { $0.isNumber }) ?? 0)
                arrived.add(String(decoding: body.prefix { $0 != 0x20 }, as: UTF8.self) + " \(body.count)")
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                if connection.number % 2 == 1 { return }
            }
        } body: { server in
            let session = kind.make(SessionConfiguration(maximumConnectionsPerHost: 1))
            var (answered, lost) = ([String](), [String]())
            for index in 0..<300 {
                let data = Data("\(index) ".utf8) + Data(count: 3_000)
                let body: any HTTPBody =
                    index % 2 == 0 ? DataBody(data) : StreamBody(length: Int64(data.count)) { .init(chunks: [data]) }
                let name = "\(index) \(data.count)"
                do {
                    let response = try await session.send(NetworkRequest(.post, server.url, body: body))
                    #expect(response.text == "ok")
                    answered.append(name)
                } catch {
                    #expect((error as? NetworkError)?.code == .connectionLost, "\(error)")
                    lost.append(name)
                }
            }
            #expect(!answered.isEmpty)
            #expect(Set(arrived.all).count == arrived.all.count)
            #expect(Set(arrived.all).isSubset(of: answered + lost))
            #expect(Set(answered).isSubset(of: arrived.all))
        }
    }

    // MARK: 0.9

    @Test(
        "a waiting body or reader blocks nothing [no request holds up another]",
        arguments: SessionKind.curlAlone)
    func nothingHoldsUpOthers(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.data(Data(count: 5_000_000)), .text("other"))
            let session = kind.make()
            let started = Deliveries<Bool>()
            let body = StreamBody {
                HTTPBodyStream {
                    started.add(true)
                    try await Task.sleep(for: .seconds(60))
                    return nil
                }
            }
            let waiting = Task { try await session.send(NetworkRequest(.post, server.url, body: body)) }
            _ = try await started.first()
            var request = NetworkRequest(.get, server.url)
            request.options.streamsResponse = true
            let unread = try await session.send(request)
            let other = try await session.send(NetworkRequest(.get, server.url))
            #expect(other.text == "other")
            withExtendedLifetime(unread) {}
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }
}
