@testable import SwitchboardAuth
import Foundation
import SwitchboardTesting
import Testing

import SwitchboardTestSupport
@testable import Switchboard

/// Transmission's RPC: its 409 names a header field that later requests must carry
/// (https://github.com/transmission/transmission/blob/main/docs/rpc-spec.md). The authenticator is that of
/// Authentication.md.
@Suite(.timeLimit(.minutes(10)))
struct SharedChallengeTests {
    private static let name = "X-Transmission-Session-Id"

    private struct RPC: EndPointType {
        let server: URL
        var baseURL: URL { server }
        var path: String { "transmission/rpc" }
        var httpMethod: HTTPMethod { .post }
    }

    private struct SessionID: Authenticator {
        let server: URL
        let router: Router<RPC>

        func apply(_ id: String, to request: inout NetworkRequest) { request.headers[name] = id }

        func refresh(_ id: String?, in partition: String?) async throws -> String {
            let refusal = try await router.rawResponse(for: RPC(server: server))
            guard let id = refusal.headers[name] else {
                throw NetworkError(.cannotAuthenticate, reason: "the server named no session")
            }
            return id
        }

        func isAuthenticationFailure(_ response: NetworkResponse) -> Bool { response.statusCode == 409 }
    }

    private func login(_ server: URL, _ session: any NetworkSession) -> AuthenticationInterceptor<SessionID> {
        AuthenticationInterceptor(
            SessionID(server: server, router: Router(session: session, interceptors: [RedirectInterceptor.none])))
    }

    @Test("fifty first calls share one challenge, over sockets", arguments: SessionKind.allCases)
    func shared(kind: SessionKind) async throws {
        let ids = Deliveries<String>()
        ids.add("id-1")
        let handler: MockServer.Handler = { request in
            let id = ids.all.last ?? ""
            return request.headers[Self.name] == id ? .json("{}") : .status(409, headers: [Self.name: id])
        }
        try await MockServer.run(handler: handler) { server in
            let session = kind.make()
            let router = Router<RPC>(session: session, interceptors: [login(server.url, session)])
            func sendFifty() async throws {
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<50 {
                        group.addTask { try await router.response(for: RPC(server: server.url)).statusCode }
                    }
                    for try await status in group { #expect(status == 200) }
                }
            }
            try await sendFifty()
            #expect(server.requests.count(where: { $0.headers[Self.name] == nil }) == 1)
            #expect(server.requests.count == 51)
            // A restarted server has another id: the refused calls share one challenge.
            ids.add("id-2")
            try await sendFifty()
            #expect(server.requests.count(where: { $0.headers[Self.name] == nil }) == 2)
        }
    }

    @Test("the negotiated field is not sent to another origin")
    func otherOrigin() async throws {
        let session = StubSession { _ in .text("ok") }
        session.enqueue(.status(409, headers: [Self.name: "id-1"]))
        session.enqueue(.redirect(to: "https://evil.example/", statusCode: 307))
        session.enqueue(.status(409, headers: [Self.name: "evil"]))
        let server = URL(text: "https://api.example/")
        let router = Router<RPC>(session: session, interceptors: [login(server, session)])
        #expect(try await router.rawResponse(for: RPC(server: server)).statusCode == 409)
        #expect(try await router.rawResponse(for: RPC(server: server)).text == "ok")
        #expect(session.requests.map { $0.headers[Self.name] } == [nil, "id-1", nil, "id-1"])
    }
}
