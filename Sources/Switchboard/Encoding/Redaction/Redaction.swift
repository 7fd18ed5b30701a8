import Foundation

/// Which names are secrets, and what stands in their place wherever this package makes text: logs, curl commands,
/// errors.
public struct Redaction: Sendable {
    /// Header names whose values are secrets, and endings of such names. Compared without case, `-` and `_`.
    public private(set) var headerNames: Set<String>
    /// Parameter names whose values are secrets: in queries and in forms. Compared without case, `-` and `_`.
    public private(set) var parameterNames: Set<String>
    /// Names of JSON members whose values are secrets. By default ``parameterNames`` without `key`, `code` and
    /// `session`, which in a body are mostly an error's code or an item's key, and some plurals such as `tokens`, unless
    /// they count.
    public private(set) var memberNames: Set<String>
    /// Endings that make any name a secret's: `X-Vault-Token`, `newPassword`.
    private var endings: [String] = []
    /// What is written in place of a secret.
    public var mask = "<redacted>"

    /// Makes a redaction of these names and no others.
    public init(headerNames: some Sequence<String>, parameterNames: some Sequence<String>) {
        self.headerNames = Set(headerNames.map(\.asSecretName))
        self.parameterNames = Set(parameterNames.map(\.asSecretName))
        memberNames = self.parameterNames.subtracting(["key", "code", "session"])
    }

    /// The default: credentials, cookies, keys and tokens by their usual names, and whatever ends like one.
    public static let standard: Redaction = {
        var redaction = Redaction(
            headerNames: [
                "Authorization", "Proxy-Authorization", "Cookie", "Cookie2", "Set-Cookie", "Api-Key",
                "Authentication-Info", "X-Auth", "X-Key", "X-Pin", "Session", "X-Session", "DPoP",
                "X-Goog-IAP-JWT-Assertion",
            ],
            parameterNames: [
                "key", "token", "auth", "authorization", "password", "pwd", "pass", "secret", "code", "code_verifier",
                "session",
                "sid", "sig", "pin", "assertion", "client_assertion", "bearer", "phpsessid", "sessid",
            ])
        redaction.memberNames.formUnion([
            "tokens", "accesstokens", "refreshtokens", "idtokens", "authtokens", "apitokens", "passwords", "secrets",
        ])
        redaction.endings = [
            "token", "secret", "password", "passwd", "passphrase", "passcode", "apikey", "accesskey", "privatekey",
            "authkey", "subscriptionkey", "signature", "credential", "credentials", "authorization", "sessionid",
            "accesscode", "authcode", "authorizationcode", "csrf", "xsrf", "otp", "jwt",
        ]
        return redaction
    }()

    /// Replaces nothing. For tests and for tracing against servers whose secrets are worth nothing.
    public static let none = Redaction(headerNames: [], parameterNames: [])

    /// This redaction with more names; parameter names count as member names too.
    public func adding(
        headerNames: [String] = [], parameterNames: [String] = [], memberNames: [String] = []
    ) -> Redaction {
        var result = self
        result.headerNames.formUnion(headerNames.map(\.asSecretName))
        result.parameterNames.formUnion(parameterNames.map(\.asSecretName))
        result.memberNames.formUnion((parameterNames + memberNames).map(\.asSecretName))
        return result
    }

    /// The value of a header, or the mask. In a value that is no secret itself, the secrets of URLs are replaced.
    public func value(_ value: String, ofHeader name: String) -> String {
        if isSecret(header: name) { return mask }
        let isURL = ["Location", "Content-Location", "Referer"].contains { $0.equalsIgnoringCase(name) }
        return isURL ? url(value) : pairs(in: value)
    }

    package func isSecret(header name: String) -> Bool {
        let name = name.asSecretName
        return headerNames.contains(name) || hasSecretEnding(name)
    }

    package func isSecret(member name: String) -> Bool {
        let name = name.asSecretName
        return memberNames.contains(name) || hasSecretEnding(name)
    }

    /// Whether it is a secret's name, and what follows is no number of tokens.
    func isSecret(member name: String, before value: UInt8?) -> Bool {
        guard isSecret(member: name) else { return false }
        return value.map { !(0x30...0x39).contains($0) || !name.lowercased().hasSuffix("tokens") } ?? true
    }

