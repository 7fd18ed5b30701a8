import Foundation
import Movies
import Switchboard

/// URLSession as it comes, in the one use that survives on Linux: no cache, a data task with a completion handler,
/// never cancelled.
struct URLSessionPeer: Peer {
    private let session: URLSession
    private let url: URL

    init(_ settings: PeerSettings) throws {
        guard settings.authority == nil else {
            throw UsageError(text: "URLSession takes no authority of one's own on Linux")
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = settings.connections
        session = URLSession(configuration: configuration)
        url = settings.url
    }

    func get() async throws -> Int { try await exchange().count }
    func page() async throws -> Data { try await exchange() }

    private func exchange() async throws -> Data {
        var request = URLRequest(url: url)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        let (data, status) = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<(Data, Int), any Error>) in
            session.dataTask(with: request) { data, response, error in
                if let error { return continuation.resume(throwing: error) }
                continuation.resume(returning: (data ?? Data(), (response as? HTTPURLResponse)?.statusCode ?? 0))
            }.resume()
        }
        guard status == 200 else { throw UnexpectedAnswer.status(status) }
        return data
    }
}
