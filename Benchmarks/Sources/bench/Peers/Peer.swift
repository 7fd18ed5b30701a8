import Foundation
import Movies

/// A client that is asked for the same again and again. Each of its functions makes one call.
protocol Peer: Sendable {
    /// Gets the page and gives the number of bytes that came.
    func bytes() async throws -> Int
    /// Gets the page, decoded.
    func page() async throws -> MoviePage
    /// Posts a page as JSON and gives the answer.
    func post(_ page: MoviePage, to place: BodyServer) async throws -> Data
    /// Gets the page by the same way, to be compared with what the server has.
    func data() async throws -> Data
    /// Where tasks that call these should run; nil for Swift's own threads.
    var executor: (any TaskExecutor)? { get }
}

extension Peer {
    var executor: (any TaskExecutor)? { nil }
}

/// What all peers are given alike.
struct PeerSettings: Sendable {
    /// The connections that may stand at a time: as many as there are requests in flight.
    let connections: Int
    /// The authority that signed the server's certificate; nil without TLS.
    let authority: URL?
    /// Whether HTTP/2 is not even offered.
    let isHTTP1: Bool
}

/// Where bodies are posted to.
enum BodyServer: String, Sendable {
    /// Answers with the number of bytes that came.
    case take
    /// Sends the bytes back.
    case echo
}

/// The answer was not the one expected.
struct UnexpectedAnswer: Error, CustomStringConvertible {
    let description: String

    static func status(_ status: Int) -> UnexpectedAnswer { UnexpectedAnswer(description: "the status is \(status)") }
}
