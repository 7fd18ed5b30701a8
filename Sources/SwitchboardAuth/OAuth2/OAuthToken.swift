import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// What an authorization server issues ([RFC 6749 §5.1](https://www.rfc-editor.org/rfc/rfc6749#section-5.1)). Its texts hold
/// no secret.
public struct OAuthToken: Codable, Sendable, Hashable {
    /// What requests carry.
    public var accessToken: String
    /// What gets a new token; nil when there is no other way than to ask the user again.
    public var refreshToken: String?
    /// When the access token ends; nil when the server did not say.
    public var expiresAt: Date?
    /// What it allows, as words with blanks between; nil when it is what was asked for.
    public var scope: String?
    /// Who signed in, as a JWT, when the server speaks OpenID Connect. It is not looked at here.
    public var idToken: String?

    /// Makes a token that was had in another way.
    public init(
        accessToken: String, refreshToken: String? = nil, expiresAt: Date? = nil, scope: String? = nil,
        idToken: String? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
        self.scope = scope
        self.idToken = idToken
    }

    /// Whether the access token has ended by a date. False when its end is not known.
    public func isExpired(at date: Date) -> Bool {
        expiresAt.map { $0 <= date } ?? false
    }
}

extension OAuthToken: CustomStringConvertible, CustomReflectable {
    /// When it ends, and whether it can be refreshed.
    public var description: String {
        let end = expiresAt.map { ", ends \($0.ISO8601Format())" } ?? ""
        return "OAuthToken(\(Redaction.standard.mask)\(end)\(refreshToken == nil ? "" : ", can be refreshed"))"
    }

    /// Shows the redacted line only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension OAuthToken {
    /// The token in a server's answer.
    ///
    /// - Throws: `NetworkError.Code.decodingFailed` for what is none, `NetworkError.Code.unsupported` for a token of
    ///   another type than `Bearer`, which nobody here knows how to use (RFC 6749 §7.1).
    init(answer: Data, at date: Date) throws(NetworkError) {
        struct Answer: Decodable {
            var access_token: String
            var token_type: String?
            var expires_in: Seconds?
            var refresh_token: String?
            var scope: Words?
            var id_token: String?
        }
        // Some servers say 200 to everything.
        if let error = OAuthError(answer: answer) { throw error.thrown("the authorization server refused") }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: answer), !answer.access_token.isEmpty else {
            throw NetworkError(
                .decodingFailed, reason: "the response of the token endpoint is not a token (RFC 6749 §5.1)")
        }
        guard answer.token_type?.equalsIgnoringCase("Bearer") ?? true else {
            let type = (answer.token_type ?? "").quotedForMessage
            throw NetworkError(.unsupported, reason: "the token is of the type \(type), not Bearer")
        }
        let end = answer.expires_in?.value.map { date.addingTimeInterval(max(0, min($0, Duration.century.seconds))) }
        self.init(
            accessToken: answer.access_token, refreshToken: answer.refresh_token, expiresAt: end,
            scope: answer.scope?.text,
            idToken: answer.id_token)
    }
}

/// Words with blanks between, which some servers write as a list.
private struct Words: Decodable {
    let text: String?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = (try? container.decode(String.self)) ?? (try? container.decode([String].self))?.joined(separator: " ")
    }
}

/// A number, which some servers write as a text.
private struct Seconds: Decodable {
    let value: Double?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let number = try? container.decode(Double.self)
        let value = number ?? (try? container.decode(String.self)).flatMap(Double.init)
        self.value = value.flatMap { $0.isNaN ? nil : $0 }
    }
}
