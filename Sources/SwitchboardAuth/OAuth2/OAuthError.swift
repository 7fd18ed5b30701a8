import Foundation
import Switchboard
import SwitchboardText

/// The reason why an authorization server, or a check of its response, returned no token. `NetworkError.oauthError`
/// finds it in a `NetworkError.Code.cannotAuthenticate`.
///
/// ```swift
/// do {
///     let page = try await router.request(
///         .popular(page: 1), as: MoviePage.self)
///     show(page)
/// } catch let error as NetworkError
///     where [.notSignedIn, .invalidGrant]
///         .contains(error.oauthError?.code) {
///     showLogin()
/// }
/// ```
public struct OAuthError: Error, Sendable, Hashable {
    /// The kind of an error. Servers may send codes that are not listed here.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The code as the server writes it.
        public let rawValue: String

        /// Creates a code.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// `access_denied`: the user or the server refused ([RFC 6749
        /// §4.1.2.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1)).
        public static let accessDenied = Code(rawValue: "access_denied")
        /// `invalid_grant`: the code or the refresh token is wrong, expired or revoked ([RFC 6749
        /// §5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2)).
        public static let invalidGrant = Code(rawValue: "invalid_grant")
        /// `invalid_client`: the client is not registered at the server, or its secret is wrong.
        public static let invalidClient = Code(rawValue: "invalid_client")
        /// `invalid_scope`: the client may not request this scope.
        public static let invalidScope = Code(rawValue: "invalid_scope")
        /// `authorization_pending`: the user has not signed in yet ([RFC 8628
        /// §3.5](https://www.rfc-editor.org/rfc/rfc8628#section-3.5)).
        public static let authorizationPending = Code(rawValue: "authorization_pending")
        /// `slow_down`: the client polls too often.
        public static let slowDown = Code(rawValue: "slow_down")
        /// `expired_token`: the user did not sign in in time.
        public static let expiredToken = Code(rawValue: "expired_token")
        /// The redirect has another state than the request. It belongs to another request, or is forged.
        public static let stateMismatch = Code(rawValue: "switchboard_state_mismatch")
        /// The redirect leads to another URI than requested, or has neither a code nor an error.
        public static let invalidRedirect = Code(rawValue: "switchboard_invalid_redirect")
        /// No token exists, or it cannot be refreshed. The user must sign in.
        public static let notSignedIn = Code(rawValue: "switchboard_not_signed_in")
    }

    /// The kind of the error.
    public let code: Code
    /// The server's text for a developer, or nil.
    public let text: String?
    /// The URI of a page with more information, or nil.
    public let uri: String?

    /// Creates an error, for example for a stub.
    public init(_ code: Code, text: String? = nil, uri: String? = nil) {
        self.code = code
        self.text = text
        self.uri = uri
    }
}

extension OAuthError: DumpedAsDescription {
    /// The code and the server's text, with secrets replaced.
    public var description: String {
        code.description + (text.map { ", " + Self.redacted($0).quotedForMessage } ?? "")
    }

    /// Returns the redacted beginning of a server's text, which may be as long as its response.
    fileprivate static func redacted(_ text: String) -> String {
        Redaction.standard.beginning(of: Data(text.utf8), limit: 1_000) ?? ""
    }

    /// Creates the error in a server's response ([RFC 6749 §5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2)),
    /// or nil when the response contains none. Of the other fields, only texts are used. `secrets` are replaced where
    /// the server repeats them.
    init?(response body: Data, without secrets: [String]) {
        let object = try? JSONSerialization.jsonObject(with: body) as? [String: Any]
        guard let object, let code = object["error"] as? String, !code.isEmpty else { return nil }
        func text(_ value: Any?) -> String? { (value as? String)?.masking(secrets) }
        self.init(
            Code(rawValue: text(code) ?? code), text: text(object["error_description"]), uri: text(object["error_uri"]))
    }

    /// Returns a `NetworkError` with this error underneath. Its reason omits the codes of this package.
    func asNetworkError(_ prefix: String? = nil) -> NetworkError {
        let isOurs = code.rawValue.hasPrefix("switchboard_")
        let cause = isOurs ? text ?? description : description
        return NetworkError(
            .cannotAuthenticate, reason: [prefix, cause].compactMap { $0 }.joined(separator: ": "), underlying: self)
    }
}

extension String {
    /// Returns the text with a mask in place of each secret.
    func masking(_ secrets: [String]) -> String {
        // In scalars, because a combining mark may follow a secret.
        secrets.filter { !$0.isEmpty }.reduce(self) {
            String($0.unicodeScalars.replacing($1.unicodeScalars, with: Redaction.standard.mask.unicodeScalars))
        }
    }
}

extension NetworkError {
    /// The error of the authorization server that caused this error, or nil.
    public var oauthError: OAuthError? {
        underlying as? OAuthError ?? (underlying as? NetworkError)?.oauthError
    }
}

extension OAuthError.Code: DumpedAsDescription {
    /// The code on one line, with secrets replaced.
    public var description: String {
        let text = OAuthError.redacted(rawValue)
        return text.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x20 && $0.value < 0x7F }
            ? String(text.prefix(80)) : text.quotedForMessage
    }
}
