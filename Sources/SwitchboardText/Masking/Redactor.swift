import Foundation

/// Masks secrets in JSON, markup, forms, URLs, header lines and prose. It finds a secret by the name before it.
package struct Redactor: Sendable {
    /// The names of secrets in header fields, in queries and forms, and in JSON, as `Redaction` documents them.
    package private(set) var headerNames: Set<String>
    package private(set) var parameterNames: Set<String>
    package private(set) var memberNames: Set<String>
    /// Whether names are also matched by their words: `X-Vault-Token`, `newPassword`.
    private(set) var matchesWords = false
    /// The text that replaces a secret.
    package var mask = "<redacted>"

    /// Creates a redactor with only these names.
    package init(headerNames: some Sequence<String>, parameterNames: some Sequence<String>) {
        self.headerNames = Set(headerNames.map(\.asSecretName))
        self.parameterNames = Set(parameterNames.map(\.asSecretName))
        memberNames = self.parameterNames.subtracting(["key", "code", "session"])
    }

    /// The default: the common names of credentials, cookies, keys and tokens, any name that contains their words
    /// (``SecretName``), and under any name JSON Web Tokens, private keys in PEM and credentials behind `Bearer` or
    /// `Basic`.
    package static let standard: Redactor = {
        var redactor = Redactor(
            headerNames: """
                Authorization Proxy-Authorization Cookie Cookie2 Set-Cookie Api-Key Authentication-Info X-Auth \
                X-Key X-Pin Session X-Session DPoP X-Goog-IAP-JWT-Assertion
                """.words,
            parameterNames: """
                key token auth authorization password pwd pass secret code code_verifier oauth_verifier session sid \
                sig pin assertion client_assertion bearer phpsessid sessid id_token_hint secret_id one_time_code \
                samlart
                """.words)
        redactor.memberNames.formUnion(
            """
            tokens accesstokens refreshtokens idtokens authtokens apitokens passwords secrets cookie setcookie dpop
            """.words)
        redactor.matchesWords = true
        return redactor
    }()

    /// Returns this redactor with more names.
    package func adding(
        headerNames: [String] = [], parameterNames: [String] = [], memberNames: [String] = []
    ) -> Redactor {
        var result = self
        result.headerNames.formUnion(headerNames.map(\.asSecretName))
        result.parameterNames.formUnion(parameterNames.map(\.asSecretName))
        result.memberNames.formUnion(memberNames.map(\.asSecretName))
        return result
    }

    /// Returns a header's value, or the mask for a secret. In other values, the secrets of URLs are redacted.
    package func value(_ value: String, ofHeader name: String) -> String {
        if isSecret(header: name) { return mask }
        if name.equalsIgnoringCase("Sec-WebSocket-Protocol") {
            return tokens(in: protocols(value).joined(separator: ","))
        }
        let isURL = ["Location", "Content-Location", "Referer"].contains { $0.equalsIgnoringCase(name) }
        return isURL ? url(value) : pairs(in: value)
    }

    package func isSecret(header name: String) -> Bool {
        headerNames.contains(name.asSecretName) || hasSecretWords(name)
    }

    /// Returns whether a member is a secret. A name such as `tokens` before a number is a count. A name with a hyphen may
    /// be that of a header field, which a server returns in JSON.
    package func isSecret(member name: String, before value: UInt8? = nil) -> Bool {
        let known = name.asSecretName
        let isField = name.utf8.contains(UInt8(ascii: "-")) && headerNames.contains(known)
        guard isField || memberNames.contains(known) || hasSecretWords(name) else { return false }
        return value?.isDigit != true || !name.lowercased().hasSuffix("tokens")
    }

    private func hasSecretWords(_ name: some StringProtocol) -> Bool {
        matchesWords && SecretName(name).isSecret
    }

    /// Whether the redactor has no names, so that it changes nothing.
    package var isEmpty: Bool { headerNames.isEmpty && parameterNames.isEmpty && memberNames.isEmpty && !matchesWords }

    /// Returns whether the value of a parameter is a secret: of `token`, and also of `user[token]`, `user.token` and
    /// `route?token`.
    package func isSecret(parameter name: String) -> Bool {
        isSecret(parameter: name, among: parameterNames)
    }

    func isSecret(parameter name: String, among names: Set<String>) -> Bool {
        name.utf8.split(whereSeparator: ASCIISet.nameSeparators.contains).contains { part in
            names.contains(String(Substring(part)).asSecretName) || hasSecretWords(Substring(part))
        }
    }
}

extension ASCIISet {
    fileprivate static let nameSeparators = ASCIISet("[].?;")
}

extension String {
    /// The words between spaces. An array literal would take longer to compile.
    var words: Set<String> { Set(split(separator: " ").map(String.init)) }

    /// The name for comparisons: `Api-Key`, `api_key` and `apiKey` are equal.
    fileprivate var asSecretName: String {
        String(
            decoding: utf8.lazy.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }.map(\.lowercased),
            as: UTF8.self)
    }
}
