import ExampleKit
import Foundation
import Switchboard

/// Users, for the rest of the program: the only place that talks to the network.
struct UserService: Sendable {
    private let manager: NetworkManager
    private let router: Router<UserApi>

    init(manager: NetworkManager) {
        self.manager = manager
        router = manager.router(for: UserApi.self)
    }

    /// A page of the users. The server answers one past the end with an empty page.
    func users(page number: Int) async throws -> UserPage {
        let page = try await router.request(.list(page: number), as: UserPage.self)
        guard number <= max(1, page.totalPages) else {
            throw Failure(.refused, "there is no page \(number): the last page is \(page.totalPages)")
        }
        return page
    }

    /// What the server says besides the users.
    func headers() async throws -> HTTPHeaders {
        try await router.response(for: .list(page: 1)).headers
    }

    /// The user `id`.
    func user(_ id: Int) async throws -> User {
        do {
            return try await router.request(.user(id: id), as: UserDetails.self).data
        } catch NetworkError.notFound {
            throw Failure(.refused, "there is no user \(id)")
        }
    }

    func add(_ user: NewUser) async throws -> AddedUser {
        try await router.request(.add(user), as: AddedUser.self)
    }

    /// The picture of a user, in memory.
    func avatar(of user: User) async throws -> Data {
        try await manager.data(from: user.avatar)
    }

    /// The picture of a user, into a file.
    func saveAvatar(of user: User, to file: URL) async throws {
        try await manager.download(from: user.avatar, to: file)
    }
}

extension NetworkManager {
    /// The client of the users' server: its keys are snake case, its dates ISO 8601.
    static func users(
        at server: URL, session: any NetworkSession = DefaultSession.shared, interceptors: [any Interceptor] = [],
        timeouts: Timeouts = .ofExamples
    ) -> NetworkManager {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        return NetworkManager(
            servers: [.production: server.absoluteString], session: session, interceptors: interceptors,
            options: RequestOptions { $0.timeouts = timeouts }, decoder: decoder)
    }
}
