import Foundation
import Movies
import Switchboard

/// One of the library's sessions without a router. Creates a request for each exchange.
struct SessionPeer: Peer {
    private let session: any NetworkSession
    private let url: URL
    private let posted: Data?
    let executor: (any TaskExecutor)?

    init(_ session: any NetworkSession, _ settings: PeerSettings, runsOnSession: Bool = false) {
        self.session = session
        executor = runsOnSession ? (session as? CurlSession)?.taskExecutor : nil
        url = Loopback.pageURL
        posted = settings.posted
    }

    func bytes() async throws -> Int { try await data().count }
    func data() async throws -> Data {
        guard let posted else {
            return try await body(NetworkRequest(.get, url, headers: [.accept("application/json")]))
        }
        return try await body(
            NetworkRequest(
                .post, url, headers: [.accept("application/json")],
                body: DataBody(posted, contentType: "application/json")))
    }
    func page() async throws -> MoviePage { try JSONDecoder().decode(MoviePage.self, from: try await data()) }

    private func body(_ request: NetworkRequest) async throws -> Data {
        let response = try await session.send(request)
        guard response.statusCode == 200 else { throw UnexpectedAnswer.status(response.statusCode) }
        return response.body
    }
}
