import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// A logout: calls in flight end, and stored state is deleted.
@Suite(.timeLimit(.minutes(10)))
struct ResetTests {
    private let endPoint = URLEndPoint(.get, URL(text: "https://api.example.com/a"))

    /// Counts how often it was reset.
    private final class Vault: Interceptor, Resettable {
        let wiped = Deliveries<Bool>()
        private let during: @Sendable () async -> Void

        init(during: @escaping @Sendable () async -> Void = {}) {
            self.during = during
        }

        func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
            try await next(request)
        }

        func reset() async {
            await during()
            wiped.open()
        }
    }

    /// An interceptor with resettable parts.
    private struct Composite: Interceptor, Resettable {
        let resettableParts: [any Resettable]

        func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
            try await next(request)
        }

        func reset() async {}
    }

    @Test("a reset cancels calls in flight, then deletes state, then returns", .requirement("S2.17"))
    func endsCalls() async throws {
        let sent = Deliveries<Bool>()
        let codes = Deliveries<NetworkError.Code?>()
        let endedBefore = Deliveries<Int>()
        let vault = Vault { endedBefore.add(codes.all.count) }
        let session = StubSession { _ in
            sent.open()
            return .stall
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [vault])
        for _ in 0..<3 { router.request(endPoint, as: String.self) { codes.add($0.failureCode) } }
        let call = Task { try await router.response(for: endPoint) }
        _ = try await sent.wait(for: 4)
        await router.reset()
        #expect(codes.all == [.cancelled, .cancelled, .cancelled])
        #expect(endedBefore.all == [3])
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(vault.wiped.all.count == 1)
    }

    /// Runs the second reset on a serial executor, to know when it waits for the first one.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("new calls fail during a reset, a second reset joins, later calls work", .requirement("S2.17"))
    func during() async throws {
        let began = Deliveries<Bool>()
        let gate = Deliveries<Bool>()
        let vault = Vault {
            began.open()
            _ = try? await gate.first()
        }
        let session = StubSession { _ in .text("later") }
        let router = Router<URLEndPoint>(session: session, interceptors: [vault])
        let first = Task { await router.reset() }
        _ = try await began.first()
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.code == .resetInProgress)
        #expect(error?.url == URL(text: "https://api.example.com/a"))
        let codes = Deliveries<NetworkError.Code?>()
        router.request(endPoint, as: String.self) { codes.add($0.failureCode) }
        #expect(try await codes.first() == .resetInProgress)
        let streamed = await #expect(throws: NetworkError.self) {
            for try await _ in router.lines(for: endPoint) {}
        }
        #expect(streamed?.code == .resetInProgress)
        let joined = Deliveries<Bool>()
        let executor = OneByOne()
        let second = Task(executorPreference: executor) {
            await router.reset()
            joined.open()
        }
        await executor.drain()
        #expect(joined.all.isEmpty)
        gate.open()
        await first.value
        await second.value
        #expect(began.all.count == 1 && vault.wiped.all.count == 1 && joined.all.count == 1)
        #expect(session.requests.isEmpty)
        #expect(try await router.request(endPoint, as: String.self) == "later")
    }

    @Test(
        "an interceptor of a transfer with a progress may reset", .requirement("S2.17"), arguments: [false, true])
    func resetDuringTransfer(hasCompletion: Bool) async throws {
        let router = Protected<Router<URLEndPoint>?>(nil)
        let logout = AdHocInterceptor { request, next in
            if request.method == .post || hasCompletion { await router.value?.reset() }
            return try await next(request)
        }
        let made = Router<URLEndPoint>(session: StubSession { _ in .text("later") }, interceptors: [logout])
        router.withLock { $0 = made }
        defer { router.withLock { $0 = nil } }
        let progress = TransferProgress()
        if hasCompletion {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            let download = URLEndPoint(.get, endPoint.baseURL, task: .download(to: file, progress: progress))
            let codes = Deliveries<NetworkError.Code?>()
            made.request(download, as: String.self) { codes.add($0.failureCode) }
            #expect(try await codes.first() == .cancelled)
        } else {
            let upload = URLEndPoint(.post, endPoint.baseURL)
            await #expect(throws: CancellationError.self) { try await made.upload(upload, progress: progress) }
            #expect(try await made.request(endPoint, as: String.self) == "later")
        }
    }

    @Test("the progress of an upload ends if a reset refuses the upload", .requirement("S2.17"))
    func progressDuringReset() async throws {
        let (wiping, mayEnd) = (Gate(), Gate())
        let vault = Vault {
            wiping.open()
            try? await mayEnd.wait()
        }
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("") }, interceptors: [vault])
        let reset = Task { await router.reset() }
        try await wiping.wait()
        let progress = TransferProgress()
        let upload = URLEndPoint(.post, endPoint.baseURL)
        let error = await #expect(throws: NetworkError.self) { try await router.upload(upload, progress: progress) }
        #expect(error?.code == .resetInProgress)
        for await _ in progress {}
        mayEnd.open()
        await reset.value
    }

    @Test("a shared part is reset once, and nested parts are reset too", .requirement("S2.17"))
    func sharedParts() async throws {
        let shared = Vault()
        let own = Vault()
        let chain: [any Interceptor] = [
            Composite(resettableParts: [shared, Composite(resettableParts: [own, shared])]), shared,
        ]
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("") }, interceptors: chain)
        await router.reset()
        #expect(shared.wiped.all.count == 1)
        #expect(own.wiped.all.count == 1)
        await router.reset()
        #expect(shared.wiped.all.count == 2)
    }

    @Test("a reset reaches a manager and its routers, but not other managers", .requirement("S2.17"))
    func reach() async throws {
        let sent = Deliveries<Bool>()
        let gate = Deliveries<Bool>()
        let session = StubSession { _ in
            sent.open()
            _ = try await gate.first()
            return .text("here")
        }
        let vault = Vault()
        let manager = NetworkManager(session: session, interceptors: [vault])
        let other = NetworkManager(session: session)
        let endPoint = endPoint
        for reset in [{ await manager.reset() }, { await manager.router(for: URLEndPoint.self).reset() }] {
            let before = sent.all.count
            let calls = [
                Task { try await manager.response(for: endPoint) },
                Task { try await manager.router(for: URLEndPoint.self).response(for: endPoint) },
            ]
            _ = try await sent.wait(for: before + 2)
            await reset()
            for call in calls { await #expect(throws: CancellationError.self) { try await call.value } }
        }
        let kept = Task { try await other.response(for: endPoint).text }
        _ = try await sent.wait(for: 5)
        await manager.reset()
        gate.open()
        #expect(try await kept.value == "here")
        #expect(vault.wiped.all.count == 3)
    }

    @Test("a reset from an interceptor cancels that call and does not hang", .requirement("S2.17"))
    func withinACall() async throws {
        let vault = Vault()
        let manager = Deliveries<NetworkManager>()
        let logout = AdHocInterceptor { request, next in
            let response = try await next(request)
            if response.statusCode == 401 { await manager.all.first?.reset() }
            return response
        }
        manager.add(NetworkManager(session: StubSession { _ in .status(401) }, interceptors: [logout, vault]))
        let made = try await manager.first()
        let codes = Deliveries<NetworkError.Code?>()
        made.router(for: URLEndPoint.self).request(endPoint, as: String.self) { codes.add($0.failureCode) }
        #expect(try await codes.first() == .cancelled)
        _ = try? await made.response(for: endPoint)
        #expect(vault.wiped.all.count == 2)
    }

    @Test("a reset from an interceptor cancels a download and does not hang", .requirement("S2.17"))
    func withinADownload() async throws {
        try await withFolder { folder in
            let router = Deliveries<Router<URLEndPoint>>()
            let vault = Vault()
            let logout = AdHocInterceptor { request, next in
                await router.all.first?.reset()
                return try await next(request)
            }
            router.add(Router(session: StubSession { _ in .text("file") }, interceptors: [logout, vault]))
            let made = try await router.first()
            let file = folder.appendingPathComponent("file")
            await #expect(throws: CancellationError.self) { try await made.download(endPoint, to: file) }
            #expect(vault.wiped.all.count == 1)
        }
    }

    @Test("resets from two calls at once do not wait for each other", .requirement("S2.17"))
    func withinTwoCalls() async throws {
        let (router, answered) = (Deliveries<Router<URLEndPoint>>(), Deliveries<Bool>())
        let vault = Vault()
        let logout = AdHocInterceptor { request, next in
            let response = try await next(request)
            answered.open()
            _ = try await answered.wait(for: 2)
            await router.all.first?.reset()
            return response
        }
        router.add(Router(session: StubSession { _ in .status(401) }, interceptors: [logout, vault]))
        let made = try await router.first()
        let calls = (0..<2).map { _ in Task { try await made.response(for: endPoint) } }
        for call in calls { _ = try? await call.value }
        #expect(!vault.wiped.all.isEmpty)
    }

    @Test("a reset that a part requests during its reset does not deadlock", .requirement("S2.17"))
    func withinAReset() async throws {
        let made = Deliveries<Router<URLEndPoint>>()
        let vault = Vault { await made.all.first?.reset() }
        made.add(Router<URLEndPoint>(session: StubSession { _ in .text("") }, interceptors: [vault]))
        await made.all.first?.reset()
        #expect(vault.wiped.all.count == 1)
    }

    @Test("a part may reset another router", .requirement("S2.17"))
    func nestedRouter() async {
        let vault = Vault()
        let inner = Router<URLEndPoint>(session: StubSession { _ in .text("") }, interceptors: [vault])
        let outer = Vault { await inner.reset() }
        await Router<URLEndPoint>(session: StubSession { _ in .text("") }, interceptors: [outer]).reset()
        #expect(vault.wiped.all.count == 1)
    }

    @Test("an unread stream does not delay a reset, and ends as canceled", .requirement("S2.17"))
    func streams() async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("a\nb\nc\n") })
        var lines = router.lines(for: endPoint).makeAsyncIterator()
        #expect(try await lines.next() == "a")
        await router.reset()
        await #expect(throws: CancellationError.self) { while try await lines.next() != nil {} }
    }

    @Test("a manager's reset ends the stream of a deallocated router too", .requirement("S2.17"))
    func streamWithoutRouter() async throws {
        let ended = Deliveries<Void>()
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
            try connection.waitForEnd()
            ended.add(())
        } body: { server in
            let manager = NetworkManager()
            let endPoint = URLEndPoint(.get, server.url, options: RequestOptions { $0.streamsResponse = true })
            var bytes = try await manager.router(for: URLEndPoint.self).response(for: endPoint).bytes
                .makeAsyncIterator()
            #expect(try await bytes.next() == Data("abc".utf8))
            await manager.reset()
            _ = try await ended.first()
            await #expect(throws: CancellationError.self) { while try await bytes.next() != nil {} }
        }
    }

    @Test(
        "a reset closes the connections of calls in flight at the server", .requirement("S2.17"),
        arguments: SessionKind.allCases)
    func sockets(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.stall, .stall, .text("again"))
            let router = Router<URLEndPoint>(session: kind.make())
            let endPoint = URLEndPoint(.get, server.url)
            let calls = (0..<2).map { _ in Task { try await router.response(for: endPoint) } }
            _ = try await server.takeRequest()
            _ = try await server.takeRequest()
            await router.reset()
            for call in calls { await #expect(throws: CancellationError.self) { try await call.value } }
            try await server.waitForDisconnect()
            #expect(try await router.response(for: endPoint).text == "again")
        }
    }

    @Test("a task that a reset started may reset again after it")
    func again() async throws {
        let (router, gate) = (Protected<Router<URLEndPoint>?>(nil), Gate())
        let (began, ended) = (Deliveries<Bool>(), Deliveries<Bool>())
        let vault = Vault {
            guard began.all.isEmpty else { return }
            began.add(true)
            Task {
                try await gate.wait()
                await router.value?.reset()
                ended.add(true)
            }
        }
        let made = Router<URLEndPoint>(session: StubSession { _ in .text("") }, interceptors: [vault])
        router.withLock { $0 = made }
        defer { router.withLock { $0 = nil } }
        await made.reset()
        #expect(vault.wiped.all.count == 1)
        gate.open()
        _ = try await ended.first()
        #expect(vault.wiped.all.count == 2)
    }
}
