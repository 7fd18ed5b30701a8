import Foundation
import SwitchboardText

/// Where credentials may be sent.
///
/// ```swift
/// BearerAuth(token, origins: ["https://api.example.com", "https://cdn.example.com:8443"])
/// ```
public struct CredentialOrigins: Sendable, ExpressibleByArrayLiteral {
    private enum Rule: Sendable {
        case asked
        case listed([Origin])
    }

    private struct Origin: Sendable {
        let url: URL
        /// Whether the app named the host alone, perhaps with a port.
        var isHost = false

        /// Whether a URL of the app's own is at this host.
        func isHost(of other: URL) -> Bool {
            guard isHost, let host = url.host, let other = other.host.map({ ($0, other.port) }) else { return false }
            return host.equalsIgnoringCase(other.0) && (url.port == nil || url.port == other.1)
        }
    }

    private let rule: Rule

    private init(_ rule: Rule) {
        self.rule = rule
    }

    /// Wherever the app's own endpoints go, and nowhere that a server leads: not to another origin by a redirect, a link
    /// to the next page or the place of an upload, and not back from there either. The default.
    public static let asked = CredentialOrigins(.asked)

    /// These origins alone, also when a server leads there. Of each URL scheme, host and port count.
    public init(_ urls: [URL]) {
        rule = .listed(urls.map { Origin(url: $0) })
    }

    /// These origins alone, as texts such as `https://api.example.com`.
    ///
    /// A host such as `api.example.com` is https on its default port; and where the app asks that host itself, and no server
    /// led there, the scheme and the port that it asks. What is neither an http or https URL nor a host is nowhere.
    public init(arrayLiteral elements: String...) {
        self.init(hosts: elements)
    }

    /// As ``init(arrayLiteral:)``.
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

    /// Whether the request may carry credentials.
    package func allow(_ request: NetworkRequest) -> Bool {
        guard let url = request.url else { return false }
        switch rule {
        case .asked: return !request.hasLeftOrigin
        case .listed(let origins):
            return origins.contains { url.hasSameOrigin(as: $0.url) || !request.hasLeftOrigin && $0.isHost(of: url) }
        }
    }
}
