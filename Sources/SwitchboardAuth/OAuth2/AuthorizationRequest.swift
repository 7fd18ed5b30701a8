import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardText

/// A login in progress: the URL for the user, and the values that the redirect is compared with.
///
/// Keep it until the redirect arrives, and store it if the app may be terminated meanwhile. It contains a secret.
public struct AuthorizationRequest: Codable, Sendable, Hashable {
    /// The page to show, in a browser and not in a view of the app itself ([RFC 8252
    /// §8.12](https://www.rfc-editor.org/rfc/rfc8252#section-8.12)).
    public let url: URL
    /// A random text that ties the redirect to this request.
    public let state: String
    let redirectURI: String
    let verifier: String

    /// Returns the code in the URL that the server redirected to.
    ///
    /// - Throws: `NetworkError.Code.cannotAuthenticate` with an ``OAuthError`` underneath: the server's error, such as
    ///   ``OAuthError/Code/accessDenied``, or ``OAuthError/Code/stateMismatch``, or
    ///   ``OAuthError/Code/invalidRedirect``.
    public func code(in redirect: URL) throws(NetworkError) -> String {
        func rejection(_ code: OAuthError.Code, _ text: String) -> NetworkError {
            OAuthError(code, text: text).asNetworkError("the redirect is not accepted")
        }
        let text = redirect.absoluteString
        // URL encodes characters beyond ASCII.
        let expected = URL(string: redirectURI)?.absoluteString ?? redirectURI
        guard Self.withoutQuery(expected) == Self.withoutQuery(text) else {
            throw rejection(.invalidRedirect, "it leads to another URL")
        }
        let items = Self.items(text)
        for item in Self.items(redirectURI)
        where !items.contains(where: { $0.name == item.name && $0.value == item.value }) {
            throw rejection(.invalidRedirect, "it lacks a part of the query")
        }
        // A parameter must not occur twice (RFC 6749 §3.1).
        func value(_ name: String) -> String? {
            let values = items.filter { $0.name == name }
            return values.count == 1 ? values[0].value : nil
        }
        guard let state = value("state"), state.isEqualInConstantTime(to: self.state) else {
            throw rejection(.stateMismatch, "it belongs to another request")
        }
        if let error = value("error") {
            throw OAuthError(
                OAuthError.Code(rawValue: error), text: value("error_description"), uri: value("error_uri")
            ).asNetworkError("the authorization server returned no code")
        }
        guard let code = value("code"), !code.isEmpty else {
            throw rejection(.invalidRedirect, "it has no code")
        }
        return code
    }

    private static func items(_ uri: String) -> [URLQueryItem] {
        let withoutFragment = uri.utf8.prefix { $0 != .numberSign }
        return FormBody.decode(Substring(withoutFragment.drop { $0 != .questionMark }.dropFirst()))
    }

    /// Returns scheme, host and path for a comparison: scheme and host in lower case, and no slash at the end, because
    /// a browser writes an empty path as a slash.
    private static func withoutQuery(_ uri: String) -> [UInt8] {
        var prefix = uri.utf8.prefix { $0 != .numberSign && $0 != .questionMark }
        if prefix.last == .slash { prefix.removeLast() }
        let colon = prefix.firstIndex(of: .colon) ?? prefix.startIndex
        let host = prefix[colon...].dropFirst()
        let path = host.starts(with: "//".utf8) ? host.dropFirst(2).drop { $0 != .slash } : host
        return prefix[..<path.startIndex].map(\.lowercased) + path
    }
}

extension AuthorizationRequest: DumpedAsDescription {
    /// The URL, with secrets replaced.
    public var description: String {
        "AuthorizationRequest(\(Redaction.standard.adding(parameterNames: ["state"]).url(url.absoluteString)))"
    }
}

/// The secret of one authorization, which makes a stolen code unusable ([RFC
/// 7636](https://www.rfc-editor.org/rfc/rfc7636)). It uses the method `S256`.
struct PKCE: Sendable, Hashable {
    /// 43 characters from 256 random bits.
    let verifier: String

    init(verifier: String = Data.random(32).base64URLText) {
        self.verifier = verifier
    }

    /// The hash of the verifier, which the authorization request contains.
    var challenge: String {
        get throws(NetworkError) { try MessageDigest.sha256.checkedHash(Data(verifier.utf8)).base64URLText }
    }
}
