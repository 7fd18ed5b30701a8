import Foundation
import OpenCombine
import Switchboard
import SwitchboardCalls
import SwitchboardCombine
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PublisherTests {
    private struct Todo: Codable, Sendable, Equatable { var id: Int }

    private struct FindTodos: TypedEndPoint {
        typealias Response = [Todo]
        var path: String { "/todos" }
    }

    private func manager(_ session: any NetworkSession) -> NetworkManager {
        NetworkManager(environment: .qa, servers: [.qa: "https://api.example.com"], session: session)
    }

    @Test("a publisher sends only on demand, and again for each subscriber")
    func cold() async throws {
        let session = StubSession { _ in .json(#"[{"id":1}]"#) }
        let publisher = manager(session).call(for: FindTodos()).publisher
        #expect(session.requests.isEmpty)
        let idle = Events<[Todo]>()
        publisher.subscribe(idle)
        for count in 1...2 {
            let events = Events<[Todo]>()
            publisher.subscribe(events)
            #expect(session.requests.count == count - 1)
            events.request(.max(1))
            try await events.end()
            #expect(events.values == [[Todo(id: 1)]] && events.completions == ["finished"])
            #expect(session.requests.count == count)
        }
        #expect(idle.values.isEmpty && idle.completions.isEmpty)
    }

    @Test("a failed call ends the publisher with its error, once")
    func failure() async throws {
        let events = Events<[Todo]>()
        manager(StubSession { _ in .status(404) }).call(for: FindTodos()).publisher.subscribe(events)
        events.request(.unlimited)
        events.request(.unlimited)
        try await events.end()
        #expect(events.values.isEmpty && events.completions == ["notFound"])
    }

    @Test("canceling a subscription ends the transfer and delivers nothing")
    func cancellation() async throws {
        try await MockServer.run { server in
            server.stub(.any) { _ in .stall }
            let router = Router<URLEndPoint>()
            let events = Events<String>()
            router.call(for: URLEndPoint(.get, server.url), as: String.self).publisher.subscribe(events)
            events.request(.unlimited)
            let seen = try await server.takeRequest()
            events.cancel()
            try await server.waitForDisconnect(of: seen.connection)
            #expect(events.values.isEmpty && events.completions.isEmpty)
        }
    }

    @Test("releasing an AnyCancellable cancels; canceling early sends nothing")
    func cancellable() async throws {
        try await MockServer.run { server in
            server.stub(.any) { _ in .stall }
            let publisher = Router<URLEndPoint>().call(for: URLEndPoint(.get, server.url), as: String.self).publisher
            var cancellable: AnyCancellable? = publisher.sink(receiveCompletion: { _ in }, receiveValue: { _ in })
            let seen = try await server.takeRequest()
            #expect(cancellable != nil)
            cancellable = nil
            try await server.waitForDisconnect(of: seen.connection)
        }
        let session = StubSession { _ in .json("[]") }
        let publisher = manager(session).call(for: FindTodos()).publisher
        let (events, later) = (Events<[Todo]>(), Events<[Todo]>())
        publisher.subscribe(events)
        events.cancel()
        events.request(.unlimited)
        // A request of the canceled subscriber would be sent before the end of a later call.
        publisher.subscribe(later)
        later.request(.max(1))
        try await later.end()
        #expect(session.requests.count == 1 && events.completions.isEmpty)
    }

    @Test("a router's cancel is a failure with the code canceled")
    func routerCancel() async throws {
        try await MockServer.run { server in
            server.stub(.any) { _ in .stall }
            let router = Router<URLEndPoint>()
            let events = Events<String>()
            router.call(for: URLEndPoint(.get, server.url), as: String.self).publisher.subscribe(events)
            events.request(.max(1))
            _ = try await server.takeRequest()
            router.cancel()
            try await events.end()
            #expect(events.completions == ["cancelled"])
        }
    }

    @Test("a combined call is a publisher for Combine's operators")
    func operators() async throws {
        let session = StubSession { _ in .json(#"[{"id":1},{"id":2}]"#) }
        let call = manager(session).call(for: FindTodos()).map { $0.map(\.id) }
        let events = Events<Int>()
        call.publisher.map { $0.reduce(0, +) }.subscribe(events)
        events.request(.unlimited)
        try await events.end()
        #expect(events.values == [3])
    }

    @Test("1,000 racing cancels deliver at most one value and one end")
    func races() async throws {
        let session = StubSession { _ in .json("[]") }
        let publisher = manager(session).call(for: FindTodos()).publisher
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<1_000 {
                group.addTask {
                    let events = Events<[Todo]>()
                    publisher.subscribe(events)
                    events.request(.unlimited)
                    for _ in 0..<(index % 20) { await Task.yield() }
                    events.cancel()
                    #expect(events.values.count <= 1 && events.completions.count <= 1)
                }
            }
        }
    }
}
