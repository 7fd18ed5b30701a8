import Foundation
import Switchboard

/// Which requests a stub answers: conditions that must all hold.
///
/// ```swift
/// session.stub(.get("/3/movie/popular").query("page", "1"), with: .json(page))
/// session.stub(.post("rating").header("X-Client").body(json: #"{"value": 5}"#), with: .status(201))
/// ```
///
/// A path with a slash in front is the whole path, one without is its end. `*` and `:name` stand for one segment, `**`
/// for any number of them; escapes do not matter: `a b` is `a%20b`. A query in the text is a condition for each of its
/// items, and a scheme and host in front are conditions too. The request may have more query items and header fields
/// than are asked for.
public struct RequestMatcher: Sendable {
    /// One thing that must hold.
    struct Condition: Sendable {
        let words: String
        /// What is different; empty when nothing is.
        let differences: @Sendable (RecordedRequest) -> [String]
    }

    private(set) var conditions: [Condition] = []

    init() {}

    /// Any request at all.
    public static let any = RequestMatcher()

    /// GET, at any path unless one is given.
    public static func get(_ path: String = "**") -> RequestMatcher { method(.get, path) }
    /// POST, at any path unless one is given.
    public static func post(_ path: String = "**") -> RequestMatcher { method(.post, path) }
    /// PUT, at any path unless one is given.
    public static func put(_ path: String = "**") -> RequestMatcher { method(.put, path) }
    /// PATCH, at any path unless one is given.
    public static func patch(_ path: String = "**") -> RequestMatcher { method(.patch, path) }
    /// DELETE, at any path unless one is given.
    public static func delete(_ path: String = "**") -> RequestMatcher { method(.delete, path) }
    /// HEAD, at any path unless one is given.
    public static func head(_ path: String = "**") -> RequestMatcher { method(.head, path) }

    /// A method, at any path unless one is given.
    public static func method(_ method: HTTPMethod, _ path: String = "**") -> RequestMatcher {
        let words = path == "**" ? "\(method)" : "\(method) \(path.prefix { $0 != "?" })"
        let matcher = any.adding(words) { request in
            request.method == method ? nil : "the method is \(request.method)"
        }
        return matcher.at(path, words: nil)
    }

    /// Any method, at that path.
    public static func path(_ path: String) -> RequestMatcher {
        any.at(path, words: "path \(path.prefix { $0 != "?" })")
    }

    /// With a condition of your own, which calls itself `words` when it does not hold.
    public func matching(
        _ words: String, _ condition: @escaping @Sendable (RecordedRequest) -> Bool
    ) -> RequestMatcher {
        adding(words) { condition($0) ? nil : "it is not \(words)" }
    }

    /// The differences between a request and what is asked for; none when it matches.
    public func differences(_ request: RecordedRequest) -> [String] {
        conditions.flatMap { $0.differences(request) }
    }

    /// Whether every condition holds.
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
    /// The conditions in the order in which they were made, secrets replaced; `any request` without one.
    public var description: String {
        let words = conditions.map(\.words).filter { !$0.isEmpty }
        return words.isEmpty ? "any request" : words.joined(separator: ", ")
    }
}
