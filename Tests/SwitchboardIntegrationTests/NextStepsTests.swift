import SwitchboardCache
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The exercises that the article of the fifth design leaves to its readers, combined.
@Suite(.timeLimit(.minutes(10)))
struct NextStepsTests {
    private struct Todo: Codable, Sendable, Equatable {
        var id: Int
        var title: String
    }

    private struct FindTodos: TypedEndPoint {
        typealias Response = [Todo]
        var path: String { "/todos" }
        var options: RequestOptions? { RequestOptions { $0.cacheLifetime = .time(.seconds(86_400)) } }
    }

    @Test(
        "authentication, caching and logging combine, and no secret is logged",
        .requirement("S4.13"),
        arguments: SessionKind.allCases)
    func together(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.stub(.any) { request in
                request.headers["Authorization"] == "Bearer planted-secret"
                    ? .json(#"[{"id":1,"title":"Milk"}]"#) : .status(401)
            }
            let lines = Deliveries<String>()
            let manager = NetworkManager(
                servers: EnvironmentURLs([.production: server.url.absoluteString]), session: kind.make(),
                interceptors: [
                    NetworkLogger(level: .body) { lines.add($0) }, BearerAuth("planted-secret"),
                ],
                exchangeInterceptors: [ResponseCache()])
            let first = try await manager.send(FindTodos())
            let second = try await manager.send(FindTodos())
            #expect(first == [Todo(id: 1, title: "Milk")] && second == first)
            #expect(server.requests.count == 1)
            let log = lines.all.joined()
            #expect(log.contains(" 200, ") && log.contains("Milk") && log.contains("/todos"))
            #expect(!log.contains("planted-secret"))
            let anew = try await manager.send(FindTodos(), options: .refreshing)
            #expect(anew == first && server.requests.count == 2)
            await manager.reset()
            _ = try await manager.send(FindTodos())
            #expect(server.requests.count == 3)
        }
    }
}
