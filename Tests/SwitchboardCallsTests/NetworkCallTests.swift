import Dispatch
import Foundation
import SwitchboardCalls
import SwitchboardPlatform
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@testable import Switchboard

@Suite(.timeLimit(.minutes(10)))
struct NetworkCallTests {
    struct User: Codable, Sendable, Equatable {
        var id: Int
        var friends: [Int] = []
    }

    private let url = URL(text: "https://api.example.com/")

    private func get(_ path: String) -> URLEndPoint { URLEndPoint(.get, url.appendingPathComponent(path)) }

    private let users = StubSession { answer($0) }

    private static func answer(_ request: NetworkRequest) -> MockResponse {
        guard let id = Int(request.path.dropFirst("/users/".count)), id < 100 else { return .status(404) }
        return .json(#"{"id":\#(id),"friends":[\#(id * 2),\#(id * 3)]}"#)
    }

    private func user(_ router: Router<URLEndPoint>, _ id: Int) -> NetworkCall<User> {
        router.call(for: get("users/\(id)"), as: User.self)
    }

    @Test("a policy resumes a broken download of a call [downloads]", arguments: SessionKind.allCases)
    func download(kind: SessionKind) async throws {
        let files = RangeServer(content: RangeServer.content(300_000))
        try await withFolder { folder in
            try await MockServer.run { server in
                server.enqueue(files.whole.truncated(after: 100_000))
                server.stub(.any) { files.answer($0) }
                let (file, progress) = (folder.appendingPathComponent("a"), TransferProgress())
                let policy = RetryPolicy(clock: TestClock(skips: true))
                let router = Router<URLEndPoint>(session: kind.make(), interceptors: [policy])
                let task = HTTPTask.download(to: file, progress: progress)
                let response = try await router.call(for: URLEndPoint(.get, server.url, task: task)).value
                #expect(response.fileURL == file)
                #expect(response.metrics.bytesReceived == 300_000 && response.history.count == 2)
                #expect(try Data(contentsOf: file) == files.content)
                #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=100000-"])
                #expect(progress.current.completed == 300_000 && progress.current.expected == 300_000)
            }
        }
    }

    @Test("a call sends only when its value is requested, and each time again", .requirement("S1.15"))
    func cold() async throws {
        let router = Router<URLEndPoint>(session: users)
        let call = user(router, 1).map(\.id).zip(user(router, 2))
        #expect(users.requests.isEmpty)
        let (one, two) = try await call.value
        #expect(one == 1 && two == User(id: 2, friends: [4, 6]))
        _ = try await call.value
        #expect(users.requests.count == 4)
    }

    @Test("map, compactMap, flatMap and zip combine values and errors", .requirement("S1.15"))
    func combining() async throws {
        let router = Router<URLEndPoint>(session: users)
        let next = try await user(router, 7).map { $0.id + 1 }.value
        #expect(next == 8)
        let compact: Int = try await user(router, 7).compactMap { $0.friends.first }.value
        #expect(compact == 14)
        let friend = user(router, 7).flatMap { user(router, $0.friends[1]) }
        #expect(try await friend.value.id == 21)
        let (one, two, three) = try await user(router, 1).zip(user(router, 2), user(router, 3)).value
        #expect(one.id == 1 && two.id == 2 && three.id == 3)
        let error = await #expect(throws: NetworkError.self) {
            try await user(router, 1).compactMap { _ in Int?.none }.value
        }
        #expect(error?.code == .decodingFailed)
        struct Own: Error {}
        await #expect(throws: Own.self) { try await user(router, 1).map { _ -> Int in throw Own() }.value }
    }

    @Test("a chain of many steps runs, and is released, on a small stack")
    func longChain() async throws {
        let router = Router<URLEndPoint>(session: users)
        var call = user(router, 7).map(\.id)
        for _ in 0..<500_000 { call = call.map { $0 + 1 } }
        #expect(try await call.value == 500_007)
    }

    @Test("a typed endpoint becomes a call, with options; a response is a value", .requirement("S1.15"))
    func manager() async throws {
        struct GetUser: TypedEndPoint {
            typealias Response = User
            var path: String { "users/5" }
        }
        let manager = NetworkManager(environment: .qa, servers: [.qa: "https://api.example.com"], session: users)
        #expect(try await manager.call(for: GetUser()).value.id == 5)
        let router = Router<URLEndPoint>(session: users)
        #expect(try await router.call(for: get("users/6")).value.statusCode == 200)
        let own = RequestOptions { $0.cachePolicy = .reloadRevalidatingCacheData }
        _ = try await manager.call(for: GetUser(), options: own).value
        #expect(users.requests.map { $0.headers["Cache-Control"] } == [nil, nil, "max-age=0"])
    }

