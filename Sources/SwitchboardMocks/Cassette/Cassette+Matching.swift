import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardText

extension Cassette {
    /// The rules that choose the entry for a request. Every rule must hold.
    ///
    /// ```swift
    /// let cassette = try Cassette(
    ///     file: file, matching: [.method, .host, .path, .header("Accept")])
    /// ```
    ///
    /// Secrets are replaced in request and entry before they are compared, so a live token equals the masked one. A
    /// mask in an entry matches any text, because it replaced a secret. Exact matches come first.
    public struct Matching: Sendable, ExpressibleByArrayLiteral {
        let rules: [Rule]

        /// Method, URL, `Range` and body.
        public static let standard: Matching = [.method, .url, .header("Range"), .body]

        /// Creates a matching from rules, all of which must hold. Without rules the entries play in their order.
        public init(_ rules: [Rule]) {
            self.rules = rules
        }

        /// Creates a matching from rules, all of which must hold.
        public init(arrayLiteral elements: Rule...) {
            self.init(elements)
        }

        /// Returns these rules and more.
        public func adding(_ more: Rule...) -> Matching {
            Matching(rules + more)
        }

        /// Returns the parts that exact matches have in common.
        func key(of request: ComparedRequest) -> [String?] { rules.flatMap { $0.key(request) } }

        func matches(_ live: ComparedRequest, _ recorded: ComparedRequest, _ comparison: Comparison) -> Bool {
            rules.allSatisfy { $0.differences(live, recorded, comparison).isEmpty }
        }

        func differences(
            _ live: ComparedRequest, _ recorded: ComparedRequest, _ comparison: Comparison
        ) -> [String] {
            rules.flatMap { $0.differences(live, recorded, comparison) }
        }
    }

    /// A condition for an entry to answer a request; see ``Matching``.
    public struct Rule: Sendable {
        let differences: @Sendable (ComparedRequest, ComparedRequest, Comparison) -> [String]
        /// Returns the parts of a request that are equal in each exact match.
        var key: @Sendable (ComparedRequest) -> [String?] = { _ in [] }

        /// The method.
        public static let method = Rule { live, recorded, _ in
            live.method == recorded.method ? [] : ["method: \(live.method), recorded \(recorded.method)"]
        } key: {
            [$0.method]
        }

        /// Scheme, host, port, path and query: ``host``, ``path`` and ``query``. User, password and fragment are
        /// ignored.
        public static let url = Rule { live, recorded, comparison in
            [host, path, query].flatMap { $0.differences(live, recorded, comparison) }
        } key: { request in
            [host, path, query].flatMap { $0.key(request) }
        }

        /// Scheme, host and port.
        public static let host = text("host") { $0.origin }

        /// The path as it is sent, escapes included. An empty path is `/`.
        public static let path = text("path") { $0.path }

        /// The query's names and values, decoded. Only the order among values of the same name counts.
        public static let query = Rule { live, recorded, comparison in
            comparison.differences("query", live.query, recorded.query)
        } key: { request in
            request.query.sorted(byName: \.name).flatMap { [$0.name, $0.value] }
        }

        /// The body. JSON objects and lists are compared as values, forms as pairs like ``query``, `multipart` without
        /// its boundary, and any other body byte by byte.
        public static let body = Rule { live, recorded, comparison in
            comparison.differences(ofBody: live, recorded)
        }

        /// Compares a header field that the request sets, repeats joined. Fields that the transport adds are not
        /// recorded.
        public static func header(_ name: String) -> Rule { text("header \(name)") { $0.headers[name] } }

        /// Creates a custom rule.
        ///
        /// - Parameters:
        ///   - name: The rule's name in failures.
        ///   - matches: Returns whether the live request, the first argument, and the recorded one are equal. Both have
        ///     their secrets replaced and their bodies as ``/Switchboard/DataBody``. Called often, and concurrently.
        /// - Returns: The rule.
        public static func custom(
            _ name: String, _ matches: @escaping @Sendable (NetworkRequest, NetworkRequest) -> Bool
        ) -> Rule {
            Rule { live, recorded, _ in matches(live.request, recorded.request) ? [] : ["\(name): differs"] }
        }

        private static func text(_ name: String, _ text: @escaping @Sendable (ComparedRequest) -> String?) -> Rule {
            Rule { live, recorded, comparison in
                comparison.differences(name, text(live), text(recorded))
            } key: {
                [text($0)]
            }
        }
    }
}
