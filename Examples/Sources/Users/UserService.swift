import ExampleKit
import Foundation
import Switchboard

/// Loads and adds users. The rest of the program uses only this type to reach the network.
struct UserService: Sendable {
    private let manager: NetworkManager
    private let router: Router<UserApi>

    init(manager: NetworkManager) {
        self.manager = manager
        router = manager.router(for: UserApi.self)
    }

    /// Returns a page of users, or throws if it does not exist. The server returns an empty page past the end.
    func users(page number: Int) async throws -> UserPage {
        let page = try await router.request(.list(page: number), as: UserPage.self)
        guard number <= max(1, page.totalPages) else {
            throw Failure(.refused, "there is no page \(number): the last page is \(page.totalPages)")
        }
        return page
    }

    /// Returns the headers of the response with the first page.
    func headers() async throws -> HTTPHeaders {
        try await router.response(for: .list(page: 1)).headers
    }

    /// Returns the user `id`.
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

    /// Returns a user's picture in memory.
    func avatar(of user: User) async throws -> Data {
        try await manager.data(from: user.avatar)
    }

    /// Saves a user's picture to a file.
    func saveAvatar(of user: User, to file: URL) async throws {
        try await manager.download(from: user.avatar, to: file)
    }
}

extension NetworkManager {
    /// Creates the manager of the users' server, whose keys are snake case and whose dates are ISO 8601.
    static func users(
        at server: URL, session: any NetworkSession = DefaultSession.shared, interceptors: [any Interceptor] = [],
        timeouts: Timeouts = .ofExamples
    ) -> NetworkManager {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        return NetworkManager(
            baseURL: server, session: session, interceptors: interceptors,
            options: RequestOptions { $0.timeouts = timeouts }, decoder: decoder)
    }
}
