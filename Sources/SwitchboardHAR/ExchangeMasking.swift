import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardText

/// Masks the values with secret names in exchanges, and stores them. ``storedSecrets`` masks them where no name precedes
/// them.
package struct ExchangeMasking: Sendable {
    package let redaction: Redaction
    /// The secrets masked so far, as they were written and decoded.
    package private(set) var secrets: Set<ExactText> = []

    /// The length from which a secret is masked wherever it appears, in bytes of UTF-8. A shorter one is masked only after
    /// its name, because it may occur in unrelated text.
    package static let minimumLength = 6
    /// The mask used when the redaction's mask, such as the default one, is not valid in URLs and markup.
    package static let mask = "REDACTED"

    package init(_ redaction: Redaction) {
        var redaction = redaction
        let mask = redaction.mask
        if mask.isEmpty || mask != mask.percentEncoded() { redaction.mask = Self.mask }
        self.redaction = redaction
    }

    // MARK: Exchanges

    package mutating func masked(_ entry: HAR.Entry) -> HAR.Entry {
        entry.replacingParts { masked($1, $0) }
    }

    package mutating func masked(_ request: HAR.Request) -> HAR.Request {
        request.replacingParts { masked($1, $0) }
    }

    private mutating func masked(_ bytes: Data, _ part: HAR.Part) -> Data {
        if case .body(let type) = part { return masked(body: bytes, type: type) }
        let text = String(decoding: bytes, as: UTF8.self)
        let masked =
            switch part {
            case .url: masked(url: text)
            case .field(let name): masked(text, ofHeader: name)
            case .cookie(let header): masked(cookie: text, of: header)
            case .attribute, .body: text
            }
        return Data(masked.utf8)
    }

    // MARK: Parts

    private mutating func masked(_ value: String, ofHeader name: String) -> String {
        guard redaction.isSecret(header: name) else {
            return mask(value) { [redaction] in redaction.value($0, ofHeader: name) }
        }
        add(header: name, value)
        return masked(cookies: value, of: name) ?? redaction.mask
    }

    /// Returns the names and attributes of cookies without their values, so that a client that stores cookies receives
    /// some. Returns nil for any other field.
    private func masked(cookies: String, of header: String) -> String? {
        let name = header.lowercased()
        guard name == "cookie" || name == "set-cookie", cookies.utf8.contains(.equals) else { return nil }
        return cookies.pieces(between: .semicolon).enumerated().map { index, pair in
            guard name == "cookie" || index == 0 else { return String(pair) }
            guard let equals = pair.utf8.firstIndex(of: .equals) else { return redaction.mask }
            return String(decoding: pair.utf8[...equals], as: UTF8.self) + redaction.mask
        }.joined(separator: ";")
    }

    private mutating func masked(cookie value: String, of header: String) -> String {
        guard redaction.isSecret(header: header) else { return value }
        add(cookie: value)
        return redaction.mask
    }

    package mutating func masked(url: String) -> String {
        if !redaction.isEmpty, let user = url.userInfo { add(credentials: String(url[user])) }
        return mask(url) { [redaction] in redaction.url($0) }
    }

    /// Returns the text as `function` masks it, and stores the parts that were masked.
    package mutating func mask(_ text: String, by function: (String) -> String) -> String {
        let masked = function(text)
        guard masked != text else { return text }
        for piece in MaskedText(masked, mask: redaction.mask).hidden(in: text) { add(written: piece) }
        return masked
    }

    // MARK: Stored secrets

    /// Stores a value as it was written in a URL, a form, a field, markup or a string of JSON, and decoded.
    private mutating func add(written text: String) {
        var text = text
        // JSON within JSON escapes its escapes.
        for _ in 0..<8 {
            add(text)
            add(text.trimmingCharacters(in: CharacterSet(charactersIn: "\"'")))
            add(text.percentDecoded)
            if text.utf8.contains(.plus) { add(text.replacingBytes([.plus: " "]).percentDecoded) }
            let decoded = text.unescaped
            if decoded == text { return }
            text = decoded
        }
    }

    private mutating func add(header name: String, _ value: String) {
        switch name.lowercased() {
        case "cookie" where value.utf8.contains(.equals):
            for cookie in HAR.Cookie.sent(value) { add(cookie: cookie.value) }
        case "set-cookie" where value.utf8.contains(.equals):
            if let cookie = HAR.Cookie.received(value) { add(cookie: cookie.value) }
        default:
            add(value)
            // The token after a scheme (RFC 9110 §11.4).
            guard let blank = value.utf8.firstIndex(of: .space) else { return }
            let credentials = String(decoding: value.utf8[blank...].trimmedOfBlanks, as: UTF8.self)
            add(credentials)
            if value.utf8[..<blank].equalsLowercase("basic"), let data = Data(base64Encoded: credentials) {
                add(credentials: String(decoding: data, as: UTF8.self))
            }
        }
    }

    /// Stores the secrets of `user:password`.
    private mutating func add(credentials: String) {
        add(written: credentials)
        guard let colon = credentials.utf8.firstIndex(of: .colon) else { return }
        add(written: String(decoding: credentials.utf8[colon...].dropFirst(), as: UTF8.self))
    }

    private mutating func add(cookie value: String) {
        let value = value.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        // Servers write this value to delete a cookie.
        if value != "deleted" { add(written: value) }
    }

    package mutating func add(_ secret: String) {
        let secret = secret.trimmingCharacters(in: .whitespacesAndNewlines)
        guard secret.utf8.count >= Self.minimumLength, !secret.contains(redaction.mask) else { return }
        secrets.insert(ExactText(secret))
    }

    /// The stored secrets, to mask them wherever they appear.
    package var storedSecrets: SecretTrie {
        // A login may send a password in one Unicode form, and the header field in the other.
        let forms = secrets.map(\.text).flatMap {
            [$0, $0.precomposedStringWithCanonicalMapping, $0.decomposedStringWithCanonicalMapping].map(ExactText.init)
        }
        let all = Set(forms).map(\.text)
        return SecretTrie(all + all.flatMap(Self.base64), mask: redaction.mask)
    }

    /// Returns the base64 digits of a secret that do not depend on the text around it, in both alphabets.
    private static func base64(_ secret: String) -> [String] {
        (0..<3).flatMap { offset in
            let bytes = Data(count: offset) + Data(secret.utf8)
            let digits = String(bytes.base64EncodedString().prefix(bytes.count * 8 / 6).dropFirst([0, 2, 3][offset]))
            let other = digits.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            return digits.count < minimumLength ? [] : [digits, other]
        }
    }
}

