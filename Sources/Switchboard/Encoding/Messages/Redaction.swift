import SwitchboardText
import Foundation

/// The names of secrets and the mask that replaces their values in logs, curl commands, errors and other texts of this
/// package.
public struct Redaction: Sendable {
    private var redactor: Redactor

    /// Header names whose values are secrets, in lower case and without `-` and `_`, which comparisons ignore.
    /// ``standard`` also redacts any name with the words of a secret, such as `X-Vault-Token`.
    public var headerNames: Set<String> { redactor.headerNames }
    /// Parameter names whose values are secrets, in queries and forms. Written as ``headerNames``.
    public var parameterNames: Set<String> { redactor.parameterNames }
    /// Names of JSON members whose values are secrets, written as ``headerNames``. By default these are
    /// ``parameterNames``, `cookie`, and some plurals such as `tokens`, unless their value is a number. `key`, `code` and
    /// `session` are excluded, because in a body they are mostly an error's code or an item's key. A member is also a
    /// secret if its name has a hyphen and is one of ``headerNames``, as in the JSON of a server that returns them.
    public var memberNames: Set<String> { redactor.memberNames }
    /// The text that replaces a secret.
    public var mask: String {
        get { redactor.mask }
        set { redactor.mask = newValue }
    }

    /// Creates a redaction with only these names.
    public init(headerNames: some Sequence<String>, parameterNames: some Sequence<String>) {
        redactor = Redactor(headerNames: headerNames, parameterNames: parameterNames)
    }

    private init(_ redactor: Redactor) {
        self.redactor = redactor
    }

    /// The default: the usual names of credentials, cookies, keys and tokens, and any name with the words of one. Without
    /// a name it recognizes JSON Web Tokens, private keys in PEM, and credentials behind `Bearer` or `Basic`.
    ///
    /// Words end at punctuation, digits and a change of case. `password`, `token`, `secret` and similar words make a
    /// secret, as in `passwordConfirmation` and `token_v2`, but not if a later word only describes it, as in
    /// `token_type`. `key`, `code` and `number` need one of certain words before them, as in `secret_key`, `mfa_code`
    /// and `card_number`. The token of a position in a list is none: `page_token`, `nextToken`.
    public static let standard = Redaction(Redactor.standard)

    /// A redaction without names, which changes nothing, for tests.
    public static let none = Redaction(headerNames: [], parameterNames: [])

    /// Returns this redaction with more names. Parameter names also become member names.
    public func adding(
        headerNames: [String] = [], parameterNames: [String] = [], memberNames: [String] = []
    ) -> Redaction {
        Redaction(
            redactor.adding(
                headerNames: headerNames, parameterNames: parameterNames, memberNames: parameterNames + memberNames))
    }

    /// Returns this redaction for the texts about a request with credentials in these header fields and parameters.
    /// Their names do not become member names, because `key` and `code` mostly mean something else in a body.
    func adding(credentialsIn headerNames: [String], _ parameterNames: [String]) -> Redaction {
        Redaction(redactor.adding(headerNames: headerNames, parameterNames: parameterNames))
    }

    /// Returns a header's value, or the mask for a secret. In other values, the secrets of URLs are redacted.
    public func value(_ value: String, ofHeader name: String) -> String {
        redactor.value(value, ofHeader: name)
    }

    /// Redacts the values of secret parameters in a URL's text, and the user and password before the host.
    public func url(_ text: String) -> String {
        redactor.url(text)
    }

    /// Redacts the values of secret names in a query or a form.
    public func form(_ text: String) -> String {
        redactor.form(text)
    }

    /// Redacts the values of secret names in a body's text.
    ///
    /// The text may contain JSON members, also inside a JSON string, members as Ruby and PHP print them, form pairs,
    /// elements and attributes of markup, property lists, header fields, lines of YAML, parts of `multipart/form-data`,
    /// and queries of URLs anywhere. It may be incomplete or invalid: anything that looks like a member with a secret
    /// name is redacted. `true`, `false`, `null` and a message such as `password: is too short` stay.
    public func text(_ text: String) -> String {
        redactor.text(text)
    }

    /// Returns the redacted beginning of a body, at most `limit` bytes. Nil for bytes that are not UTF-8. The time does
    /// not depend on the body's size.
    package func beginning(of body: Data, limit: Int) -> String? {
        redactor.beginning(of: body, limit: limit)
    }

    /// Redacts the values of secret names in prose, markup and JSON: `name=value` pairs of URLs, header lines such as
    /// `Authorization: Bearer …`, and user information before the host of a URL.
    package func pairs(in text: String) -> String {
        redactor.pairs(in: text)
    }

    package func isSecret(header name: String) -> Bool { redactor.isSecret(header: name) }
    /// Returns whether a member is a secret. A name such as `tokens` before a digit is a count.
    package func isSecret(member name: String, before value: UInt8? = nil) -> Bool {
        redactor.isSecret(member: name, before: value)
    }
    /// Returns whether a parameter name indicates a secret: `token`, and also `user[token]`, `user.token` and
    /// `route?token`.
    package func isSecret(parameter name: String) -> Bool { redactor.isSecret(parameter: name) }
    package var isEmpty: Bool { redactor.isEmpty }
}
