import Dispatch
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CancellationTests {
    private let url = URL(text: "https://api.example.com/friends")
    private let queue = DispatchQueue(label: "completions")

    /// Waits until the calls of a router and what they deliver on the queue have ended. Leaves time for what should not
    /// come.
    private func settle(_ router: Router<URLEndPoint>) async {
        await router.reset()
        for _ in 0..<50 { await Task.yield() }
        await queue.flushed()
    }

    @Test("a canceled handle closes its connection and completes once", .requirement("S1.10"))
    func connectionCloses() async throws {
        try await MockServer.run { server in
            server.enqueue(.stall)
            // No timeout, so only the cancellation ends the request.
            let options = RequestOptions { $0.timeouts = .none }
            let router = Router<URLEndPoint>(
                session: DefaultSession.make(), options: options, completionQueue: queue)
            let results = Deliveries<Result<String, NetworkError>>()
            let handle = router.request(URLEndPoint(.get, server.url), as: String.self) { results.add($0) }
            let seen = try await server.takeRequest()
            handle.cancel()
            try await server.waitForDisconnect(of: seen.connection)
            _ = try await results.first()
            await settle(router)
            #expect(results.all.map(\.failureCode) == [.cancelled])
            #expect(handle.isCancelled)
        }
    }

    @Test("a request that a monitor starts when a call is canceled is sent")
    func requestOfMonitor() async throws {
        struct Reporter: EventMonitor {
            let reports: Router<URLEndPoint>
            let results = Deliveries<NetworkError.Code?>()
            let url: URL

            func record(_ event: CallEvent) {
                guard case .cancelled = event.kind else { return }
                reports.request(URLEndPoint(.post, url), as: String.self) { results.add($0.failureCode) }
            }
        }
        let reporter = Reporter(reports: Router(session: StubSession { _ in .text("noted") }), url: url)
        let sent = Deliveries<Bool>()
        let session = StubSession { _ in
            sent.open()
            return .stall
        }
        let router = Router<URLEndPoint>(session: session, monitors: [reporter])
        let call = Task { try await router.response(for: URLEndPoint(.get, url)) }
        _ = try await sent.first()
        router.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(try await reporter.results.first() == nil)
    }

    @Test("a task that is canceled amid the body closes the connection", .requirement("S2.16"))
    func taskCancellation() async throws {
        let (waits, ended) = (Gate(), Gate())
        try await RawServer.run { connection in
            _ = try connection.readHead()
            // The buffers of the system hold less than this, so the client has received a part of the body.
            try connection.sendPart(of: 40_000_000, 30_000_000)
            waits.open()
            try connection.waitForEnd()
            ended.open()
        } body: { server in
            let router = Router<URLEndPoint>(session: DefaultSession.make())
            let call = Task { try await router.response(for: URLEndPoint(.get, server.url)) }
            try await waits.wait()
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
            try await ended.wait()
        }
    }

    @Test("a call that is canceled before it starts sends nothing", .requirement("S2.16"))
    func beforeStart() async throws {
        let session = StubSession { _ in .text("no") }
        let router = Router<URLEndPoint>(session: session)
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await router.response(for: URLEndPoint(.get, url))
        }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(session.requests.isEmpty)
    }

    @Test("a call that is canceled at once completes once, with canceled", .requirement("S2.16"), arguments: 0..<50)
    func atOnce(round: Int) async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .stall }, completionQueue: queue)
        let codes = Deliveries<NetworkError.Code?>()
        router.request(URLEndPoint(.get, url), as: String.self) { codes.add($0.failureCode) }.cancel()
        #expect(try await codes.first() == .cancelled)
        router.cancel()
        await settle(router)
        #expect(codes.all.count == 1)
    }

    @Test("a cancellation after completion does nothing", .requirement("S2.16"))
    func afterCompletion() async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("done") }, completionQueue: queue)
        let results = Deliveries<Result<String, NetworkError>>()
        let handle = router.request(URLEndPoint(.get, url), as: String.self) { results.add($0) }
        _ = try await results.first()
        handle.cancel()
        handle.cancel()
        await settle(router)
        #expect(results.all == [.success("done")])
        #expect(try await router.request(URLEndPoint(.get, url), as: String.self) == "done")
    }

    @Test("after cancel() a value that waits for delivery is not delivered", .requirement("S1.10"))
    func noValueAfterCancel() async throws {
        queue.suspend()
        let transformed = Deliveries<Bool>()
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("stale") }, completionQueue: queue)
        let results = Deliveries<Result<String, NetworkError>>()
        let handle = router.prepare(URLEndPoint(.get, url)).start(
            transform: { response in
                transformed.open()
                return Transferred(response.text)
            }
        ) { results.add($0) }
        _ = try await transformed.first()
        handle.cancel()
        queue.resume()
        #expect(try await results.first().failureCode == .cancelled)
        await settle(router)
        #expect(results.all.count == 1)
    }

    @Test("no value follows a cancellation on the completion queue", .requirement("S1.10"))
    func cancelRace() async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("a") }, completionQueue: queue)
        for _ in 0..<300 {
            let events = Deliveries<String>()
            let handle = router.request(URLEndPoint(.get, url), as: String.self) { result in
                events.add(result.failureCode.map(\.rawValue) ?? "value")
            }
            queue.async {
                handle.cancel()
                events.add("cancel")
            }
            let seen = try await events.wait(for: 2)
            #expect(seen == ["cancel", "cancelled"] || seen == ["value", "cancel"])
        }
    }

    @Test("each of 10,000 calls that race a cancel ends exactly once", .requirement("S2.16"))
    func manyRaces() async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("a") }, completionQueue: queue)
        let ends = Deliveries<(call: Int, code: NetworkError.Code?)>()
        for call in 0..<10_000 {
            let handle = router.request(URLEndPoint(.get, url), as: String.self) { ends.add((call, $0.failureCode)) }
            Task { handle.cancel() }
        }
        let seen = try await ends.wait(for: 10_000)
        await settle(router)
        #expect(Set(seen.map(\.call)).count == 10_000)
        #expect(seen.allSatisfy { $0.code == nil || $0.code == .cancelled })
        #expect(ends.all.count == 10_000)
    }

    @Test("a load that is canceled before the next never delivers a stale list", .requirement("S1.10"))
    func staleList() async throws {
        let session = StubSession { request in
            request.url?.query == "user_id=1" ? .json(#"["stale"]"#) : .json(#"["fresh"]"#)
        }
        let router = Router<Friends>(session: session, completionQueue: queue)
        for _ in 0..<50 {
            let lists = Deliveries<Result<[String], NetworkError>>()
            // As in friendsButtonTapped, both taps run on the queue that delivers the lists.
            queue.async {
                let first = router.request(Friends(user: 1), as: [String].self) { lists.add($0) }
                first.cancel()
                router.request(Friends(user: 2), as: [String].self) { lists.add($0) }
            }
            let seen = try await lists.wait(for: 2)
            #expect(seen.compactMap { try? $0.get() } == [["fresh"]])
            #expect(seen.compactMap(\.failureCode) == [.cancelled])
        }
    }

    @Test("a cancellation has a separate code and message", .requirement("S1.10", "S4.7"))
    func distinct() async throws {
        let session = StubSession { _ in .stall }
        let router = Router<URLEndPoint>(
            session: session, options: RequestOptions { $0.statusMap = .service })
        let errors = Deliveries<NetworkError?>()
        let handle = router.request(URLEndPoint(.get, url), as: String.self) { result in
            if case .failure(let error) = result { errors.add(error) } else { errors.add(nil) }
        }
        handle.cancel()
        let error = try await errors.first()
        #expect(error?.code == .cancelled)
        #expect(error?.message == "The request was cancelled.")
        #expect(error?.url == url)
        #expect(error?.code.isKind(of: .cannotConnect) == false)
    }
}

private struct Friends: EndPointType {
    let user: Int
    var baseURL: URL { URL(text: "https://api.example.com") }
    var path: String { "friends" }
    var task: HTTPTask { .requestParameters(urlParameters: ["user_id": user]) }
}
