import Foundation
import SwitchboardText

/// One header field: a name and a value.
public struct HTTPHeader: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The name as it was given. Names compare without case.
    public let name: String
    /// The value, without blanks and tabs at its ends ([RFC 9110
    /// §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)).
    public let value: String

    /// Makes a field. Nothing is refused here; ``HTTPHeaders/validate()`` says what may not be sent.
    public init(name: String, value: String) {
        self.name = name
        self.value = value.trimmedOfBlanks
    }

    /// Makes a field of a value without blanks at its ends.
    init(name: String, trimmedValue value: String) {
        self.name = name
        self.value = value
    }

    /// `Accept`
    public static func accept(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept", value: value) }
    /// `Content-Type`
    public static func contentType(_ value: String) -> HTTPHeader { HTTPHeader(name: "Content-Type", value: value) }
    /// `User-Agent`
    public static func userAgent(_ value: String) -> HTTPHeader { HTTPHeader(name: "User-Agent", value: value) }
    /// `Authorization` with a value of your own.
    public static func authorization(_ value: String) -> HTTPHeader { HTTPHeader(name: "Authorization", value: value) }
    /// `Authorization: Bearer token` ([RFC 6750 §2.1](https://www.rfc-editor.org/rfc/rfc6750#section-2.1)).
    public static func authorization(bearerToken: String) -> HTTPHeader { authorization("Bearer \(bearerToken)") }

    /// `name: value`, with the value replaced where the name is that of a secret.
    public var description: String {
        "\(name): \(Redaction.standard.value(value, ofHeader: name))"
    }

    /// Shows the redacted text only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

    /// Compares names without case.
    public static func == (one: HTTPHeader, other: HTTPHeader) -> Bool {
        one.name.equalsIgnoringCase(other.name) && one.value == other.value
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte.lowercased) }
        hasher.combine(value)
    }

    /// Why this field may not be sent, or nil when it may.
    package var fault: String? {
        guard name.isHTTPToken else {
            return "header name \(name.quotedForMessage) is not a token (RFC 9110 §5.6.2)"
        }
        var value = value
        let byte = value.withUTF8 { $0.first { $0.breaksFieldValue } }
        return byte.map { "the value of header \(name) holds \($0.nameForMessage) (RFC 9110 §5.5)" }
    }
}
