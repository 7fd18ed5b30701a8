import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RouterCallsTests {
    private let url = URL(text: "https://api.example.com/a")

    @Test("a handle cancels only its request", .requirement("S3.8"))
    func ownHandle() async throws {
        let gate = Deliveries<Bool>()
        let session = StubSession { request in
            if request.url?.path == "/stalls" { return .stall }
            _ = try await gate.first()
            return .text("here")
        }
        let router = Router<URLEndPoint>(session: session)
        let cancelled = Deliveries<NetworkError.Code?>()
        let kept = Deliveries<Result<String, NetworkError>>()
        let stalls = URLEndPoint(.get, URL(text: "https://api.example.com/stalls"))
        let handle = router.request(stalls, as: String.self) { cancelled.add($0.failureCode) }
        router.request(URLEndPoint(.get, url), as: String.self) { kept.add($0) }
        handle.cancel()
        #expect(try await cancelled.first() == .cancelled)
        #expect(kept.all.isEmpty)
        gate.open()
        #expect(try await kept.first() == .success("here"))
    }

    @Test("router.cancel() cancels all calls of that router and no other's", .requirement("S3.8"))
    func cancelAll() async throws {
        let sent = Deliveries<Bool>()
        let gate = Deliveries<Bool>()
        let session = StubSession { request in
            sent.open()
            if request.headers["X-Waits"] == nil { return .stall }
            _ = try await gate.first()
            return .text("here")
        }
        let router = Router<URLEndPoint>(session: session)
        let other = Router<URLEndPoint>(session: session)
        let codes = Deliveries<NetworkError.Code?>()
        for _ in 0..<3 { router.request(URLEndPoint(.get, url), as: String.self) { codes.add($0.failureCode) } }
        let call = Task { try await router.response(for: URLEndPoint(.get, url)) }
        let kept = Task { try await other.request(URLEndPoint(.get, url, headers: ["X-Waits": "1"]), as: String.self) }
        _ = try await sent.wait(for: 5)
        router.cancel()
        #expect(try await codes.wait(for: 3) == [.cancelled, .cancelled, .cancelled])
        await #expect(throws: CancellationError.self) { try await call.value }
        gate.open()
        #expect(try await kept.value == "here")
    }

    @Test("calls may end in any order before router.cancel() ends the rest", .requirement("S3.8"))
    func endsInAnyOrder() async throws {
        let gates = (0..<20).map { _ in Deliveries<Bool>() }
        let sent = Deliveries<Bool>()
        let session = StubSession { request in
            let number = Int(request.headers["X-Number"] ?? "") ?? 0
            sent.open()
            _ = try await gates[number].first()
            return .text("\(number)")
        }
        let router = Router<URLEndPoint>(session: session)
        let calls = gates.indices.map { [url] number in
            Task {
                try await router.request(
                    URLEndPoint(.get, url, headers: ["X-Number": "\(number)"]), as: String.self)
            }
        }
        _ = try await sent.wait(for: 20)
        let ended = [0, 19, 7, 8, 3, 12, 11, 1]
        for number in ended {
            gates[number].open()
            #expect(try await calls[number].value == "\(number)")
        }
        router.cancel()
        for (number, call) in calls.enumerated() where !ended.contains(number) {
            await #expect(throws: CancellationError.self) { try await call.value }
        }
    }

    @Test("after router.cancel() the router sends later requests", .requirement("S3.8"))
    func usableAfterCancel() async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("later") })
        router.cancel()
        #expect(try await router.request(URLEndPoint(.get, url), as: String.self) == "later")
    }

    @Test("an encoding failure sends nothing and does not affect earlier calls", .requirement("S3.8"))
    func encodingFailure() async throws {
        struct Opaque: Sendable {}
        let gate = Deliveries<Bool>()
        let session = StubSession { _ in
            _ = try await gate.first()
            return .text("first")
        }
        let router = Router<URLEndPoint>(session: session)
        let first = Deliveries<Result<String, NetworkError>>()
        router.request(URLEndPoint(.get, url), as: String.self) { first.add($0) }
        let task = HTTPTask.requestParameters(bodyParameters: ["thing": Opaque()])
        let codes = Deliveries<NetworkError.Code?>()
        router.request(URLEndPoint(.post, url, task: task), as: String.self) { codes.add($0.failureCode) }
        #expect(try await codes.first() == .encodingFailed)
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.post, url, task: task))
        }
        #expect(error?.code == .encodingFailed)
        #expect(error?.message == "Parameter encoding failed.")
        gate.open()
        #expect(try await first.first() == .success("first"))
        #expect(session.requests.map(\.method) == [.get])
    }

    @Test("manager.cancel() ends the manager's calls, not those of its routers", .requirement("S3.8"))
    func manager() async throws {
        let sent = Deliveries<Bool>()
        let gate = Deliveries<Bool>()
        let session = StubSession { request in
            sent.open()
            if request.url?.path == "/stalls" { return .stall }
            _ = try await gate.first()
            return .text("router's")
        }
        let manager = NetworkManager(session: session)
        let router = manager.router(for: URLEndPoint.self)
        let own = Task { try await manager.data(from: URL(text: "https://api.example.com/stalls")) }
        let kept = Task { try await router.request(URLEndPoint(.get, url), as: String.self) }
        _ = try await sent.wait(for: 2)
        manager.cancel()
        await #expect(throws: CancellationError.self) { try await own.value }
        gate.open()
        #expect(try await kept.value == "router's")
    }
}
