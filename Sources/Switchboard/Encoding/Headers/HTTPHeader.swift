import Foundation
import SwitchboardText

/// One header field: a name and a value.
public struct HTTPHeader: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The name as it was given. Comparisons ignore case.
    public let name: String
    /// The value, without leading and trailing spaces and tabs ([RFC 9110
    /// §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)).
    public let value: String

    /// Creates a field. Any text is accepted here; ``HTTPHeaders/validate()`` refuses fields that cannot be sent.
    public init(name: String, value: String) {
        self.name = name
        self.value = value.trimmedOfBlanks
    }

    /// Creates a field from a value that is already trimmed.
    package init(name: String, trimmedValue value: String) {
        self.name = name
        self.value = value
    }

    /// Returns an `Accept` field.
    public static func accept(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept", value: value) }
    /// Returns a `Content-Type` field.
    public static func contentType(_ value: String) -> HTTPHeader { HTTPHeader(name: "Content-Type", value: value) }
    /// Returns a `User-Agent` field.
    public static func userAgent(_ value: String) -> HTTPHeader { HTTPHeader(name: "User-Agent", value: value) }
    /// Returns an `Authorization` field with any value.
    public static func authorization(_ value: String) -> HTTPHeader { HTTPHeader(name: "Authorization", value: value) }
    /// Returns `Authorization: Bearer token` ([RFC 6750 §2.1](https://www.rfc-editor.org/rfc/rfc6750#section-2.1)).
    public static func authorization(bearerToken: String) -> HTTPHeader { authorization("Bearer \(bearerToken)") }

    /// `name: value`, with the value redacted if the name is a secret's.
    public var description: String {
        "\(name): \(Redaction.standard.value(value, ofHeader: name))"
    }

    /// A mirror with only the redacted text, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

    /// Compares names without case, and values exactly.
    public static func == (one: HTTPHeader, other: HTTPHeader) -> Bool {
        one.name.equalsIgnoringCase(other.name) && one.value == other.value
    }

    /// Hashes the parts that `==` compares.
    public func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte.lowercased) }
        hasher.combine(value)
    }

    /// The reason why this field cannot be sent, or nil if it can.
    package var fault: String? {
        guard name.isHTTPToken else {
            return "header name \(name.quotedForMessage) is not a token (RFC 9110 §5.6.2)"
        }
        var value = value
        let byte = value.withUTF8 { $0.first { $0.breaksFieldValue } }
        return byte.map { "the value of header \(name) holds \($0.nameForMessage) (RFC 9110 §5.5)" }
    }
}
