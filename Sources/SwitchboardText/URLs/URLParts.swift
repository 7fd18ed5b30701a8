import Foundation

/// The parts of a URL, which can be set in any order.
package struct URLParts: Sendable {
    package var scheme = "https"
    package var host = ""
    package var port: Int?
    package var path = "" {
        didSet { setsEscapedDots = path.utf8.split(separator: .slash).contains(where: \.isEscapedDots) }
    }
    package var query: String?
    /// Whether the path was set and has a segment of escaped dots. A path that was split from a URL may have one.
    private var setsEscapedDots = false
    private var user: String?
    private var fragment: String?

    /// Splits a URL. Nil makes `https` and empty parts.
    package init(_ url: URL?) {
        self.init(url?.absoluteString ?? "")
    }

    /// Splits the text of a URL ([RFC 3986, appendix B](https://www.rfc-editor.org/rfc/rfc3986#appendix-B)).
    package init(_ text: String) {
        var rest = text[...]
        if let hash = rest.utf8.firstIndex(of: .numberSign) {
            fragment = String(rest[rest.utf8.index(after: hash)...])
            rest = rest[..<hash]
        }
        if let question = rest.utf8.firstIndex(of: .questionMark) {
            query = String(rest[rest.utf8.index(after: question)...])
            rest = rest[..<question]
        }
        if let range = rest.schemeMark {
            scheme = String(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
            let slash = rest.utf8.firstIndex(of: .slash) ?? rest.endIndex
            path = String(rest[slash...])
            setAuthority(rest[..<slash])
        } else {
            path = String(rest)
        }
    }

    /// Sets the host. Another host removes the user information.
    package mutating func setHost(_ host: String) {
        if !host.hasBytes(of: self.host) { user = nil }
        self.host = host
    }

    private mutating func setAuthority(_ text: Substring) {
        var text = text
        if let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) {
            user = String(text[..<at])
            text = text[text.utf8.index(after: at)...]
        }
        if text.utf8.last != .rightBracket, let colon = text.utf8.lastIndex(of: .colon) {
            port = Int(text[text.utf8.index(after: colon)...])  // nil, the scheme's default, for an empty port
            text = text[..<colon]
        }
        host = String(text)
    }

    /// The reason why the parts form no URL, such as "the host "" is empty". Nil if all parts are valid.
    package var fault: String? {
        func message(_ part: String, _ value: String, _ why: String) -> String {
            "the \(part) \(value.quotedForMessage) \(why)"
        }
        guard scheme.lowercased() == "http" || scheme.lowercased() == "https" else {
            return message("scheme", scheme, "is neither http nor https")
        }
        let isBracketed = host.utf8.first == .leftBracket && host.utf8.last == .rightBracket
        let bare = isBracketed ? host.unicodeScalars.dropFirst().dropLast() : host.unicodeScalars[...]
        guard !bare.isEmpty else { return message("host", host, "is empty") }
        guard bare.allSatisfy({ Self.isHostScalar($0, inBrackets: isBracketed) }) else {
            return message("host", host, "contains a character that a host may not have")
        }
        if let port, !(0...65_535).contains(port) {
            return message("port", String(port), "is not between 0 and 65535")
        }
        for (name, text) in [("path", path), ("query", query ?? "")] where text.utf8.contains(where: \.breaksHead) {
            return message(name, text, "contains a control character")
        }
        if setsEscapedDots { return message("path", path, "has a segment of escaped dots") }
        return nil
    }

    package var text: String {
        var path: [UInt8] = []
        path.appendEscapedOnce(self.path, allowed: .path)
        if !path.isEmpty, path.first != .slash { path.insert(.slash, at: 0) }
        var query: [UInt8] = []
        query.appendEscapedOnce(self.query ?? "", allowed: .query)
        return scheme + "://" + (user.map { $0 + "@" } ?? "") + host + (port.map { ":\($0)" } ?? "")
            + String(decoding: path, as: UTF8.self)
            + (self.query == nil ? "" : "?" + String(decoding: query, as: UTF8.self))
            + (fragment.map { "#" + $0 } ?? "")
    }

    private static func isHostScalar(_ scalar: Unicode.Scalar, inBrackets: Bool) -> Bool {
        // URL converts a name beyond ASCII to IDNA, from iOS 17 and macOS 14 on.
        guard scalar.isASCII else { return !scalar.properties.isWhitespace }
        let byte = UInt8(scalar.value)
        // A percent sign begins the zone of an address. In a name, `URLFault` refuses it too.
        return ASCIISet.hostName.contains(byte) || inBrackets && (byte == .colon || byte == .percent)
    }
}

extension ASCIISet {
    /// The unreserved characters and the `sub-delims` of a host ([RFC 3986
    /// §3.2.2](https://www.rfc-editor.org/rfc/rfc3986#section-3.2.2)).
    fileprivate static let hostName = unreserved.union(ASCIISet("!$&'()*+,;="))
}
