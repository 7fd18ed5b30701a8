import Foundation
import SwitchboardText

/// The origins that credentials may be sent to.
///
/// ```swift
/// BearerAuth(
///     "token",
///     origins: [
///         "https://api.example.com",
///         "https://cdn.example.com:8443",
///     ])
/// ```
public struct CredentialOrigins: Sendable, ExpressibleByArrayLiteral {
    private enum Rule: Sendable {
        case asked
        case listed([Origin])
    }

    private struct Origin: Sendable {
        let url: URL
        /// Whether the app gave only the host, with or without a port.
        var isHost = false

        /// Returns whether a URL that the app chose is at this host.
        func isHost(of other: URL) -> Bool {
            guard isHost, let host = url.host, let other = other.host.map({ ($0, other.port) }) else { return false }
            return host.equalsIgnoringCase(other.0) && (url.port == nil || url.port == other.1)
        }
    }

    private let rule: Rule

    private init(_ rule: Rule) {
        self.rule = rule
    }

    /// The origins of the app's own endpoints. The default. Credentials never go where only a server leads: to another
    /// origin by a redirect, to a link to the next page, or to the location of an upload. They are not sent again when
    /// such a request returns to the first origin.
    public static let asked = CredentialOrigins(.asked)

    /// Creates a list of the only origins allowed, even when a server leads there. Of each URL, the scheme, host and
    /// port count.
    public init(_ urls: [URL]) {
        rule = .listed(urls.map { Origin(url: $0) })
    }

    /// Creates a list of the only origins allowed, as texts such as `https://api.example.com`.
    ///
    /// A host such as `api.example.com` means https on its default port. If the app itself requests that host, and no
    /// server led there, every scheme and port is allowed, unless the text names a port. A text that is neither an http
    /// or https URL nor a host allows nothing.
    public init(arrayLiteral elements: String...) {
        self.init(hosts: elements)
    }

    /// Creates the list as ``init(arrayLiteral:)`` does.
    package init(hosts: [String]) {
        rule = .listed(
            hosts.compactMap { text in
                let isHost = !text.contains("://")
                guard let url = URL(string: isHost ? "https://" + text : text), URLFault.of(url) == nil else {
                    return nil
                }
                return Origin(url: url, isHost: isHost)
            })
    }

    /// Returns whether the request may carry credentials.
    package func allow(_ request: NetworkRequest) -> Bool {
        guard let url = request.url else { return false }
        switch rule {
        case .asked: return !request.hasLeftOrigin
        case .listed(let origins):
            return origins.contains { url.hasSameOrigin(as: $0.url) || !request.hasLeftOrigin && $0.isHost(of: url) }
        }
    }
}
