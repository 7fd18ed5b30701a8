import Foundation
import Switchboard
import SwitchboardText

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
/// and so are scheme and host in front of the path. A user before the host and a fragment are ignored. The request may have
/// additional query items and header fields.
public struct RequestMatcher: Sendable {
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
        let path = path.asSent
        let words = path == "**" ? "\(method)" : "\(method) \(path.prefix(before: .questionMark))"
        let matcher = any.adding(words) { request in
            request.method == method ? nil : "the method is \(request.method)"
        }
        return matcher.at(path, words: nil)
    }

    /// Creates a matcher for any method, at that path.
    public static func path(_ path: String) -> RequestMatcher {
        let path = path.asSent
        return any.at(path, words: "path \(path.prefix(before: .questionMark))")
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

extension RequestMatcher {
    /// Adds a condition: a query item with that name and value, both decoded. One value of a repeated item is enough.
    public func query(_ name: String, _ value: String) -> RequestMatcher {
        adding("query \(MessageText.pair(name, value))") { request in
            let item = URLQueryItem(name: name, value: value)
            return request.queryItems.contains(where: item.hasBytes)
                ? nil : MessageText.missing(item, in: request.queryItems)
        }
    }

    /// Adds a condition: a query item with that name, whatever its value.
    public func query(_ name: String) -> RequestMatcher {
        adding("query \(name)") { request in
            request.queryItems.contains { $0.name.hasBytes(of: name) } ? nil : "there is no query item \(name)"
        }
    }

    /// Adds a condition: no query item with that name.
    public func withoutQuery(_ name: String) -> RequestMatcher {
        adding("no query \(name)") { request in
            request.queryItems.contains { $0.name.hasBytes(of: name) } ? "there is a query item \(name)" : nil
        }
    }

    /// Adds a condition: that host, and port if one is given: `example.com`, `127.0.0.1:8080`. A request without a port
    /// has the default one of its scheme.
    public func host(_ host: String) -> RequestMatcher {
        let host = host.withoutUnicode
        let hasPort = host != host.withoutPort
        return adding("host \(host)") { request in
            let sent = request.authority
            var name = sent
            if !hasPort {
                name = sent.withoutPort
            } else if sent == sent.withoutPort {
                name += request.scheme == "https" ? ":443" : ":80"
            }
            return name.lowercased() == host.lowercased() ? nil : "the host is \(sent)"
        }
    }

    /// Adds conditions for the parts of a URL: scheme, host, path and query items. `words` describe the condition of
    /// the path.
    func at(_ text: String, words: String?) -> RequestMatcher {
        var matcher = self
        var text = text[...]
        var path = text.prefix(before: .questionMark)
        if let separator = text.schemeSeparator {
            let scheme = text[..<separator.lowerBound].lowercased()
            let host = text[separator.upperBound...].prefix(before: .slash, .questionMark)
            matcher = matcher.adding("") { request -> String? in
                request.scheme == scheme ? nil : "the scheme is \(request.scheme)"
            }
            matcher = matcher.host(String(host))
            text = text[host.endIndex...]
            path = text.prefix(before: .questionMark)
            if path.isEmpty { path = "/" }
        }
        let query = Substring(text.utf8.drop { $0 != .questionMark }.dropFirst())
        let pattern = PathPattern(path)
        let first = String(path.prefix(before: .slash))
        matcher = matcher.adding(words ?? "") { request -> String? in
            guard !pattern.matches(request.path) else { return nil }
            let isHost = !first.isEmpty && first.lowercased() == request.authority.lowercased()
            return "the path is " + Redaction.standard.url(request.path)
                + (isHost ? "; a host needs a scheme, as in \(request.scheme)://\(first)" : "")
        }
        for item in FormBody.decode(query) {
            if let value = item.value {
                matcher = matcher.query(item.name, value)
            } else {
                matcher = matcher.query(item.name)
            }
        }
        return matcher
    }
}

extension URLQueryItem {
    /// Returns whether name and value have equal bytes. `==` also accepts another encoding of the same character.
    func hasBytes(of other: URLQueryItem) -> Bool {
        name.hasBytes(of: other.name)
            && (value == nil) == (other.value == nil) && (value ?? "").hasBytes(of: other.value ?? "")
    }
}

extension Substring {
    /// The `://` after the scheme of a URL. Nil for a path, which may hold `://` too, as a query may.
    fileprivate var schemeSeparator: Range<Index>? {
        let path = prefix(before: .questionMark)
        return path.schemeMark.flatMap { path[..<$0.lowerBound].utf8.contains(.slash) ? nil : $0 }
    }
}

extension String {
    /// The URL without its fragment, which is not sent, and without user and password, which a request has in a field.
    /// The user in a path is unchanged.
    fileprivate var asSent: String {
        let text = String(prefix(before: .numberSign))
        guard text[...].schemeSeparator != nil, let user = text.userInfo else { return text }
        return String(text[..<user.lowerBound]) + text[user.upperBound...].dropFirst()
    }

    /// The host as URL sends it: with characters beyond ASCII in Punycode.
    fileprivate var withoutUnicode: String {
        guard !utf8.allSatisfy({ $0 < 0x80 }), let url = URL(string: "http://\(self)") else { return self }
        return String(url.absoluteString.dropFirst("http://".count))
    }

    /// The host without its port. An IPv6 address keeps its colons.
    fileprivate var withoutPort: String {
        guard let colon = lastIndex(of: ":"), self[colon...].dropFirst().allSatisfy(\.isNumber) else { return self }
        return String(self[..<colon])
    }
}

/// A path whose segments may be wildcards.
struct PathPattern: Sendable {
    private let segments: [String]

    /// Creates a pattern. An empty text matches any path.
    init(_ text: Substring) {
        let segments = text.isEmpty ? ["**"] : Self.segments(of: text)
        self.segments = text.utf8.first == .slash || segments.first == "**" ? segments : ["**"] + segments
    }

    func matches(_ path: String) -> Bool {
        Self.match(segments[...], Self.segments(of: path[...])[...])
    }

    /// Returns whether a path ends with the segments of another one, which has no wildcards.
    static func ends(_ path: String, with end: Substring) -> Bool {
        let wanted = end.isEmpty ? [] : segments(of: end)
        return segments(of: path[...]).suffix(wanted.count).elementsEqual(wanted) { $0.hasBytes(of: $1) }
    }

    static func areEqual(_ path: String, _ other: String) -> Bool {
        segments(of: path[...]).elementsEqual(segments(of: other[...])) { $0.hasBytes(of: $1) }
    }

    private static func segments(of path: Substring) -> [String] {
        let parts = path.pieces(between: .slash).map(String.init)
        let rest = path.utf8.first == .slash ? parts.dropFirst() : parts[...]
        return rest.map { $0.removingPercentEncoding ?? $0 }
    }

    /// Matches segment by segment. Each `**` takes as few segments as the rest of the pattern allows.
    private static func match(_ pattern: ArraySlice<String>, _ path: ArraySlice<String>) -> Bool {
        guard let first = pattern.first else { return path.isEmpty }
        if first == "**" {
            let rest = pattern.dropFirst()
            guard let next = rest.firstIndex(of: "**") else {
                // The last wildcard takes all segments that the rest of the pattern does not need.
                guard path.count >= rest.count else { return false }
                return match(rest, path.suffix(rest.count))
            }
            let middle = pattern[rest.startIndex..<next]
            guard path.count >= middle.count else { return false }
            for start in path.startIndex...(path.endIndex - middle.count) {
                let end = start + middle.count
                if match(middle, path[start..<end]) { return match(pattern[next...], path[end...]) }
            }
            return false
        }
        guard let segment = path.first, first == "*" || first.hasPrefix(":") || first.hasBytes(of: segment)
        else { return false }
        return match(pattern.dropFirst(), path.dropFirst())
    }
}
