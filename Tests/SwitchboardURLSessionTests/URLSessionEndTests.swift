import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTestSupport
import SwitchboardTesting
import SwitchboardURLSession
import Testing

/// The ends of tasks: cancellation from both sides, errors and suspension.
@Suite(.inTurn, .timeLimit(.minutes(10)))
struct URLSessionEndTests {
    private let url = URL(text: "https://h.example/")

    // MARK: Cancellation

    @Test("canceling the task cancels the call [URLSession cancellation]", arguments: SessionKind.allCases)
    func cancelTask(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.stall)
            let events = Events()
            let manager = NetworkManager(baseURL: server.url, session: kind.make(), monitors: [events])
            let session = manager.urlSession()
            let task = Task { try await session.data(from: server.url) }
            _ = try await server.takeRequest()
            task.cancel()
            let error = await #expect(throws: URLError.self) { try await task.value }
            #expect(error?.code == .cancelled)
            let end = try await events.end()
            #expect("\(end)" == "cancelled")
            try await server.waitForDisconnect()
        }
    }

    @Test(
        "canceling or resetting the manager cancels the task [URLSession cancellation]",
        arguments: SessionKind.allCases, [false, true])
    func cancelManager(kind: SessionKind, resets: Bool) async throws {
        try await MockServer.run { server in
            server.enqueue(.stall, .text("again"))
            let manager = NetworkManager(baseURL: server.url, session: kind.make())
            let session = manager.urlSession()
            let task = Task { try await session.data(from: server.url) }
            _ = try await server.takeRequest()
            if resets { await manager.reset() } else { manager.cancel() }
            let error = await #expect(throws: URLError.self) { try await task.value }
            #expect(error?.code == .cancelled)
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? NetworkError)?.code == .cancelled)
            let text = try await session.text(from: server.url)
            #expect(text == "again")
        }
    }

    @Test("invalidateAndCancel cancels the calls [URLSession cancellation]", arguments: SessionKind.allCases)
    func invalidate(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.stall, .stall)
            let events = Events()
            let delegate = TaskDelegate()
            let manager = NetworkManager(baseURL: server.url, session: kind.make(), monitors: [events])
            let session = manager.urlSession(delegate: delegate)
            for _ in 0..<2 { session.dataTask(with: server.url).resume() }
            for _ in 0..<2 { _ = try await server.takeRequest() }
            session.invalidateAndCancel()
            let ends = try await delegate.ends.wait(for: 2)
            #expect(ends == [.cancelled, .cancelled])
            try await events.wait(for: "cancelled", count: 2)
        }
    }

    @Test("canceling at any moment ends each task once")
    func cancelRace() async throws {
        let session = NetworkManager(session: StubSession { _ in .text("there") }).urlSession()
        var cancelled = 0
        for round in 0..<300 {
            let task = Task { try await session.data(from: url).0 }
            for _ in 0..<round % 13 { await Task.yield() }
            task.cancel()
            switch await task.result {
            case .success(let data): #expect(data == Data("there".utf8))
            case .failure(let error):
                #expect((error as? URLError)?.code == .cancelled)
                cancelled += 1
            }
        }
        #expect(cancelled > 0)
    }

    @Test("each of 1,000 tasks at once ends once, canceled or not")
    func manyTasks() async throws {
        let delegate = TaskDelegate()
        let session = NetworkManager(session: StubSession { _ in .text("there") }).urlSession(delegate: delegate)
        let tasks = (0..<1_000).map { _ in session.dataTask(with: url) }
        await withTaskGroup(of: Void.self) { group in
            for (number, task) in tasks.enumerated() {
                group.addTask {
                    task.resume()
                    guard number % 2 == 0 else { return }
                    for _ in 0..<number % 13 { await Task.yield() }
                    task.cancel()
                }
            }
        }
        _ = try await delegate.ends.wait(for: 1_000)
        session.finishTasksAndInvalidate()
        _ = try await delegate.invalidations.first()
        let ends = delegate.ends.all
        #expect(ends.count == 1_000)
        #expect(ends.count { $0 == nil } >= 500)
        #expect(ends.allSatisfy { $0 == nil || $0 == .cancelled } && ends.contains(.cancelled))
    }

    @Test("a released session ends its task and releases its manager")
    func dropped() async throws {
        let gate = Gate()
        let delegate = TaskDelegate()
        weak var session: URLSession?
        weak var manager: NetworkManager?
        do {
            let source = AdHocSession { request in
                try await gate.wait()
                return NetworkResponse(statusCode: 200, body: Data("there".utf8), url: request.url)
            }
            let owner = NetworkManager(session: source)
            let dropped = owner.urlSession(delegate: delegate)
            (manager, session) = (owner, dropped)
            dropped.dataTask(with: url).resume()
        }
        gate.open()
        #expect(try await delegate.ends.first() == nil)
        #expect(delegate.data.all == [Data("there".utf8)])
        #expect(await comesTrue { session == nil && manager == nil })
    }

    @Test("a delegate that stores the error of its upload releases the session")
    func storedError() async throws {
        final class Keeper: NSObject, URLSessionDataDelegate {
            let errors = Deliveries<(any Error)?>()

            func urlSession(
                _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
            ) {
                errors.add(error)
            }
        }
        weak var delegate: Keeper?
        weak var session: URLSession?
        weak var manager: NetworkManager?
        do {
            let source = AdHocSession { request in throw NetworkError(.cannotConnect).attributed(to: request) }
            let owner = NetworkManager(session: source)
            let keeper = Keeper()
            let dropped = owner.urlSession(delegate: keeper)
            (manager, session, delegate) = (owner, dropped, keeper)
            dropped.uploadTask(with: URLRequest("POST", url), from: Data(count: 10)).resume()
            let error = try await keeper.errors.first()
            #expect((error as? URLError)?.code == .cannotConnectToHost)
            dropped.finishTasksAndInvalidate()
        }
        #expect(await comesTrue { delegate == nil && session == nil && manager == nil })
    }

    // MARK: Errors

    @Test("a refused connection is the error of URLSession [URLSession errors]", arguments: SessionKind.allCases)
    func refused(kind: SessionKind) async throws {
        try await MockServer.run { server in
            let url = try #require(URL(string: "http://127.0.0.1:\(server.deadPort)/p"))
            let manager = NetworkManager(
                session: kind.make(),
                interceptors: [RetryPolicy(maximumAttempts: 2, clock: TestClock(skips: true))])
            let error = await #expect(throws: URLError.self) { try await manager.urlSession().data(from: url) }
            #expect(error?.code == .cannotConnectToHost)
            #expect(error?.failingURL == url)
            let underlying = error?.userInfo[NSUnderlyingErrorKey] as? NetworkError
            #expect(underlying?.code == .cannotConnect && underlying?.attempts == 2)
        }
    }

    @Test("an error has the URL of the task, without a secret that the manager added")
    func failingURL() async throws {
        let source = AdHocSession { request in throw NetworkError(.cannotConnect).attributed(to: request) }
        let manager = NetworkManager(
            baseURL: url, session: source, interceptors: [CommonParameters(["api_key": "hunter2"])])
        let failure = await #expect(throws: URLError.self) { try await manager.urlSession().data(from: url) }
        let error = try #require(failure)
        let underlying = try #require(error.userInfo[NSUnderlyingErrorKey] as? NetworkError)
        #expect(underlying.url?.query == "api_key=hunter2")
        #expect(error.failingURL == url)
        #expect(error.userInfo["NSErrorFailingURLStringKey"] as? String == url.absoluteString)
        let text = "\(error as NSError)"
        #expect(!text.contains("hunter2"))
    }

    @Test("a cut body is the error of URLSession [URLSession errors]", arguments: SessionKind.allCases)
    func cut(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("abcdef").truncated(after: 3), .text("abcdef").truncated(after: 3))
            let delegate = TaskDelegate()
            let session = NetworkManager(baseURL: server.url, session: kind.make()).urlSession(delegate: delegate)
            let error = await #expect(throws: URLError.self) { try await session.data(from: server.url) }
            #expect(error?.code == .networkConnectionLost)
            session.dataTask(with: server.url).resume()
            let end = try await delegate.ends.first()
            #expect(end == .networkConnectionLost)
            #expect(delegate.statuses.all == [200])
            #expect(delegate.data.all.reduce(Data(), +) == Data("abc".utf8))
        }
    }

    @Test("an error for a status is its response")
    func statusError() async throws {
        let interceptor = AdHocInterceptor { request, next in
            let response = try await next(request)
            var error = NetworkError(.error4xx)
            error.statusCode = response.statusCode
            error.headers = response.headers
            error.body = response.body
            throw error
        }
        let session = NetworkManager(
            session: StubSession(.status(429, body: "slow down")), interceptors: [interceptor]
        ).urlSession()
        let (data, response) = try await session.data(from: url)
        #expect((response as? HTTPURLResponse)?.statusCode == 429)
        #expect(data == Data("slow down".utf8))
    }

    @Test(
        "errors of the chain have a code of URLSession",
        arguments: [
            (NetworkError.Code.resetInProgress, URLError.Code.cancelled), (.circuitOpen, .cannotConnectToHost),
            (.notCached, .resourceUnavailable), (.unreadableFile, .fileDoesNotExist), (.unknown, .unknown),
            (.parametersNil, .badURL), (.cannotAuthenticate, .userAuthenticationRequired),
        ])
    func codes(code: NetworkError.Code, expected: URLError.Code) async throws {
        let interceptor = AdHocInterceptor { _, _ in throw NetworkError(code) }
        let session = NetworkManager(session: StubSession(), interceptors: [interceptor]).urlSession()
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.code == expected)
    }

    @Test("an error of URLSession keeps its code, unless that is unknown", arguments: [true, false])
    func underlyingCode(isKnown: Bool) async throws {
        let interceptor = AdHocInterceptor { _, _ in
            throw NetworkError(.connectionLost, underlying: URLError(isKnown ? .dataNotAllowed : .unknown))
        }
        let session = NetworkManager(session: StubSession(), interceptors: [interceptor]).urlSession()
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.code == (isKnown ? .dataNotAllowed : .networkConnectionLost))
    }

    @Test("an idle timeout of the request ends the task")
    func timeout() async throws {
        let clock = TestClock()
        let session = NetworkManager(session: StubSession(clock: clock, .stall)).urlSession()
        var request = URLRequest(url: url)
        request.timeoutInterval = 7
        let task = Task { [request] in try await session.data(for: request) }
        #expect(try await clock.nextSleep() == .seconds(7))
        clock.advance(by: .seconds(7))
        let error = await #expect(throws: URLError.self) { try await task.value }
        #expect(error?.code == .timedOut)
    }

    // MARK: Suspension

    /// Returns a session whose response has the pieces as its body.
    private func source(
        of pieces: AsyncStream<Data>, willSend: @escaping @Sendable (NetworkRequest) -> Void = { _ in }
    ) -> some NetworkSession {
        AdHocSession { request in
            willSend(request)
            var response = NetworkResponse(statusCode: 200, url: request.url)
            response.bytes = ResponseBytes {
                for await piece in pieces { return piece }
                return nil
            }
            return response
        }
    }

    @Test("a task suspended amid its body continues it once")
    func suspendedBody() async throws {
        let pieces = AsyncStream<Data>.makeStream()
        let sends = Deliveries<NetworkRequest>()
        let source = source(of: pieces.stream) { sends.add($0) }
        let delegate = TaskDelegate()
        let task = source.urlSession(delegate: delegate).dataTask(with: url)
        task.resume()
        pieces.continuation.yield(Data("a".utf8))
        _ = try await delegate.data.first()
        task.suspend()
        pieces.continuation.yield(Data("b".utf8))
        pieces.continuation.finish()
        task.resume()
        #expect(try await delegate.ends.first() == nil)
        #expect(delegate.data.all == [Data("a".utf8), Data("b".utf8)])
        #expect(delegate.statuses.all == [200])
        #expect(sends.all.count == 1)
    }

    @Test("a task suspended amid its body can be canceled")
    func cancelSuspended() async throws {
        let pieces = AsyncStream<Data>.makeStream()
        let source = source(of: pieces.stream)
        let delegate = TaskDelegate()
        let task = source.urlSession(delegate: delegate).dataTask(with: url)
        task.resume()
        pieces.continuation.yield(Data("a".utf8))
        _ = try await delegate.data.first()
        task.suspend()
        pieces.continuation.yield(Data("b".utf8))
        task.cancel()
        #expect(try await delegate.ends.first() == .cancelled)
        // URLSession suspends a task on its own queue, so the second piece may come before that.
        #expect(delegate.data.all.first == Data("a".utf8))
    }
}
