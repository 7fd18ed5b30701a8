import Foundation
import Movies

/// The call that a peer repeats.
enum Work: Sendable {
    /// Gets the page as bytes. Compares it with `expected` unless that is nil.
    case get(expected: Data?)
    /// Gets the page, decoded.
    case decode(expected: MoviePage)

    /// Compares one full response with the expected one. Returns the number that each call must return.
    func check(_ peer: any Peer) async throws -> Int {
        switch self {
        case .get(let expected):
            let data = try await peer.data()
            guard data == expected ?? data else {
                throw UnexpectedAnswer(description: "received \(data.count) bytes that differ from the expected page")
            }
            return data.count
        case .decode(let expected):
            guard try await peer.page() == expected else {
                throw UnexpectedAnswer(description: "the decoded page differs from the expected one")
            }
            return expected.results.count
        }
    }

    /// Makes one call. Returns the number of received bytes or decoded movies.
    func call(_ peer: any Peer) async throws -> Int {
        switch self {
        case .get: return try await peer.bytes()
        case .decode: return try await peer.page().results.count
        }
    }
}
