import Foundation
import Movies
import Switchboard

/// The sessions under measurement, by name.
enum Sessions {
    static func make(_ name: String, _ settings: PeerSettings) throws -> any NetworkSession {
        var configuration = SessionConfiguration(maximumConnectionsPerHost: settings.connections)
        if let authority = settings.authority { configuration.tls.extraAuthorities = [.file(authority)] }
        switch name {
        case "curl":
            if settings.isHTTP1 { configuration.httpVersion = .http1 }
            return CurlSession(configuration: configuration)
        case "foundation":
            return FoundationSession(configuration: configuration)
        default: throw UsageError(text: "unknown session: \(name)")
        }
    }
}