    @Test(
        "runs at most width calls at once and keeps the order of a sequence", .requirement("S1.15"),
        arguments: [1, 3, 100, 0, -1, .max])
    func width(width: Int) async throws {
        let gauge = Gauge()
        let session = StubSession { request in
            gauge.enter()
            await Task.yield()
            defer { gauge.leave() }
            return Self.answer(request)
        }
        let router = Router<URLEndPoint>(session: session)
        let call = NetworkCall { Array(1...20) }.flatMap(width: width) { user(router, $0) }.map { $0.map(\.id) }
        #expect(try await call.value == Array(1...20))
        #expect(gauge.peak <= max(1, width))
        let all = NetworkCall.all((1...20).map { user(router, $0) }, width: max(1, width)).map { $0.map(\.id) }
        #expect(try await all.value == Array(1...20))
        let none: [NetworkCall<User>] = []
        #expect(try await NetworkCall.all(none).value == [])
    }

    @Test("one failure cancels the other calls and fails the combination", .requirement("S1.15"))
    func failureCancels() async throws {
        let (begun, ended) = (Deliveries<String>(), Deliveries<String>())
        let session = AdHocSession { request in
            if request.path.hasSuffix("/404") {
                _ = try await begun.wait(for: ended.all.count + 2)
                return NetworkResponse(statusCode: 404, url: request.url)
            }
            begun.add(request.path)
            do {
                try await Gate().wait()
            } catch {
                ended.add("\(error is CancellationError)")
                throw error
            }
            return NetworkResponse(statusCode: 200)
        }
        let router = Router<URLEndPoint>(session: session)
        let calls = [1, 404, 2].map { user(router, $0) }
        let combined: [NetworkCall<Void>] = [
            NetworkCall.all(calls, width: 3).map { _ in }, calls[0].zip(calls[1], calls[2]).map { _ in },
            NetworkCall { [1, 404, 2] }.flatMap(width: 3) { user(router, $0) }.map { _ in },
        ]
        for (index, call) in combined.enumerated() {
            let error = await #expect(throws: NetworkError.self) { try await call.value }
            #expect(error?.code == .notFound)
            #expect(ended.all == Array(repeating: "true", count: 2 * (index + 1)))
        }
    }

    @Test("results report each failure at its index and cancel no call", .requirement("S1.15"))
    func failuresReported() async throws {
        let router = Router<URLEndPoint>(session: users)
        let calls = [1, 404, 2].map { user(router, $0) }
        for call in [
            NetworkCall.results(of: calls), NetworkCall { [1, 404, 2] }.flatMapResults(width: 2) { user(router, $0) },
        ] {
            let results = try await call.value
            #expect(results.map { try? $0.get().id } == [1, nil, 2])
            guard case .failure(let error) = results[1] else {
                Issue.record("the second one is no failure")
                continue
            }
            #expect(error.code == .notFound && error.url?.path == "/users/404")
        }
    }