    private func hasSecretEnding(_ name: String) -> Bool {
        // CORS fields say what is allowed: `Access-Control-Allow-Credentials: true`.
        !name.utf8.starts(with: "accesscontrol".utf8)
            && endings.contains { name.utf8.suffix($0.utf8.count).elementsEqual($0.utf8) }
    }

    /// Whether nothing is a secret.
    package var isNone: Bool { headerNames.isEmpty && parameterNames.isEmpty && memberNames.isEmpty && endings.isEmpty }

    /// A URL's text with the values of secret parameters and any password before the host replaced.
    public func url(_ text: String) -> String {
        guard !isNone else { return text }
        var text = text
        if let start = text.range(of: "://")?.upperBound {
            let authority = text.utf8[start...].prefix { $0 != .slash && $0 != .questionMark && $0 != .numberSign }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) { text.replaceSubrange(start..<at, with: mask) }
        }
        let hash = text.utf8.firstIndex(of: .numberSign) ?? text.endIndex
        let fragment = hash == text.endIndex ? "" : "#" + form(String(text[text.utf8.index(after: hash)...]))
        guard let question = text.utf8[..<hash].firstIndex(of: .questionMark) else {
            return path(text[..<hash]) + fragment
        }
        let query = text.utf8.index(after: question)
        return path(text[..<question]) + "?" + form(String(text[query..<hash])) + fragment
    }

    /// A path with the values of secret parameters of its segments replaced: `/list;jsessionid=…/1`.
    private func path(_ text: Substring) -> String {
        guard text.utf8.contains(.semicolon) else { return String(text) }
        return text.pieces(between: .slash).map { segment in
            let pieces = segment.pieces(between: .semicolon)
            return ([String(pieces[0])] + pieces.dropFirst().map(pair)).joined(separator: ";")
        }.joined(separator: "/")
    }

    /// A query or a form with the values of secret names replaced.
    public func form(_ text: String) -> String {
        guard !isNone else { return text }
        return text.utf8.split(separator: .ampersand, omittingEmptySubsequences: false)
            .map { pair(Substring($0)) }.joined(separator: "&")
    }

    private func pair(_ pair: Substring) -> String {
        guard let equals = pair.utf8.firstIndex(of: .equals) else { return String(pair) }
        let value = pair.utf8.index(after: equals)
        let written = String(pair[..<equals]).replacingBytes([.plus: " "])
        if isSecret(parameter: written.removingPercentEncoding ?? written) { return pair[..<value] + mask }
        // Some servers take a semicolon for an ampersand. What stands behind the one of a secret may be a part of it.
        let pieces = pair[value...].pieces(between: .semicolon)
        var result = pair[..<value] + nested(String(pieces[0]), depth: 3)
        for piece in pieces.dropFirst() {
            if let equals = piece.utf8.firstIndex(of: .equals), isSecret(parameter: String(piece[..<equals])) {
                return result + ";" + piece[..<piece.utf8.index(after: equals)] + mask
            }
            result += ";" + nested(String(piece), depth: 3)
        }
        return String(result)
    }

    /// A value that may hold an escaped URL or query with secrets of its own: `next=https%3A%2F%2Fh%2F%3Ftoken%3D…`.
    private func nested(_ value: String, depth: Int) -> String {
        guard depth > 0, value.utf8.contains(.percent), let text = value.removingPercentEncoding, text != value else {
            return value
        }
        let inner = nested(text, depth: depth - 1)
        let masked = pairs(in: inner)
        guard masked != text else { return value }
        return masked.components(separatedBy: mask)
            .map { $0.addingPercentEncoding(withAllowedCharacters: .urlUnreserved) ?? mask }.joined(separator: mask)
    }

    /// `token`, and also `user[token]`, `user.token` and `route?token`.
    package func isSecret(parameter name: String) -> Bool {
        isSecret(parameter: name, among: parameterNames)
    }

    func isSecret(parameter name: String, among names: Set<String>) -> Bool {
        name.utf8.split(whereSeparator: ASCIISet.nameSeparators.contains).contains { part in
            let name = String(Substring(part)).asSecretName
            return names.contains(name) || hasSecretEnding(name)
        }
    }
}

extension ASCIISet {
    fileprivate static let nameSeparators = ASCIISet("[].?;")
}

extension String {
    /// The name as it is compared: `Api-Key`, `api_key` and `apiKey` are one.
    fileprivate var asSecretName: String {
        String(
            decoding: utf8.lazy.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }.map(\.lowercased),
            as: UTF8.self)
    }
}
