import Foundation
import Movies
import Switchboard

/// What an app does: an endpoint's case through a router, five interceptors and the response handling; with decoding or
/// without.
struct RouterPeer: Peer {
    private let router: Router<MovieApi>
    private let decodes: Bool
    let executor: (any TaskExecutor)?

    init(_ session: any NetworkSession, decodes: Bool, runsOnSession: Bool = false) {
        executor = runsOnSession ? (session as? CurlSession)?.taskExecutor : nil
        NetworkEnvironment.default = .loopback
        router = Router(session: session, interceptors: FiveInterceptors.make())
        self.decodes = decodes
    }

    func get() async throws -> Int {
        let response = try await router.response(for: .newMovies(page: 1))
        if decodes { _ = try response.decode(MoviePage.self) }
        return response.body.count
    }

    func page() async throws -> Data {
        let response = try await router.response(for: .newMovies(page: 1))
        _ = try response.decode(MoviePage.self)
        return response.body
    }
}
