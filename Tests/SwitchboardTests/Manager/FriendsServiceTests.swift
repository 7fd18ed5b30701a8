import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The friends service of the second design with this package's types. The user interface uses no URLs.
@Suite(.timeLimit(.minutes(10)))
struct FriendsServiceTests {
    @Test("list, add, remove and group are typed methods with correct requests", .requirement("S1.12"))
    func methods() async throws {
        try await MockServer.run { server in
            server.enqueue(
                .json(#"[{"id":2,"name":"Bob"},{"id":3,"email":"eve@example.com"}]"#),
                .json(#"{"id":4,"name":"Dan"}"#, statusCode: 201),
                .status(204), .json(#"[{"id":2}]"#))
            let service = FriendsService(
                client: .friends(at: server.url.absoluteString, session: DefaultSession.make()))
            let friends = try await service.friends(of: 1)
            #expect(friends == [Friend(id: 2, name: "Bob"), Friend(id: 3, email: "eve@example.com")])
            let added = try await service.add(Friend(id: 4, name: "Dan"), to: 1)
            #expect(added == Friend(id: 4, name: "Dan"))
            try await service.remove(4, from: 1)
            let group = try await service.group(named: "tea & cake", of: 1)
            #expect(group == [Friend(id: 2)])
            #expect(
                server.requests.map { "\($0.method) \($0.target)" } == [
                    "GET /api/friends?user_id=1", "POST /api/friends?user_id=1", "DELETE /api/friends/4?user_id=1",
                    "GET /api/friends/groups/tea%20%26%20cake?user_id=1",
                ])
            #expect(server.requests.map(\.text) == ["", #"{"id":4,"name":"Dan"}"#, "", ""])
        }
    }

    @Test("the server's message is the error's description", .requirement("S1.12", "S1.7"))
    func serverMessage() async throws {
        let session = StubSession { _ in .json(#"{"message":"You have been blocked."}"#, statusCode: 403) }
        let service = FriendsService(client: .friends(at: "https://friends.example.com", session: session))
        let error = await #expect(throws: NetworkError.self) { try await service.friends(of: 1) }
        #expect(error?.localizedDescription == "You have been blocked.")
    }

    @Test("injected clients with different servers do not mix", .requirement("S1.11"))
    func injection() async throws {
        let one = StubSession { _ in .json("[]") }
        let other = StubSession { _ in .json("[]") }
        let services = [
            FriendsService(client: .friends(at: "https://one.example.com", session: one)),
            FriendsService(client: .friends(at: "https://other.example.com/v2/", session: other)),
        ]
        for service in services { #expect(try await service.friends(of: 7) == []) }
        #expect(one.requests.map(\.url?.absoluteString) == ["https://one.example.com/api/friends?user_id=7"])
        #expect(other.requests.map(\.url?.absoluteString) == ["https://other.example.com/v2/api/friends?user_id=7"])
    }

    @Test("a service without a client uses the default server", .requirement("S1.11"))
    func defaultServer() throws {
        let router = FriendsService().client.router(for: FriendsApi.self)
        let request = try router.makeRequest(for: .list(user: 1))
        #expect(request.url?.absoluteString == "https://friends.example.com/api/friends?user_id=1")
    }

    @Test("a second load replaces the canceled first, and only it is shown", .requirement("S1.12", "S1.10"))
    func buttonTapped() async throws {
        try await MockServer.run { server in
            server.enqueue(.stall, .json(#"[{"id":2}]"#))
            let service = FriendsService(
                client: .friends(at: server.url.absoluteString, session: DefaultSession.make()))
            let shown = Deliveries<Result<[Friend], NetworkError>>()
            let first = service.loadFriends(of: 1) { shown.add($0) }
            let stalled = try await server.takeRequest()
            first.cancel()
            service.loadFriends(of: 1) { shown.add($0) }
            try await server.waitForDisconnect(of: stalled.connection)
            let seen = try await shown.wait(for: 2)
            #expect(seen.compactMap { try? $0.get() } == [[Friend(id: 2)]])
            #expect(seen.compactMap(\.failureCode) == [.cancelled])
        }
    }
}

private struct Friend: Codable, Equatable, Sendable {
    var id: Int
    var name: String?
    var email: String?
}

private enum FriendsApi: EndPointType {
    case list(user: Int)
    case add(Friend, user: Int)
    case remove(Int, user: Int)
    case group(String, user: Int)

    static let servers: EnvironmentURLs = [.production: "https://friends.example.com"]
    var baseURL: ManagerBaseURL { ManagerBaseURL() }
    var path: String {
        switch self {
        case .list, .add: "api/friends"
        case .remove(let id, _): "api/friends/\(id)"
        case .group(let name, _): "api/friends/groups/\(segment: name)"
        }
    }
    var httpMethod: HTTPMethod {
        switch self {
        case .list, .group: .get
        case .add: .post
        case .remove: .delete
        }
    }
    var task: HTTPTask {
        switch self {
        case .list(let user), .remove(_, let user), .group(_, let user):
            .requestParameters(urlParameters: ["user_id": user])
        case .add(let friend, let user):
            .requestBody(JSONBody(friend), urlParameters: ["user_id": user])
        }
    }
}

private struct FriendsService {
    let client: NetworkManager
    private let router: Router<FriendsApi>

    init(client: NetworkManager = .friends()) {
        self.client = client
        router = client.router(for: FriendsApi.self)
    }

    func friends(of user: Int) async throws -> [Friend] {
        try await router.request(.list(user: user), as: [Friend].self)
    }

    @discardableResult
    func loadFriends(
        of user: Int, completion: @escaping @Sendable (Result<[Friend], NetworkError>) -> Void
    ) -> RequestHandle {
        router.request(.list(user: user), as: [Friend].self, completion: completion)
    }

    func add(_ friend: Friend, to user: Int) async throws -> Friend {
        try await router.request(.add(friend, user: user), as: Friend.self)
    }

    func remove(_ id: Int, from user: Int) async throws {
        _ = try await router.response(for: .remove(id, user: user))
    }

    func group(named name: String, of user: Int) async throws -> [Friend] {
        try await router.request(.group(name, user: user), as: [Friend].self)
    }
}

extension NetworkManager {
    fileprivate static func friends(
        at server: String? = nil, session: any NetworkSession = DefaultSession.shared
    ) -> NetworkManager {
        NetworkManager(
            environment: .production, servers: server.map { [.production: $0] } ?? FriendsApi.servers, session: session,
            options: RequestOptions { $0.statusMap = .service })
    }
}