    @Test(
        "cancelling a combination cancels its calls at the server", .requirement("S1.15"),
        arguments: SessionKind.allCases)
    func cancellation(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.stub(.any) { _ in .stall }
            let router = Router<URLEndPoint>(session: kind.make())
            let calls = (1...4).map { router.call(for: URLEndPoint(.get, server.url.appendingPathComponent("\($0)"))) }
            let results = NetworkCall.results(of: calls, width: 4).map(\.count)
            for call in [NetworkCall.all(calls, width: 4).map(\.count), results] {
                let task = Task { try await call.value }
                var connections: [Int] = []
                for _ in 1...4 { connections.append(try await server.takeRequest().connection) }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                for connection in connections { try await server.waitForDisconnect(of: connection) }
            }
            let ended = Deliveries<NetworkError.Code?>()
            let handle = NetworkCall.all(calls, width: 4).start { ended.add($0.failureCode) }
            var connections: [Int] = []
            for _ in 1...4 { connections.append(try await server.takeRequest().connection) }
            handle.cancel()
            #expect(try await ended.first() == .cancelled)
            for connection in connections { try await server.waitForDisconnect(of: connection) }
        }
    }

    @Test("a router's cancel ends all(); in results(of:) only its calls fail", .requirement("S1.15"))
    func routerCancel() async throws {
        let begun = Deliveries<Void>()
        let stalled = Router<URLEndPoint>(
            session: AdHocSession { _ in
                begun.add(())
                try await Gate().wait()
                return NetworkResponse(statusCode: 200)
            })
        let router = Router<URLEndPoint>(session: users)
        let calls = [user(router, 1), user(stalled, 2)]
        let all = Task { try await NetworkCall.all(calls).value }
        _ = try await begun.first()
        stalled.cancel()
        await #expect(throws: CancellationError.self) { try await all.value }
        let results = Task { try await NetworkCall.results(of: calls).value }
        _ = try await begun.wait(for: 2)
        stalled.cancel()
        let ended = try await results.value
        #expect(ended.map(\.failureCode) == [nil, .cancelled])
    }

    // MARK: Delivery

    @Test("a completion runs once, on the requested queue or actor", .requirement("S1.13", "S4.10"))
    func delivery() async throws {
        let router = Router<URLEndPoint>(session: users)
        let key = DispatchSpecificKey<String>()
        let queue = DispatchQueue(label: "screen")
        queue.setSpecific(key: key, value: "screen")
        let places = Deliveries<String>()
        user(router, 1).start(on: queue) { result in
            places.add("\(DispatchQueue.getSpecific(key: key) ?? "-") \((try? result.get().id) ?? 0)")
        }
        #expect(try await places.first() == "screen 1")
        user(router, 2).start(on: MainActor.self) { result in
            MainActor.assertIsolated()
            places.add("main \((try? result.get().id) ?? 0)")
        }
        #expect(try await places.wait(for: 2).last == "main 2")
        let screen = Screen()
        user(router, 404).start(on: screen) { screen, result in
            screen.shown = result.failureCode
            places.add("screen \(result.failureCode?.rawValue ?? "")")
        }
        #expect(try await places.wait(for: 3).last == "screen notFound")
        #expect(await screen.shown == .notFound)
        #expect(places.all.count == 3)
    }

    @Test("a canceled call delivers no value, even one that has arrived", .requirement("S1.13"))
    func cancelledDelivery() async throws {
        let queue = DispatchQueue(label: "screen")
        let results = Deliveries<NetworkError.Code?>()
        queue.suspend()
        let arrived = Deliveries<Void>()
        let call = NetworkCall {
            defer { arrived.add(()) }
            return 1
        }
        let handle = call.start(on: queue) { results.add($0.failureCode) }
        _ = try await arrived.first()
        queue.async { handle.cancel() }
        handle.cancel()
        queue.resume()
        #expect(try await results.first() == .cancelled)
        for _ in 0..<50 { await Task.yield() }
        await queue.flushed()
        #expect(results.all.count == 1)
    }

    @Test("after a router's cancel, a value that has arrived is not delivered", .requirement("S1.13"))
    func routerCancelledDelivery() async throws {
        let queue = DispatchQueue(label: "screen")
        let (arrived, results) = (Deliveries<Bool>(), Deliveries<NetworkError.Code?>())
        let router = Router<URLEndPoint>(session: users)
        queue.suspend()
        user(router, 1).map { _ in arrived.open() }.start(on: queue) { results.add($0.failureCode) }
        _ = try await arrived.first()
        router.cancel()
        queue.resume()
        #expect(try await results.first() == .cancelled)
        queue.suspend()
        user(router, 1).start(on: queue) { results.add($0.failureCode) }
        router.cancel()
        queue.resume()
        #expect(try await results.wait(for: 2) == [.cancelled, .cancelled])
    }

    @Test("a reset ends the closures of a started call, and then returns", .requirement("S1.13", "S2.17"))
    func resetOfStartedCall() async throws {
        let (began, results) = (Deliveries<Bool>(), Deliveries<NetworkError.Code?>())
        let router = Router<URLEndPoint>(session: users)
        let call: NetworkCall<Void> = user(router, 1).map { _ in
            began.open()
            try await Gate().wait()
        }
        let calls: [NetworkCall<Void>] = [
            call, NetworkCall.all([call]).map { _ in }, NetworkCall.results(of: [call]).map { _ in },
        ]
        for (index, call) in calls.enumerated() {
            call.start { results.add($0.failureCode) }
            _ = try await began.wait(for: index + 1)
            await router.reset()
            let expected: [NetworkError.Code?] = Array(repeating: .cancelled, count: index + 1)
            #expect(results.all == expected)
        }
    }

    private struct Find: TypedEndPoint {
        typealias Response = String
        var path: String { "a" }
    }

    @Test("a call keeps the environment in which it was started")
    func environment() async throws {
        let session = StubSession { _ in .text("ok") }
        let manager = NetworkManager(
            environment: .qa, servers: [.qa: "https://qa.example.com", .production: "https://example.com"],
            session: session)
        let (call, ends) = (manager.call(for: Find()), Deliveries<Bool>())
        let calls: [NetworkCall<Void>] = [
            call.map { _ in }, NetworkCall.all([call, call], width: 1).map { _ in },
            NetworkCall.results(of: [call, call], width: 1).map { _ in },
        ]
        for call in calls {
            for _ in 0..<100 {
                manager.environment = .qa
                call.start { _ in ends.add(true) }
                manager.environment = .production
            }
        }
        _ = try await ends.wait(for: 300)
        #expect(Set(session.requests.map(\.host)) == ["qa.example.com"])
    }

    private actor Screen {
        var shown: NetworkError.Code?
    }
}
