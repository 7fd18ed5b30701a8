import Foundation
import Movies
import Switchboard

/// The calls of an app: an endpoint through a router, five interceptors and the response handling.
struct RouterPeer: Peer {
    private let router: Router<MovieApi>
    let executor: (any TaskExecutor)?

    init(_ session: any NetworkSession, runsOnSession: Bool = false) {
        executor = runsOnSession ? (session as? CurlSession)?.taskExecutor : nil
        NetworkEnvironment.default = .loopback
        router = Router(session: session, interceptors: FiveInterceptors.make())
    }

    func bytes() async throws -> Int { try await data().count }
    func data() async throws -> Data { try await router.response(for: .newMovies(page: 1)).body }
    func page() async throws -> MoviePage { try await router.request(.newMovies(page: 1), as: MoviePage.self) }
}
