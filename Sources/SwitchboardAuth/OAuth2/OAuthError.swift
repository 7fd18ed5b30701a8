import Foundation
import Switchboard
import SwitchboardText

/// Why an authorization server, or a check of its answer, gave no token: the `NetworkError.underlying` of a
/// `NetworkError.Code.cannotAuthenticate`.
///
/// ```swift
/// do {
///     show(try await router.request(.popular(page: 1), as: MoviePage.self))
/// } catch let error as NetworkError where error.oauthError?.code == .accessDenied {
///     showLogin()
/// }
/// ```
public struct OAuthError: Error, Sendable, Hashable {
    /// What went wrong: an open set.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// As the server writes it.
        public let rawValue: String

        /// Makes a code.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// `access_denied`: the user, or the server, said no ([RFC 6749
        /// §4.1.2.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1)).
        public static let accessDenied = Code(rawValue: "access_denied")
        /// `invalid_grant`: the code or the refresh token is wrong, has ended, or was revoked ([RFC 6749
        /// §5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2)).
        public static let invalidGrant = Code(rawValue: "invalid_grant")
        /// `invalid_client`: the server does not know the client, or its secret is wrong.
        public static let invalidClient = Code(rawValue: "invalid_client")
        /// `invalid_scope`: the client may not ask for that.
        public static let invalidScope = Code(rawValue: "invalid_scope")
        /// The redirect has another state than the request: it belongs to another one, or somebody made it up.
        public static let stateMismatch = Code(rawValue: "switchboard_state_mismatch")
        /// The redirect goes to another place than the one asked for, or has neither a code nor an error.
        public static let invalidRedirect = Code(rawValue: "switchboard_invalid_redirect")
        /// There is no token, or one that cannot be refreshed: somebody has to sign in.
        public static let notSignedIn = Code(rawValue: "switchboard_not_signed_in")
    }

    /// What went wrong.
    public let code: Code
    /// The server's words for a developer; nil when it has none.
    public let text: String?
    /// Where the server says more; nil when it does not.
    public let uri: String?

    /// Makes an error, in a stub for instance.
    public init(_ code: Code, text: String? = nil, uri: String? = nil) {
        self.code = code
        self.text = text
        self.uri = uri
    }
}

extension OAuthError: CustomStringConvertible {
    /// The code, and the server's words.
    public var description: String {
        let name =
            code.rawValue.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x20 && $0.value < 0x7F }
            ? String(code.rawValue.prefix(80)) : code.rawValue.quotedForMessage
        return name + (text.map { ", " + Redaction.standard.pairs(in: $0).quotedForMessage } ?? "")
    }

    /// What a server's answer says ([RFC 6749 §5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2)); nil when it is
    /// no error. Of what stands beside its code, anything but text is left out.
    init?(answer: Data) {
        let object = try? JSONSerialization.jsonObject(with: answer) as? [String: Any]
        guard let object, let code = object["error"] as? String, !code.isEmpty else { return nil }
        self.init(
            Code(rawValue: code), text: object["error_description"] as? String, uri: object["error_uri"] as? String)
    }

    /// As the package throws it. A code of ours is for programs: the text beside it says the same.
    func thrown(_ what: String? = nil) -> NetworkError {
        let isOurs = code.rawValue.hasPrefix("switchboard_")
        let why = isOurs ? text ?? description : description
        return NetworkError(
            .cannotAuthenticate, reason: [what, why].compactMap { $0 }.joined(separator: ": "), underlying: self)
    }
}

extension NetworkError {
    /// What an authorization server said, when this or an error underneath is about that.
    public var oauthError: OAuthError? {
        underlying as? OAuthError ?? (underlying as? NetworkError)?.oauthError
    }
}
