import Foundation
import Switchboard

extension RecordedRequest {
    /// The path of ``target`` as it was sent, escapes included; empty when a whole URL without a path was asked for.
    public var path: String {
        String(origin.prefix { $0 != "?" })
    }

    /// The query of ``target`` as it was sent, without its question mark; nil when there is no question mark.
    public var query: String? {
        origin.firstIndex(of: "?").map { String(origin[origin.index(after: $0)...]) }
    }

    /// The pairs of ``query`` in order, decoded as servers do: `%20` and `+` are blanks.
    ///
    /// A pair without `=` has the value nil, an empty pair is left out, and what is no valid escape stays as it is.
    public var queryItems: [URLQueryItem] {
        Self.items(of: (query ?? "")[...])
    }

    /// The pairs of a query or a form.
    static func items(of text: Substring) -> [URLQueryItem] {
        text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return URLQueryItem(name: decoded(parts[0]), value: parts.count > 1 ? decoded(parts[1]) : nil)
        }
    }

    /// The value of the first pair of ``queryItems`` with that name.
    public func queryValue(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    /// The URL asked for, put together from `Host` and ``target``; nil when they make none.
    public var url: URL? {
        if target.contains("://"), !target.hasPrefix("/") { return URL(string: target) }
        guard target.hasPrefix("/"), let host = headers["Host"] else { return nil }
        return URL(string: "\(scheme)://\(host)\(target)")
    }

    /// Path and query: of a whole URL what follows its authority.
    private var origin: Substring {
        guard !target.hasPrefix("/"), let authority = target.range(of: "://")?.upperBound else { return target[...] }
        return target[authority...].drop { $0 != "/" && $0 != "?" }
    }

    private static func decoded(_ text: Substring) -> String {
        let text = text.replacingOccurrences(of: "+", with: " ")
        return text.removingPercentEncoding ?? text
    }
}
