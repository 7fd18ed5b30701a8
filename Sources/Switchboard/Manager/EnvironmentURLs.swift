import Foundation
import SwitchboardText

/// The base URL of an API in each environment.
///
/// ```swift
/// enum ClipApi: EndPointType {
///     case newest
///     static let servers: EnvironmentURLs = [
///         .production: "https://api.example.com/3/",
///         .staging: "https://staging.example.com/3/",
///     ]
///     var baseURL: URL {
///         get throws { try Self.servers.url(in: .current) }
///     }
///     var path: String { "clips" }
/// }
/// ```
///
/// An invalid text throws when its URL is requested, not when the literal is created.
public struct EnvironmentURLs: Sendable, ExpressibleByDictionaryLiteral {
    /// A text and its URL, which is parsed once because every request reads it.
    private struct Entry: Sendable {
        /// The environment, or nil for all of them.
        let environment: NetworkEnvironment?
        let text: String
        let url: Result<URL, NetworkError>

        init(_ environment: NetworkEnvironment?, _ text: String) {
            self.environment = environment
            self.text = text
            // The URL may contain escapes that the text does not.
            let parsed = URL(escapedOnce: text)
            if let parsed, URLFault.of(parsed) == nil {
                url = .success(parsed)
            } else {
                let fault = URLFault.of(text) ?? parsed.flatMap { URLFault.of($0) } ?? "is not a URL"
                let scope = environment.map { " for the environment \($0.name)" } ?? ""
                url = .failure(
                    NetworkError(
                        .invalidRequest, reason: "the base URL \(text.quotedURLForMessage)\(scope) \(fault)"))
            }
        }
    }

    private var entries: [Entry] = []

    /// Creates the table.
    public init(_ texts: [NetworkEnvironment: String]) {
        for (environment, text) in texts { self[environment] = text }
    }

    /// Creates the table. If an environment is repeated, its last entry is used.
    public init(dictionaryLiteral elements: (NetworkEnvironment, String)...) {
        for (environment, text) in elements { self[environment] = text }
    }

    /// Creates the table of an API with one base URL in all environments.
    init(everywhere text: String) {
        entries = [Entry(nil, text)]
    }

    /// The text for an environment, or nil when the table has none.
    public subscript(environment: NetworkEnvironment) -> String? {
        get { index(of: environment).map { entries[$0].text } }
        set {
            entries.removeAll { $0.environment == environment }
            // Before the entry for all environments.
            if let newValue { entries.insert(Entry(environment, newValue), at: 0) }
        }
    }

    /// Returns the base URL in an environment.
    ///
    /// - Throws: ``NetworkError/Code/unknownEnvironment`` when the table has no entry for it,
    ///   ``NetworkError/Code/invalidRequest`` when the entry is not an http or https URL with a host. The reason names
    ///   the environment and the text.
    public func url(in environment: NetworkEnvironment) throws(NetworkError) -> URL {
        guard let index = index(of: environment) else {
            let known = entries.compactMap(\.environment?.name).sorted().joined(separator: ", ")
            throw NetworkError(
                .unknownEnvironment,
                reason: "the environment \(environment.name.quotedForMessage) has no server; "
                    + (known.isEmpty ? "no environment has one" : "there are servers for \(known)"))
        }
        return try entries[index].url.get()
    }

    private func index(of environment: NetworkEnvironment) -> Int? {
        entries.firstIndex { $0.environment == nil || $0.environment == environment }
    }
}

extension EnvironmentURLs: DumpedAsDescription {
    /// One line for each environment, with secrets replaced.
    public var description: String {
        entries.map { "\($0.environment?.name ?? "every environment"): \(Redaction.standard.url($0.text))" }.sorted()
            .joined(separator: "\n")
    }
}
