import Foundation

/// Where credentials may be sent.
///
/// ```swift
/// BearerAuth(token, origins: ["https://api.example.com", "https://cdn.example.com:8443"])
/// ```
public struct CredentialOrigins: Sendable, ExpressibleByArrayLiteral {
    private enum Rule: Sendable {
        case asked
        case listed([URL])
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
        rule = .listed(urls)
    }

    /// These origins alone, as texts such as `https://api.example.com`. One that is no http or https URL is nowhere.
    public init(arrayLiteral elements: String...) {
        self.init(elements.compactMap { URL(string: $0) }.filter { URLText.fault(of: $0) == nil })
    }

    /// Whether the request may carry credentials.
    func allow(_ request: NetworkRequest) -> Bool {
        guard let url = request.url else { return false }
        switch rule {
        case .asked: return !request.hasLeftOrigin
        case .listed(let urls): return urls.contains { url.hasSameOrigin(as: $0) }
        }
    }
}
