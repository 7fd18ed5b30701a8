import Foundation
import Switchboard

/// The conditions for the requests that a stub answers, all of which must hold.
///
/// ```swift
/// let session = StubSession()
/// session.stub(
///     .get("/3/movie/popular").query("page", "1"), with: .json(page))
/// session.stub(
///     .post("rating").header("X-Client").body(json: #"{"value": 5}"#),
///     with: .status(201))
/// ```
///
/// A path with a leading slash is the whole path; a path without one is its end. `*` and `:name` match one segment,
/// `**` matches any number. Escapes do not matter: `a b` matches `a%20b`. Each query item in the text is a condition,
/// and so are scheme and host in front of the path. The request may have additional query items and header fields.
public struct RequestMatcher: Sendable {
    /// One condition.
    struct Condition: Sendable {
        let words: String
        /// Returns the differences from the condition, empty when it holds.
        let differences: @Sendable (RecordedRequest) -> [String]
    }

    private(set) var conditions: [Condition] = []

    init() {}

    /// Any request.
    public static let any = RequestMatcher()

    /// Creates a matcher for GET, at any path unless one is given.
    public static func get(_ path: String = "**") -> RequestMatcher { method(.get, path) }
    /// Creates a matcher for POST, at any path unless one is given.
    public static func post(_ path: String = "**") -> RequestMatcher { method(.post, path) }
    /// Creates a matcher for PUT, at any path unless one is given.
    public static func put(_ path: String = "**") -> RequestMatcher { method(.put, path) }
    /// Creates a matcher for PATCH, at any path unless one is given.
    public static func patch(_ path: String = "**") -> RequestMatcher { method(.patch, path) }
    /// Creates a matcher for DELETE, at any path unless one is given.
    public static func delete(_ path: String = "**") -> RequestMatcher { method(.delete, path) }
    /// Creates a matcher for HEAD, at any path unless one is given.
    public static func head(_ path: String = "**") -> RequestMatcher { method(.head, path) }

    /// Creates a matcher for a method, at any path unless one is given.
    public static func method(_ method: HTTPMethod, _ path: String = "**") -> RequestMatcher {
        let words = path == "**" ? "\(method)" : "\(method) \(path.prefix { $0 != "?" })"
        let matcher = any.adding(words) { request in
            request.method == method ? nil : "the method is \(request.method)"
        }
        return matcher.at(path, words: nil)
    }

    /// Creates a matcher for any method, at that path.
    public static func path(_ path: String) -> RequestMatcher {
        any.at(path, words: "path \(path.prefix { $0 != "?" })")
    }

    /// Adds a custom condition. `words` describe it when it does not hold.
    public func matching(
        _ words: String, _ condition: @escaping @Sendable (RecordedRequest) -> Bool
    ) -> RequestMatcher {
        adding(words) { condition($0) ? nil : "it is not \(words)" }
    }

    /// Returns the differences between a request and the conditions, empty when it matches.
    public func differences(_ request: RecordedRequest) -> [String] {
        conditions.flatMap { $0.differences(request) }
    }

    /// Returns whether every condition holds.
    public func matches(_ request: RecordedRequest) -> Bool {
        conditions.allSatisfy { $0.differences(request).isEmpty }
    }

    func adding(
        _ words: String, _ difference: @escaping @Sendable (RecordedRequest) -> String?
    ) -> RequestMatcher {
        adding(Condition(words: words) { request in difference(request).map { [$0] } ?? [] })
    }

    func adding(_ condition: Condition) -> RequestMatcher {
        var matcher = self
        matcher.conditions.append(condition)
        return matcher
    }
}

extension RequestMatcher: CustomStringConvertible {
    /// The conditions in the order in which they were added, secrets replaced, or `any request` without one.
    public var description: String {
        let words = conditions.map(\.words).filter { !$0.isEmpty }
        return words.isEmpty ? "any request" : words.joined(separator: ", ")
    }
}