extension String {
    /// The text without its escapes of JSON or, if it has none, without its references of markup.
    fileprivate var unescaped: String {
        guard utf8.contains(.backslash), case .string(let text)? = JSONTree(fragment: Data("\"\(self)\"".utf8)) else {
            return withoutEscapes
        }
        return text
    }
}

/// A masked text, as a pattern in which each mask matches any text.
package struct MaskedText {
    /// The parts around the masks.
    private let pieces: [Data]

    package init(_ text: String, mask: String) {
        self.init(Data(text.utf8), mask: mask)
    }

    package init(_ text: Data, mask: String) {
        pieces = text.pieces(around: Data(mask.utf8))
    }

    /// Returns whether a text matches the pattern. A mask also matches the empty text.
    package func matches(_ text: Data) -> Bool {
        pieces.count > 1 ? hidden(in: text).count == pieces.count - 1 : text == pieces[0]
    }

    /// Returns the parts of the original text that the masks replace, as far as they can be determined.
    package func hidden(in text: String) -> [String] {
        hidden(in: Data(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    private func hidden(in text: Data) -> [Data] {
        guard text.starts(with: pieces[0]) else { return [] }
        var rest = text.dropFirst(pieces[0].count)
        var hidden: [Data] = []
        for (index, piece) in pieces.enumerated().dropFirst() {
            var end = rest.startIndex..<rest.startIndex
            if index == pieces.count - 1 {
                guard rest.count >= piece.count, rest.suffix(piece.count) == piece else { return hidden }
                end = rest.endIndex - piece.count..<rest.endIndex
            } else if !piece.isEmpty {
                guard let range = rest.firstRange(ofBytes: piece) else { return hidden }
                end = range
            }
            hidden.append(rest[..<end.lowerBound])
            rest = rest[end.upperBound...]
        }
        return hidden
    }
}
