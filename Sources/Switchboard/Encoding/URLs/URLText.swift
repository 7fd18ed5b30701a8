import SwitchboardPlatform
import Foundation
import SwitchboardText

/// A URL as bytes while it is being built. Base, path and query are joined and encoded in one pass, and parsed once at
/// the end.
///
/// `URLComponents` would decode and encode every part again, which costs more and changes text that was already
/// correct.
package struct URLText {
    private var bytes: [UInt8]
    private var hasQuery: Bool
    /// `#` and the text after it. It is never sent, but a URL without parameters must stay unchanged.
    private let fragment: [UInt8]

    package init(_ base: URL) throws(NetworkError) {
        try Self.check(base)
        var text = base.absoluteString
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 96)
        (hasQuery, fragment) = text.withUTF8 { text in
            let hash = text.firstIndex(ofByte: .numberSign) ?? text.count
            bytes += text[..<hash]
            return ((text.firstIndex(ofByte: .questionMark) ?? hash) < hash, Array(text[hash...]))
        }
        self.bytes = bytes
    }

    /// Joins a path by exactly one slash. An empty path changes nothing.
    ///
    /// The path is text: characters that a path cannot contain are escaped, and a valid `%XX` stays. Text after `?` is
    /// a query, which is appended to the base's query. A segment that is an escaped `.` or `..` is refused, because
    /// servers treat `%2E%2E` like `..` ([RFC 3986
    /// §6.2.2.2](https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2.2)): such a value could leave its path.
    mutating func append(path: String) throws(NetworkError) {
        guard !path.isEmpty else { return }
        var path = path
        guard let fault = path.withUTF8({ append(path: $0) }) else { return }
        throw NetworkError(
            .invalidRequest, reason: "the path \(path.quotedURLForMessage) \(fault)")
    }

    /// Appends a path. Returns the reason if the path is invalid, or else nil.
    private mutating func append(path: UnsafeBufferPointer<UInt8>) -> String? {
        let allowed = ASCIISet.path  // it has no question mark, percent sign or control character
        if path.allSatisfy({ allowed.contains($0) }) {
            insert(path: path)
            return nil
        }
        var question = path.count
        var hasEscapes = false
        for (index, byte) in path.enumerated() {
            if byte.breaksHead { return "contains \(byte.nameForMessage)" }
            guard question == path.count else { continue }
            if byte == .questionMark { question = index }
            if byte == .percent { hasEscapes = true }
        }
        let segments = path[..<question]
        if hasEscapes, segments.split(separator: .slash).contains(where: \.isEscapedDots) {
            return "has a segment of escaped dots"
        }
        insert(path: UnsafeBufferPointer(rebasing: segments))
        if question != path.count {
            var query: [UInt8] = []
            query.appendEscapedOnce(UnsafeBufferPointer(rebasing: path[(question + 1)...]), allowed: .query)
            append(query: query)
        }
        return nil
    }

    package var url: URL {
        get throws(NetworkError) {
            guard let url = URL(string: text) else {
                throw NetworkError(.invalidRequest, reason: "\(text.quotedURLForMessage) is not a URL")
            }
            return url
        }
    }

    /// The finished URL, unparsed. It is valid, because only escaped text follows a checked base.
    var lazyURL: LazyURL { LazyURL(text) }

    private var text: String { String(decoding: fragment.isEmpty ? bytes : bytes + fragment, as: UTF8.self) }

    private mutating func insert(path: UnsafeBufferPointer<UInt8>) {
        guard !path.isEmpty else { return }
        var query: [UInt8] = []
        if hasQuery, let question = bytes.firstIndex(of: .questionMark) {
            query = Array(bytes[question...])
            bytes.removeSubrange(question...)
        }
        while bytes.last == .slash { bytes.removeLast() }
        bytes.append(.slash)
        bytes.appendEscapedOnce(UnsafeBufferPointer(rebasing: path.drop { $0 == .slash }), allowed: .path)
        bytes += query
    }

    /// Appends an encoded query after the existing one.
    package mutating func append(query: [UInt8]) {
        guard !query.isEmpty else { return }
        if !hasQuery {
            bytes.append(.questionMark)
            hasQuery = true
        } else if bytes.last != .ampersand, bytes.firstIndex(of: .questionMark) != bytes.count - 1 {
            bytes.append(.ampersand)
        }
        bytes += query
    }
}

/// A URL as text, which Foundation parses on first use. libcurl uses the text.
struct LazyURL: Sendable {
    let text: String
    private let parsed = Protected<URL?>(nil)

    /// Creates a URL from a text that is known to be valid: a checked base URL followed by escaped text.
    init(_ text: String) {
        self.text = text
    }

    /// The parsed URL, or nil if Foundation rejects the text.
    var url: URL? {
        if let url = parsed.value { return url }
        let url = URL(string: text)
        parsed.withLock { $0 = url }
        return url
    }
}

// MARK: - Validation of request URLs

extension URLText {
    /// Throws for an invalid URL, without parsing it.
    package static func check(_ url: URL) throws(NetworkError) {
        guard let fault = URLFault.of(url) else { return }
        let text = url.absoluteString.quotedURLForMessage
        throw NetworkError(.invalidRequest, reason: "the URL \(text) \(fault)")
    }
}

extension URLParts {
    var url: URL {
        get throws(NetworkError) {
            if let fault { throw NetworkError(.invalidRequest, reason: fault) }
            if let url = URL(string: text) { return url }
            let text = text.quotedURLForMessage
            throw NetworkError(.invalidRequest, reason: "the URL \(text) is not valid")
        }
    }
}

extension DefaultStringInterpolation {
    /// Appends a value as one segment of a path: `"users/\(segment: name)/posts"`.
    ///
    /// Everything but the unreserved characters is escaped, including the slash and the percent sign: `a/b` becomes
    /// `a%2Fb`. `.` and `..` become `%2E` and `%2E%2E`. An endpoint's `path` and ``NetworkRequest/path`` reject
    /// these, because servers treat them as `.` and `..`. The text of a whole URL does not.
    public mutating func appendInterpolation(segment value: some CustomStringConvertible) {
        let text = value.description
        let isDots = text == "." || text == ".."
        appendLiteral(text.percentEncoded(allowed: isDots ? ASCIISet("") : .unreserved))
    }
}
