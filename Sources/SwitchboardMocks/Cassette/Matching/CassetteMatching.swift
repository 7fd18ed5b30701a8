import Foundation
import Switchboard

extension Cassette {
    /// Which entry answers which request: one for which every rule holds.
    ///
    /// ```swift
    /// let cassette = try Cassette(file: file, matching: [.method, .host, .path, .header("Accept")])
    /// ```
    ///
    /// Request and entry are compared with their secrets replaced, so a live token equals the masked one. Where an
    /// entry has a mask, because a secret stood there, anything matches; entries that match to the letter go before.
    public struct Matching: Sendable, ExpressibleByArrayLiteral {
        let rules: [Rule]

        /// Method, URL and body.
        public static let standard: Matching = [.method, .url, .body]

        /// These rules, all of which have to hold. None at all plays the entries in their order.
        public init(_ rules: [Rule]) {
            self.rules = rules
        }

        /// These rules, all of which have to hold.
        public init(arrayLiteral elements: Rule...) {
            self.init(elements)
        }

        /// These rules and more.
        public func adding(_ more: Rule...) -> Matching {
            Matching(rules + more)
        }

        func matches(_ live: ComparedRequest, _ recorded: ComparedRequest, _ comparison: Comparison) -> Bool {
            rules.allSatisfy { $0.differences(live, recorded, comparison).isEmpty }
        }

        func differences(
            _ live: ComparedRequest, _ recorded: ComparedRequest, _ comparison: Comparison
        ) -> [String] {
            rules.flatMap { $0.differences(live, recorded, comparison) }
        }
    }

    /// What has to be equal for an entry to answer a request; see ``Matching``.
    public struct Rule: Sendable {
        let differences: @Sendable (ComparedRequest, ComparedRequest, Comparison) -> [String]

        /// The method.
        public static let method = Rule { live, recorded, _ in
            live.method == recorded.method ? [] : ["method: \(live.method), recorded \(recorded.method)"]
        }

        /// Scheme, host, port, path and query: ``host``, ``path`` and ``query``. User, password and fragment are left
        /// out.
        public static let url = Rule { live, recorded, comparison in
            [host, path, query].flatMap { $0.differences(live, recorded, comparison) }
        }

        /// Scheme, host and port.
        public static let host = Rule { live, recorded, comparison in
            comparison.difference("host", live.origin, recorded.origin).map { [$0] } ?? []
        }

        /// The path as it is sent, escapes included; none is `/`.
        public static let path = Rule { live, recorded, comparison in
            comparison.difference("path", live.path, recorded.path).map { [$0] } ?? []
        }

        /// The query's names and values, decoded. Their order counts among the values of one name only.
        public static let query = Rule { live, recorded, comparison in
            comparison.differences("query", live.query, recorded.query)
        }

        /// The body: JSON objects and lists as values, forms as pairs like ``query``, `multipart` without its boundary,
        /// anything else byte by byte.
        public static let body = Rule { live, recorded, comparison in
            comparison.differences(ofBody: live, recorded)
        }

        /// A header field that the request has set, repeats joined; fields that the transport adds were not recorded.
        public static func header(_ name: String) -> Rule {
            Rule { live, recorded, comparison in
                comparison.difference("header \(name)", live.headers[name], recorded.headers[name]).map { [$0] } ?? []
            }
        }

        /// A rule of your own.
        ///
        /// - Parameters:
        ///   - name: What a failure calls it.
        ///   - matches: Whether the live request, the first one, and the recorded one are equal. Both have their
        ///     secrets replaced and their bodies as ``/Switchboard/DataBody``. Called often, and concurrently.
        /// - Returns: The rule.
        public static func custom(
            _ name: String, _ matches: @escaping @Sendable (NetworkRequest, NetworkRequest) -> Bool
        ) -> Rule {
            Rule { live, recorded, _ in matches(live.request, recorded.request) ? [] : ["\(name): differs"] }
        }
    }
}
