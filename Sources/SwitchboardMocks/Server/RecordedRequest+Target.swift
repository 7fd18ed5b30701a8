import Foundation
import Switchboard

extension RecordedRequest {
    /// The path of ``target`` as it was sent, escapes included. Empty when the target is a whole URL without a path.
    public var path: String {
        String(origin.prefix { $0 != "?" })
    }

    /// The query of ``target`` as it was sent, without its question mark. Nil when the target has no question mark.
    public var query: String? {
        origin.firstIndex(of: "?").map { String(origin[origin.index(after: $0)...]) }
    }

    /// The pairs of ``query`` in order, decoded as servers do: `%20` and `+` become spaces.
    ///
    /// A pair without `=` has the value nil, empty pairs are left out, and an invalid escape stays as it is.
    public var queryItems: [URLQueryItem] {
        Self.items(of: (query ?? "")[...])
    }

    /// Returns the pairs of a query or a form.
    static func items(of text: Substring) -> [URLQueryItem] {
        text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return URLQueryItem(name: decoded(parts[0]), value: parts.count > 1 ? decoded(parts[1]) : nil)
        }
    }

    /// Returns the value of the first pair of ``queryItems`` with that name.
    public func queryValue(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    /// The requested URL, from `Host` and ``target``, or nil when they make no URL.
    public var url: URL? {
        if target.contains("://"), !target.hasPrefix("/") { return URL(string: target) }
        guard target.hasPrefix("/"), let host = headers["Host"] else { return nil }
        return URL(string: "\(scheme)://\(host)\(target)")
    }

    /// Path and query; for a target that is a whole URL, the part behind its authority.
    private var origin: Substring {
        guard !target.hasPrefix("/"), let authority = target.range(of: "://")?.upperBound else { return target[...] }
        return target[authority...].drop { $0 != "/" && $0 != "?" }
    }

    private static func decoded(_ text: Substring) -> String {
        let text = text.replacingOccurrences(of: "+", with: " ")
        return text.removingPercentEncoding ?? text
    }
}
