import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Every fault throws its documented error, over both sessions and from a stub.
@Suite(.timeLimit(.minutes(10)))
struct MockFaultTests {
    private func request(for fault: MockFault, to url: URL) -> NetworkRequest {
        let options = RequestOptions { $0.timeouts.attempt = .seconds(fault.code == .timedOut ? 1 : 300) }
        guard fault.needsBody else { return NetworkRequest(.get, url, options: options) }
        return NetworkRequest(.post, url, body: DataBody(Data(count: 100_000)), options: options)
    }

    private func expect(
        _ fault: MockFault, _ code: NetworkError.Code?, _ result: Result<NetworkResponse, any Error>
    ) {
        switch result {
        case .success(let response):
            #expect(code == nil, "\(response)")
            #expect(fault.name == "redirect-loop" ? response.statusCode == 302 : response.statusCode == 200)
        case .failure(let error): #expect(code.map { $0 ~= error } == true, "\(error)")
        }
    }

    private static let all = MockFault.all + MockFault.bombs
    /// The faults that end a process with URLSession on Linux: Foundation before 6.4 traps when a connection breaks
    /// inside the response's head.
    private static let traps = ["close-after-status-line", "stall-after-status-line", "interim-without-end"]
    /// Every fault over every session, except those that end the process.
    private static let overSessions = SessionKind.allCases.flatMap { kind in
        all.filter { !(kind.traps && traps.contains($0.name)) }.map { (kind, $0) }
    }

    @Test("each fault has its documented outcome over a real session", arguments: overSessions)
    func overASession(kind: SessionKind, fault: MockFault) async throws {
        try await MockServer.run { server in
            server.enqueue(fault.response)
            let request = request(for: fault, to: server.url)
            // URLSession on Linux fails for an unknown encoding.
            let isLost = kind.traps && fault.name == "unknown-encoding"
            expect(
                fault, isLost ? .cannotDecodeResponse : fault.code,
                await Result { try await kind.make().send(request) })
        }
    }

    @Test("each fault has its documented outcome from a stub, or needs a socket", arguments: MockFault.all)
    func fromAStub(fault: MockFault) async throws {
        let session = StubSession(clock: TestClock(skips: true), fault.response)
        let request = request(for: fault, to: try #require(URL(string: "http://h.test/")))
        let result = await Result { try await session.send(request) }
        guard !fault.needsSocket else {
            #expect(throws: NetworkError.self) { try result.get() }
            if case .failure(let error) = result { #expect((error as? NetworkError)?.code == .unsupported) }
            return
        }
        expect(fault, fault.code, result)
    }

    @Test("the names of the faults are unique")
    func uniqueNames() {
        let names = (MockFault.all + MockFault.webSocket).map(\.name)
        #expect(Set(names).count == names.count)
        #expect(MockFault.all.count > 30)
    }

    @Test("a redirect loop fails after twenty redirects", arguments: SessionKind.allCases)
    func redirectLoop(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.redirectLoop)
            let router = Router<URLEndPoint>(session: kind.make())
            let error = await #expect(throws: NetworkError.self) {
                try await router.response(for: URLEndPoint(.get, server.url))
            }
            #expect(error?.code == .tooManyRedirects)
            #expect(server.requests.count == 21)
            #expect(server.requests.last?.target == "/loop")
            #expect(server.unfinished.isEmpty)
        }
    }
}

extension SessionKind {
    /// Whether it is URLSession on Linux, which traps on some faults.
    fileprivate var traps: Bool {
        #if os(Linux)
        self == .foundation
        #else
        false
        #endif
    }
}
