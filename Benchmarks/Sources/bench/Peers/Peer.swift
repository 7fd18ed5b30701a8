import Foundation
import Movies

/// A client under measurement. Each function makes one call.
protocol Peer: Sendable {
    /// Gets the page and returns the number of received bytes.
    func bytes() async throws -> Int
    /// Gets the page, decoded.
    func page() async throws -> MoviePage
    /// Gets the page in the same way and returns it for comparison with the server's file.
    func data() async throws -> Data
    /// The executor for tasks that make these calls, or nil for Swift's own threads.
    var executor: (any TaskExecutor)? { get }
}

extension Peer {
    var executor: (any TaskExecutor)? { nil }
}

/// The settings that all peers share.
struct PeerSettings: Sendable {
    /// The maximum number of connections, by default the number of requests in flight.
    let connections: Int
    /// The authority that signed the server's certificate, or nil without TLS.
    let authority: URL?
    /// Whether the client offers only HTTP/1.1.
    let isHTTP1: Bool
    /// The JSON that each call posts, or nil for GET.
    let posted: Data?
}

/// The response differs from the expected one.
struct UnexpectedAnswer: Error, CustomStringConvertible {
    let description: String

    static func status(_ status: Int) -> UnexpectedAnswer { UnexpectedAnswer(description: "the status is \(status)") }
}
