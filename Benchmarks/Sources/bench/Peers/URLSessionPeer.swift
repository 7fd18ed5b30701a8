import Foundation
import Movies
import Switchboard

/// `URLSession` in the one use that is stable on Linux: no cache, a data task with a completion handler, never
/// canceled. Foundation decodes JSON.
struct URLSessionPeer: Peer {
    private let session: URLSession
    private let url: URL
    private let posted: Data?

    init(_ settings: PeerSettings) throws {
        guard settings.authority == nil else {
            throw UsageError(text: "URLSession accepts no custom authority on Linux")
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = settings.connections
        session = URLSession(configuration: configuration)
        url = Loopback.pageURL
        posted = settings.posted
    }

    func bytes() async throws -> Int { try await data().count }
    func data() async throws -> Data { try await body(URLRequest(url: url)) }
    func page() async throws -> MoviePage { try JSONDecoder().decode(MoviePage.self, from: try await data()) }

    private func body(_ request: URLRequest) async throws -> Data {
        var request = request
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        if let posted {
            request.httpMethod = "POST"
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = posted
        }
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
