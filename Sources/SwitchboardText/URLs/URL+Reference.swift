import Foundation

extension URL {
    /// Resolves a reference from a server ([RFC 3986 §5.2](https://www.rfc-editor.org/rfc/rfc3986#section-5.2)). Nil if
    /// the result is not a URL.
    package init?(reference: String, relativeTo base: URL?) {
        guard !reference.isEmpty else {
            // An empty reference is the base itself, without its fragment.
            guard let base else { return nil }
            self.init(string: String(base.absoluteString.prefix(before: .numberSign)))
            return
        }
        guard let resolved = URL(string: reference.escapedReference, relativeTo: base)?.absoluteURL,
            resolved.scheme != nil
        else { return nil }
        // Foundation does not remove dot segments from an absolute URL, so this line does (§5.2.4).
        self = URLFault.of(resolved) == nil ? resolved.standardized : resolved
    }

    /// Parses a text of the app as `URL(string:)` does, except that valid escapes stay. `URL(string:)` escapes them a
    /// second time if another character of the same part needs an escape.
    package init?(escapedOnce text: String) {
        self.init(string: text.utf8.contains(.percent) ? text.escapedReference : text)
    }
}

extension String {
    /// The URL or reference with an escape for each character that needs one.
    ///
    /// Servers send unescaped spaces and bytes beyond ASCII. Brackets are allowed only in the host; elsewhere they would
    /// make URL escape everything a second time.
    fileprivate var escapedReference: String {
        let scheme = prefix(before: .slash, .questionMark, .numberSign)
        let slashes = utf8[scheme.endIndex...]
        var rest = startIndex
        // A host follows a scheme, or begins the reference (RFC 3986 §4.2).
        if slashes.starts(with: "//".utf8), scheme.isEmpty || scheme.utf8.last == .colon {
            rest = Substring(slashes.dropFirst(2)).prefix(before: .slash, .questionMark, .numberSign).endIndex
        }
        var escaped: [UInt8] = []
        // URL converts a host beyond ASCII to IDNA, as in an endpoint. Before iOS 17 and macOS 14 it rejects the host.
        escaped.appendEscapedOnce(String(self[..<rest]), allowed: .referenceHost, escapesUnicode: false)
        escaped.appendEscapedOnce(String(self[rest...]), allowed: .reference)
        return String(decoding: escaped, as: UTF8.self)
    }
}

extension URL {
    /// Resolves a `Location` ([RFC 3986 §5.2](https://www.rfc-editor.org/rfc/rfc3986#section-5.2)). Treats unusual
    /// slashes, spaces and control characters like browsers ([URL §4.4](https://url.spec.whatwg.org/#url-parsing)):
    /// `///host` and `\\host` become `//host`. Nil if the result is not a URL. `http:/host`, which programs read in
    /// several ways, becomes a URL without a host, which ``URLFault`` rejects.
    package init?(location: String, relativeTo base: URL?) {
        var text = location.utf8.filter { $0 != 0x09 && $0 != .lineFeed && $0 != .carriageReturn }.drop { $0 <= 0x20 }
        while let last = text.last, last <= 0x20 { text.removeLast() }
        let end = text.firstIndex { $0 == .questionMark || $0 == .numberSign } ?? text.endIndex
        var head = text[..<end].map { $0 == .backslash ? UInt8.slash : $0 }[...]
        let scheme = head.prefix(head.starts(withLowercase: "https:") ? 6 : head.starts(withLowercase: "http:") ? 5 : 0)
        head = head.dropFirst(scheme.count)
        if head.starts(with: "//".utf8) {
            head = head.drop { $0 == .slash }
            guard !head.isEmpty else { return nil }
            head = "//".utf8 + head
        }
        self.init(reference: String(decoding: scheme + head + text[end...], as: UTF8.self), relativeTo: base)
    }
}

extension ASCIISet {
    fileprivate static let reference = query.union(ASCIISet("#"))
    fileprivate static let referenceHost = reference.union(ASCIISet("[]"))
}

extension URL {
    /// The URL without the user information before its host, and that information as the value of an
    /// `Authorization` field ([RFC 7617 §2](https://www.rfc-editor.org/rfc/rfc7617#section-2)), or nil without one.
    package var withoutUserInfo: (url: URL, authorization: String?) {
        let text = absoluteString
        guard let user = text.userInfo,
            let bare = URL(string: String(text[..<user.lowerBound]) + text[user.upperBound...].dropFirst())
        else { return (self, nil) }
        let parts = text[user].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.removingPercentEncoding ?? String($0) }
        return (bare, .basicAuthorization(parts[0], parts.count == 2 ? parts[1] : ""))
    }

    /// Returns the URL with the user information of another one, unless it has its own.
    package func withUserInfo(of other: URL) -> URL {
        let (text, otherText) = (absoluteString, other.absoluteString)
        guard let user = otherText.userInfo, text.userInfo == nil, let start = text.schemeMark?.upperBound else {
            return self
        }
        return URL(string: "\(text[..<start])\(otherText[user])@\(text[start...])") ?? self
    }
}

extension String {
    /// Returns the value of an `Authorization` field for a user and a password.
    package static func basicAuthorization(_ user: String, _ password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}

extension StringProtocol {
    /// The range of the first `://` of a URL's text, in bytes: a slash with a combining mark is another character.
    package var schemeMark: Range<Index>? { utf8.firstRange(of: "://".utf8) }
}

extension String {
    /// Whether the text begins with a scheme, as opposed to a path or a query that contains a URL.
    package var hasOrigin: Bool {
        var text = self
        return text.withUTF8 { bytes in
            let end = bytes.firstIndex { $0 == .colon || $0 == .slash || $0 == .questionMark || $0 == .numberSign }
            return end.map { bytes[$0...].starts(with: "://".utf8) } ?? false
        }
    }

    /// Whether the text of a URL contains an at sign, which separates user information and host.
    package var containsAtSign: Bool {
        var text = self
        return text.withUTF8 { $0.firstIndex(ofByte: UInt8(ascii: "@")) != nil }
    }

    /// The range of the user information in a URL's text, without the `@` after it. Nil without one.
    package var userInfo: Range<Index>? {
        guard containsAtSign, let start = schemeMark?.upperBound else { return nil }
        let authority = utf8[start...].prefix { $0 != .slash && $0 != .questionMark && $0 != .numberSign }
        return authority.lastIndex(of: UInt8(ascii: "@")).map { start..<$0 }
    }
}
