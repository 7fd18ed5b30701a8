import Foundation
import Movies

/// A client that gets the same page again and again.
protocol Peer: Sendable {
    /// Gets the page and gives the number of bytes that came. This is what is measured.
    func get() async throws -> Int
    /// Where tasks that call ``get()`` should run; nil for Swift's own threads.
    var executor: (any TaskExecutor)? { get }
    /// Gets the page by the same way, to be compared with what the server has.
    func page() async throws -> Data
}

extension Peer {
    var executor: (any TaskExecutor)? { nil }
}

/// What all peers are given alike.
struct PeerSettings: Sendable {
    /// Where the page is, query included.
    let url: URL
    /// The connections that may stand at a time: as many as there are requests in flight.
    let connections: Int
    /// The authority that signed the server's certificate; nil without TLS.
    let authority: URL?
    /// Whether HTTP/2 is not even offered.
    let isHTTP1: Bool
}

/// The answer was not the page.
struct UnexpectedAnswer: Error, CustomStringConvertible {
    let description: String

    static func status(_ status: Int) -> UnexpectedAnswer { UnexpectedAnswer(description: "the status is \(status)") }
}

enum Peers {
    /// A peer by the name that the tables call it.
    static func make(_ name: String, _ settings: PeerSettings) throws -> any Peer {
        switch name {
        case "urlsession": try URLSessionPeer(settings)
        case "foundation": SessionPeer(try Sessions.make("foundation", settings), settings.url)
        case "curl": SessionPeer(try Sessions.make("curl", settings), settings.url)
        case "curl+executor": SessionPeer(try Sessions.make("curl", settings), settings.url, runsOnSession: true)
        case "router": RouterPeer(try Sessions.make("curl", settings), decodes: false)
        case "router+executor": RouterPeer(try Sessions.make("curl", settings), decodes: false, runsOnSession: true)
        case "router+decode": RouterPeer(try Sessions.make("curl", settings), decodes: true)
        case "ahc": try AsyncHTTPClientPeer(settings)
        case "ahc+executor": try AsyncHTTPClientPeer(settings, runsOnEventLoops: true)
        default: throw UsageError(text: "no such peer: \(name)")
        }
    }
}
