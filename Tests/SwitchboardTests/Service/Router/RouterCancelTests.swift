import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// `router.cancel()` and async calls in flight. They run in their callers' tasks, which continue.
@Suite(.timeLimit(.minutes(10)))
struct RouterCancelTests {
    @Test(
        "cancel() ends a waiting call, and the server sees the disconnect", .requirement("S3.8", "S2.16"),
        arguments: SessionKind.allCases)
    func waitingForAnAnswer(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.stall)
            let router = Router<URLEndPoint>(session: kind.make())
            let call = Task {
                let result = await Result { try await router.response(for: URLEndPoint(.get, server.url)) }
                return (result, Task.isCancelled)
            }
            _ = try await server.takeRequest()
            router.cancel()
            let (result, isTaskCancelled) = await call.value
            #expect(throws: CancellationError.self) { try result.get() }
            #expect(!isTaskCancelled)
            try await server.waitForDisconnect()
        }
    }

    @Test("cancel() ends a call of a custom session through its task", .requirement("S3.8"))
    func foreignSession() async throws {
        let arrived = AsyncStream<Void>.makeStream()
        let session = AdHocSession { _ in
            arrived.continuation.yield()
            try await Task.sleep(for: .seconds(3_600))
            return NetworkResponse(statusCode: 200)
        }
        let router = Router<URLEndPoint>(session: session)
        let call = Task { try await router.response(for: URLEndPoint(.get, URL(text: "http://127.0.0.1/"))) }
        for await _ in arrived.stream { break }
        router.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test("a session that never waits runs in the caller's task, others do not", .requirement("S3.8"))
    func callersTask() async throws {
        struct Prompt: NetworkSession {
            let session: AdHocSession
            var runsInCallersTask: Bool { true }

            func send(_ request: NetworkRequest) async throws -> NetworkResponse { try await session.send(request) }
        }
        let tasks = Deliveries<Int?>()
        let session = AdHocSession { _ in
            tasks.add(withUnsafeCurrentTask { $0?.hashValue })
            return NetworkResponse(statusCode: 200)
        }
        let endPoint = URLEndPoint(.get, URL(text: "http://127.0.0.1/"))
        _ = try await Router<URLEndPoint>(session: Prompt(session: session)).response(for: endPoint)
        _ = try await Router<URLEndPoint>(session: session).response(for: endPoint)
        let own = withUnsafeCurrentTask { $0?.hashValue }
        #expect(tasks.all.map { $0 == own } == [true, false])
    }

    @Test("cancel() ends a call that backs off without another attempt", .requirement("S2.16"))
    func backingOff() async throws {
        let answered = AsyncStream<Void>.makeStream()
        let session = StubSession { _ in
            answered.continuation.yield()
            return .status(503)
        }
        let policy = RetryPolicy(baseDelay: .seconds(3_600), maximumDelay: .seconds(3_600))
        let router = Router<URLEndPoint>(session: session, interceptors: [policy])
        let call = Task { try await router.response(for: URLEndPoint(.get, URL(text: "http://127.0.0.1/"))) }
        for await _ in answered.stream { break }
        router.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(session.requests.count == 1)
    }

    @Test("a call that an interceptor makes ends with the outer call")
    func nestedCall() async throws {
        try await MockServer.run { server in
            server.enqueue(.stall)
            let inner = Router<URLEndPoint>()
            let outer = Router<URLEndPoint>(
                session: StubSession { _ in .status(200) },
                interceptors: [
                    AdHocInterceptor { request, next in
                        _ = try await inner.response(for: URLEndPoint(.get, server.url))
                        return try await next(request)
                    }
                ])
            let call = Task { try await outer.response(for: URLEndPoint(.get, URL(text: "http://127.0.0.1/"))) }
            _ = try await server.takeRequest()
            outer.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
        }
    }

    @Test("cancel() does not affect later calls", .requirement("S3.8"))
    func laterCallsAreNotTouched() async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .status(204) })
        router.cancel()
        #expect(try await router.response(for: URLEndPoint(.get, URL(text: "http://127.0.0.1/"))).statusCode == 204)
    }
}
