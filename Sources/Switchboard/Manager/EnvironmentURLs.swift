import Foundation

/// The base URL of an API in each environment.
///
/// ```swift
/// static let servers: EnvironmentURLs = [
///     .production: "https://api.example.com/3/", .staging: "https://staging.example.com/3/",
/// ]
/// ```
///
/// A text that is no URL is found out when it is asked for, as an error, not when the literal is made.
public struct EnvironmentURLs: Sendable, ExpressibleByDictionaryLiteral {
    private var texts: [NetworkEnvironment: String]

    /// Makes the table. Of repeated environments the last one stays.
    public init(_ texts: [NetworkEnvironment: String]) {
        self.texts = texts
    }

    /// Makes the table. Of repeated environments the last one stays.
    public init(dictionaryLiteral elements: (NetworkEnvironment, String)...) {
        texts = Dictionary(elements) { $1 }
    }

    /// The text for an environment, or nil when there is none.
    public subscript(environment: NetworkEnvironment) -> String? {
        get { texts[environment] }
        set { texts[environment] = newValue }
    }

    /// The base URL in an environment.
    ///
    /// - Throws: ``NetworkError/Code/unknownEnvironment`` when the table has none, ``NetworkError/Code/invalidRequest``
    ///   when what it has is no http or https URL with a host. The reason names the environment and the text.
    public func url(in environment: NetworkEnvironment) throws(NetworkError) -> URL {
        guard let text = texts[environment] else {
            let known = texts.keys.map(\.name).sorted().joined(separator: ", ")
            throw NetworkError(
                .unknownEnvironment,
                reason: "\(environment.name.quotedForMessage) is not one of: \(known.isEmpty ? "none" : known)")
        }
        guard let url = URL(string: text) else { throw refusal(text, environment, "is not a URL") }
        if let fault = URLText.fault(of: url) { throw refusal(text, environment, fault) }
        return url
    }

    private func refusal(_ text: String, _ environment: NetworkEnvironment, _ why: String) -> NetworkError {
        NetworkError(
            .invalidRequest,
            reason:
                "the base URL \(Redaction.standard.url(text).quotedForMessage) for the environment \(environment.name) \(why)"
        )
    }
}

extension EnvironmentURLs: CustomStringConvertible, CustomReflectable {
    /// A line for each environment, secrets replaced.
    public var description: String {
        texts.map { "\($0.key): \(Redaction.standard.url($0.value))" }.sorted().joined(separator: "\n")
    }

    /// Shows the redacted lines only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
