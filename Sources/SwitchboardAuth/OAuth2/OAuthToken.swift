import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardText

/// A token of an authorization server ([RFC 6749 §5.1](https://www.rfc-editor.org/rfc/rfc6749#section-5.1)). Its
/// description contains no secret.
public struct OAuthToken: Codable, Sendable, Hashable {
    /// The token that requests carry.
    public var accessToken: String
    /// The token that obtains a new access token. Nil when the user must sign in again instead.
    public var refreshToken: String?
    /// The date when the access token expires. Nil when the server did not send it.
    public var expiresAt: Date?
    /// The scopes of the token, separated by blanks. Nil when they are the requested ones.
    public var scope: String?
    /// The JWT that identifies the user, from a server with OpenID Connect. It is not checked here.
    public var idToken: String?

    /// Creates a token that was obtained in another way.
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

    /// Returns whether the access token has expired at a date. False when its expiry date is unknown.
    public func isExpired(at date: Date) -> Bool {
        expiresAt.map { $0 <= date } ?? false
    }
}

extension OAuthToken: DumpedAsDescription {
    /// The expiry date, and whether the token can be refreshed.
    public var description: String {
        // Foundation traps for an infinite date.
        let end = expiresAt.flatMap { $0.timeIntervalSince1970.isFinite ? ", ends \($0.ISO8601Format())" : nil } ?? ""
        return "OAuthToken(\(Redaction.standard.mask)\(end)\(refreshToken == nil ? "" : ", can be refreshed"))"
    }
}

extension OAuthToken {
    /// Creates the token in a server's response.
    ///
    /// - Throws: `NetworkError.Code.cannotAuthenticate` for an error of the server, `NetworkError.Code.decodingFailed`
    ///   for a response without a token, `NetworkError.Code.unsupported` for another type than `Bearer`, which clients
    ///   must not use (RFC 6749 §7.1).
    init(response body: Data, at date: Date, without secrets: [String]) throws(NetworkError) {
        struct Response: Decodable {
            var access_token: String
            var token_type: String?
            var expires_in: Seconds?
            var refresh_token: String?
            var scope: Words?
            var id_token: String?
        }
        // Some servers send errors with status 200.
        if let error = OAuthError(response: body, without: secrets) {
            throw error.asNetworkError("the authorization server refused")
        }
        guard let fields = try? FastJSONDecoder().decode(Response.self, from: body), !fields.access_token.isEmpty,
            !fields.access_token.utf8.contains(where: \.breaksFieldValue)
        else {
            throw NetworkError(
                .decodingFailed, reason: "the response of the token endpoint is not a token (RFC 6749 §5.1)")
        }
        guard fields.token_type?.equalsIgnoringCase("Bearer") ?? true else {
            // An unknown type is not repeated, because the text could be the token.
            let known = ["DPoP", "MAC", "PoP", "N_A"].first { fields.token_type?.equalsIgnoringCase($0) == true }
            throw NetworkError(
                .unsupported, reason: "the token is of the type \(known ?? "that the server sent"), not Bearer")
        }
        let end = fields.expires_in?.value.map { date.addingTimeInterval(max(0, min($0, Duration.century.seconds))) }
        self.init(
            accessToken: fields.access_token, refreshToken: fields.refresh_token, expiresAt: end,
            scope: fields.scope?.text, idToken: fields.id_token)
        refreshToken = nonemptyRefreshToken
    }

    /// Identifies the token. A server may replace only the refresh token.
    var identity: String { accessToken + "\n" + (nonemptyRefreshToken ?? "") }

    /// The refresh token. Nil for an empty one, which some servers send in place of none.
    var nonemptyRefreshToken: String? { refreshToken.flatMap { $0.isEmpty ? nil : $0 } }
}

/// Words separated by blanks. Some servers send a list.
private struct Words: Decodable {
    let text: String?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = (try? container.decode(String.self)) ?? (try? container.decode([String].self))?.joined(separator: " ")
    }
}

extension OAuthToken {
    /// A number. Some servers send a string.
    struct Seconds: Decodable {
        let value: Double?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let number = try? container.decode(Double.self)
            let value = number ?? (try? container.decode(String.self)).flatMap(Double.init)
            self.value = value.flatMap { $0.isNaN ? nil : $0 }
        }
    }
}
