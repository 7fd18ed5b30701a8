import Foundation
import Switchboard

/// A session of ours, bare: a request value made for each exchange, no router.
struct SessionPeer: Peer {
    private let session: any NetworkSession
    private let url: URL
    let executor: (any TaskExecutor)?

    init(_ session: any NetworkSession, _ url: URL, runsOnSession: Bool = false) {
        self.session = session
        executor = runsOnSession ? (session as? CurlSession)?.taskExecutor : nil
        self.url = url
    }

    func get() async throws -> Int { try await exchange().count }
    func page() async throws -> Data { try await exchange() }

    private func exchange() async throws -> Data {
        let response = try await session.send(NetworkRequest(.get, url, headers: [.accept("application/json")]))
        guard response.statusCode == 200 else { throw UnexpectedAnswer.status(response.statusCode) }
        return response.body
    }
}
