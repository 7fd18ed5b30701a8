import ExampleKit
import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardInterceptors

/// Somebody's friends, for the rest of the program: the only place that talks to the network.
///
/// Every method throws a ``FriendsError`` where the server explains itself, and a `NetworkError` for everything else.
struct FriendsService: Sendable {
    private let router: Router<FriendsApi>
    private let cache: ResponseCache

    /// Makes a service over a manager, and the cache that is in its chain.
    init(manager: NetworkManager, cache: ResponseCache) {
        router = manager.router(for: FriendsApi.self)
        self.cache = cache
    }

    /// All friends: those of a moment ago, unless they are to be asked for anew.
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
        // What is stored is the list with that friend.
        try await cache.remove(FriendsApi.list)
    }

    /// The friends in a group.
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
    /// The client of the friends' server, for one user: whose friends, the token and the cache are the same for all calls.
    static func friends(
        at server: URL, of user: Int, token: String, cache: ResponseCache,
        session: any NetworkSession = DefaultSession.shared, interceptors: [any Interceptor] = [],
        monitors: [any EventMonitor] = [], timeouts: Timeouts = .ofExamples
    ) -> NetworkManager {
        NetworkManager(
            servers: [.production: server.absoluteString], session: session,
            interceptors: [CommonParameters(["user_id": user]), BearerAuth(token)] + interceptors,
            // The cache sees the token: a list is for whoever asked for it.
            exchangeInterceptors: [cache],
            options: RequestOptions {
                $0.timeouts = timeouts
                $0.monitors = monitors
            },
            responseHandling: ResponseHandling(statusMap: .service))
    }
}
