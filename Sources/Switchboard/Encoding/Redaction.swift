import Foundation

/// Which names are secrets, and what stands in their place wherever this package makes text: logs, curl commands,
/// errors.
public struct Redaction: Sendable {
    /// Header names whose values are secrets, lower case.
    public var headerNames: Set<String>
    /// Parameter names whose values are secrets, lower case: in queries and in forms.
    public var parameterNames: Set<String>
    /// Names of JSON members whose values are secrets, lower case. By default ``parameterNames`` without `key`, `code`
    /// and `session`, which in a body are mostly an error's code or an item's key.
    public var memberNames: Set<String>
    /// What is written in place of a secret.
    public var mask = "<redacted>"

    /// Makes a redaction of these names. Case does not matter.
    public init(headerNames: some Sequence<String>, parameterNames: some Sequence<String>) {
        self.headerNames = Set(headerNames.map { $0.lowercased() })
        self.parameterNames = Set(parameterNames.map { $0.lowercased() })
        memberNames = self.parameterNames.subtracting(["key", "code", "session"])
    }

    /// The default: credentials, cookies, keys and tokens by their usual names.
    public static let standard = Redaction(
        headerNames: [
            "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "api-key", "apikey",
            "x-auth-token",
            "x-access-token", "x-csrf-token", "x-xsrf-token", "x-amz-security-token", "authentication-info",
        ],
        parameterNames: [
            "api_key", "apikey", "api-key", "key", "token", "access_token", "refresh_token", "id_token", "auth",
            "auth_token",
            "authorization", "password", "passwd", "pwd", "secret", "client_secret", "client_assertion", "code",
            "code_verifier",
            "session", "session_id", "signature", "sig", "x-amz-signature", "x-amz-security-token", "x-amz-credential",
        ])

    /// Replaces nothing. For tests and for tracing against servers whose secrets are worth nothing.
    public static let none = Redaction(headerNames: [], parameterNames: [])

    /// This redaction with more names; parameter names count as member names too.
    public func adding(
        headerNames: [String] = [], parameterNames: [String] = [], memberNames: [String] = []
    ) -> Redaction {
        var result = self
        result.headerNames.formUnion(headerNames.map { $0.lowercased() })
        result.parameterNames.formUnion(parameterNames.map { $0.lowercased() })
        result.memberNames.formUnion((parameterNames + memberNames).map { $0.lowercased() })
        return result
    }

    /// The value of a header, or the mask.
    public func value(_ value: String, ofHeader name: String) -> String {
        guard headerNames.contains(name.lowercased()) else {
            return name.equalsIgnoringCase("Location") || name.equalsIgnoringCase("Referer") ? url(value) : value
        }
        return mask
    }

    /// A URL's text with the values of secret parameters and any password before the host replaced.
    public func url(_ text: String) -> String {
        guard !parameterNames.isEmpty else { return text }
        var text = text
        if let start = text.range(of: "://")?.upperBound {
            let authority = text.utf8[start...].prefix { $0 != .slash && $0 != .questionMark && $0 != .numberSign }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) { text.replaceSubrange(start..<at, with: mask) }
        }
        let hash = text.utf8.firstIndex(of: .numberSign) ?? text.endIndex
        let fragment = hash == text.endIndex ? "" : "#" + form(String(text[text.utf8.index(after: hash)...]))
        guard let question = text.utf8[..<hash].firstIndex(of: .questionMark) else { return text[..<hash] + fragment }
        let query = text.utf8.index(after: question)
        return text[..<query] + form(String(text[query..<hash])) + fragment
    }

    /// A query or a form with the values of secret names replaced.
    public func form(_ text: String) -> String {
        guard !parameterNames.isEmpty else { return text }
        return text.utf8.split(separator: .ampersand, omittingEmptySubsequences: false)
            .map { pair(Substring($0)) }.joined(separator: "&")
    }

    private func pair(_ pair: Substring) -> String {
        guard let equals = pair.utf8.firstIndex(of: .equals) else { return String(pair) }
        let written = String(pair[..<equals]).replacingOccurrences(of: "+", with: " ")
        let name = (written.removingPercentEncoding ?? written).lowercased()
        return isSecret(name) ? pair[..<equals] + "=" + mask : String(pair)
    }

    /// `token`, and also `user[token]`, `user.token` and `route?token`. The name is in lower case.
    func isSecret(_ name: String) -> Bool {
        if parameterNames.contains(name) { return true }
        let parts = name.split { $0 == "[" || $0 == "]" || $0 == "." || $0 == "?" }
        return parts.contains { parameterNames.contains(String($0)) }
    }
}
