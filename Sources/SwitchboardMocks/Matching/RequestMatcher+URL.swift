import Foundation
import Switchboard

extension RequestMatcher {
    /// Adds a condition: a query item with that name and value, both decoded. One value of a repeated item is enough.
    public func query(_ name: String, _ value: String) -> RequestMatcher {
        adding("query \(Shown.pair(name, value))") { request in
            let item = URLQueryItem(name: name, value: value)
            return request.queryItems.contains(item) ? nil : Shown.missing(item, in: request.queryItems)
        }
    }

    /// Adds a condition: a query item with that name, whatever its value.
    public func query(_ name: String) -> RequestMatcher {
        adding("query \(name)") { request in
            request.queryItems.contains { $0.name == name } ? nil : "there is no query item \(name)"
        }
    }

    /// Adds a condition: no query item with that name.
    public func withoutQuery(_ name: String) -> RequestMatcher {
        adding("no query \(name)") { request in
            request.queryItems.contains { $0.name == name } ? "there is a query item \(name)" : nil
        }
    }

    /// Adds a condition: that host, and port if one is given: `example.com`, `127.0.0.1:8080`.
    public func host(_ host: String) -> RequestMatcher {
        adding("host \(host)") { request in
            let sent = request.headers["Host"] ?? ""
            let name = host.contains(":") && !host.hasSuffix("]") ? sent : sent.withoutPort
            return name.lowercased() == host.lowercased() ? nil : "the host is \(sent)"
        }
    }

    /// Adds conditions for the parts of a URL: scheme, host, path and query items. `words` describe the condition of
    /// the path.
    func at(_ text: String, words: String?) -> RequestMatcher {
        var matcher = self
        var text = text[...]
        if let start = text.range(of: "://") {
            let scheme = text[..<start.lowerBound].lowercased()
            let host = text[start.upperBound...].prefix { !"/?#".contains($0) }
            matcher = matcher.adding("") { request -> String? in
                request.scheme == scheme ? nil : "the scheme is \(request.scheme)"
            }
            matcher = matcher.host(String(host))
            text = text[host.endIndex...]
            if text.isEmpty { text = "/" }
        }
        let path = text.prefix { $0 != "?" }
        let query = text[path.endIndex...].dropFirst()
        let pattern = PathPattern(path)
        matcher = matcher.adding(words ?? "") { request -> String? in
            pattern.matches(request.path) ? nil : "the path is " + Redaction.standard.url(request.path)
        }
        for item in RecordedRequest.items(of: query) {
            if let value = item.value {
                matcher = matcher.query(item.name, value)
            } else {
                matcher = matcher.query(item.name)
            }
        }
        return matcher
    }
}

extension String {
    /// The host without its port. An IPv6 address keeps its colons.
    fileprivate var withoutPort: String {
        guard let colon = lastIndex(of: ":"), self[colon...].dropFirst().allSatisfy(\.isNumber) else { return self }
        return String(self[..<colon])
    }
}
