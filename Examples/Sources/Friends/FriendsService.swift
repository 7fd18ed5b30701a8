import ExampleKit
import Foundation
import Switchboard
import SwitchboardCache

/// Loads and changes a user's friends. The rest of the program uses only this type to reach the network.
///
/// Every method throws a ``FriendsError`` if the server states a reason, and a `NetworkError` otherwise.
struct FriendsService: Sendable {
    private let router: Router<FriendsApi>
    private let cache: ResponseCache

    /// Creates a service over a manager and the cache in that manager's chain.
    init(manager: NetworkManager, cache: ResponseCache) {
        router = manager.router(for: FriendsApi.self)
        self.cache = cache
    }

    /// Returns all friends, by default from the cache if the list is fresh. `refreshing` requests the list again.
    func friends(refreshing: Bool = false) async throws -> [Friend] {
        try await explained {
            try await router.request(
                .list, as: [Friend].self, options: refreshing ? .refreshing : RequestOptions())
        }
    }

    func add(_ name: String) async throws -> Friend {
        try await explained { try await router.request(.add(NewFriend(name: name)), as: Friend.self) }
    }

    func remove(_ id: Int) async throws {
        _ = try await explained { try await router.response(for: .remove(id: id)) }
        // The cached list still contains that friend.
        try await cache.remove(FriendsApi.list)
    }

    /// Returns the friends in a group.
    func group(_ name: String) async throws -> [Friend] {
        try await explained { try await router.request(.group(name), as: [Friend].self) }
    }

    private func explained<Value>(_ call: () async throws -> Value) async throws -> Value {
        do {
            return try await call()
        } catch let error as NetworkError {
            throw FriendsError(error) ?? error
        }
    }
}

extension NetworkManager {
    /// Creates the manager of the friends' server for one user. All its calls share the user's ID, the token and the
    /// cache.
    static func friends(
        at server: URL, of user: Int, token: String, cache: ResponseCache,
        session: any NetworkSession = DefaultSession.shared, interceptors: [any Interceptor] = [],
        monitors: [any EventMonitor] = [], timeouts: Timeouts = .ofExamples
    ) -> NetworkManager {
        NetworkManager(
            baseURL: server, session: session,
            interceptors: [CommonParameters(["user_id": user]), BearerAuth(token)] + interceptors,
            // The cache runs after the token is set, so each token has separate entries.
            exchangeInterceptors: [cache],
            options: RequestOptions {
                $0.timeouts = timeouts
                $0.statusMap = .service
            },
            monitors: monitors)
    }
}
