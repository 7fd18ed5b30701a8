import Foundation
import SwitchboardText

/// A user and a password for `Basic` and `Digest`.
public struct BasicCredentials: Sendable, Hashable {
    /// The user's name.
    public var user: String
    /// The password.
    public var password: String

    /// Creates credentials without any check.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Returns the value of an `Authorization` field, in UTF-8 and NFC ([RFC 7617
    /// §2](https://www.rfc-editor.org/rfc/rfc7617#section-2)).
    ///
    /// - Throws: ``NetworkError/Code/invalidRequest`` for a user with a colon, which ends the name for the server, and
    ///   for control characters in user or password.
    public func headerValue() throws(NetworkError) -> String {
        guard !user.utf8.contains(.colon) else {
            throw NetworkError(.invalidRequest, reason: "the user's name for Basic holds a colon (RFC 7617 §2)")
        }
        guard !(user + password).unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw NetworkError(
                .invalidRequest, reason: "the user's name or password for Basic holds a control character (RFC 7617 §2)"
            )
        }
        let pair = "\(user):\(password)".precomposedStringWithCanonicalMapping
        return "Basic " + Data(pair.utf8).base64EncodedString()
    }
}

extension BasicCredentials: CustomStringConvertible, CustomReflectable {
    /// The name of the type and a mask, without user and password.
    public var description: String { "BasicCredentials(\(Redaction.standard.mask))" }
    /// A mirror with only the redacted line, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension RequestOptions {
    /// The user and password for this request, in place of those of ``BasicAuth`` or `DigestAuth`. Nil, the default,
    /// for theirs.
    public var credentials: BasicCredentials? {
        get { self[CredentialsOption.self] }
        set { self[CredentialsOption.self] = newValue }
    }
}

private enum CredentialsOption: RequestOption { static let defaultValue: BasicCredentials? = nil }
