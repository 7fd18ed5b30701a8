import Foundation
import Movies

/// What a peer is asked for again and again.
enum Work: Sendable {
    /// The page as bytes; the whole of it when it is known.
    case get(expected: Data?)
    /// The page, decoded.
    case decode(expected: MoviePage)
    /// To encode this page and post it.
    case post(MoviePage)

    /// Compares one whole answer with the one expected, and gives the number that each call shall give.
    func check(_ peer: any Peer) async throws -> Int {
        switch self {
        case .get(let expected):
            let data = try await peer.data()
            guard data == expected ?? data else {
                throw UnexpectedAnswer(description: "\(data.count) bytes came that are not those expected")
            }
            return data.count
        case .decode(let expected):
            guard try await peer.page() == expected else { throw UnexpectedAnswer(description: "another page came") }
            return expected.results.count
        case .post(let page):
            let echo = try await peer.post(page, to: .echo)
            guard try JSONDecoder().decode(MoviePage.self, from: echo) == page else {
                throw UnexpectedAnswer(description: "another page was posted")
            }
            return echo.count
        }
    }

    /// Makes one call: the number of bytes that came, of movies that were decoded, or of bytes that were posted.
    func call(_ peer: any Peer) async throws -> Int {
        switch self {
        case .get: return try await peer.bytes()
        case .decode: return try await peer.page().results.count
        case .post(let page):
            let answer = String(decoding: try await peer.post(page, to: .take), as: UTF8.self)
            guard let count = Int(answer) else { throw UnexpectedAnswer(description: "the answer is \(answer)") }
            return count
        }
    }
}
