import Foundation
import SwitchboardText

/// Which names are secrets, and what stands in their place wherever this package makes text: logs, curl commands,
/// errors.
public struct Redaction: Sendable {
    private var redactor: Redactor

    /// Header names whose values are secrets, and endings of such names. Compared without case, `-` and `_`.
    public var headerNames: Set<String> { redactor.headerNames }
    /// Parameter names whose values are secrets: in queries and in forms. Compared without case, `-` and `_`.
    public var parameterNames: Set<String> { redactor.parameterNames }
    /// Names of JSON members whose values are secrets. By default ``parameterNames`` without `key`, `code` and
    /// `session`, which in a body are mostly an error's code or an item's key, and some plurals such as `tokens`, unless
    /// they count.
    public var memberNames: Set<String> { redactor.memberNames }
    /// What is written in place of a secret.
    public var mask: String {
        get { redactor.mask }
        set { redactor.mask = newValue }
    }

    /// Makes a redaction of these names and no others.
    public init(headerNames: some Sequence<String>, parameterNames: some Sequence<String>) {
        redactor = Redactor(headerNames: headerNames, parameterNames: parameterNames)
    }

    private init(_ redactor: Redactor) {
        self.redactor = redactor
    }

    /// The default: credentials, cookies, keys and tokens by their usual names, and whatever ends like one.
    public static let standard = Redaction(Redactor.standard)

    /// Replaces nothing. For tests and for tracing against servers whose secrets are worth nothing.
    public static let none = Redaction(headerNames: [], parameterNames: [])

    /// This redaction with more names; parameter names count as member names too.
    public func adding(
        headerNames: [String] = [], parameterNames: [String] = [], memberNames: [String] = []
    ) -> Redaction {
        Redaction(
            redactor.adding(headerNames: headerNames, parameterNames: parameterNames, memberNames: memberNames))
    }

    /// The value of a header, or the mask. In a value that is no secret itself, the secrets of URLs are replaced.
    public func value(_ value: String, ofHeader name: String) -> String {
        redactor.value(value, ofHeader: name)
    }

    /// A URL's text with the values of secret parameters and any password before the host replaced.
    public func url(_ text: String) -> String {
        redactor.url(text)
    }

    /// A query or a form with the values of secret names replaced.
    public func form(_ text: String) -> String {
        redactor.form(text)
    }

    /// A body's text with the values of secret names replaced: JSON members, also within a JSON string; pairs of forms;
    /// elements and attributes of markup; header fields; lines of YAML; parts of `multipart/form-data`; and the queries of URLs
    /// wherever they stand.
    ///
    /// The text need not be whole or valid; what looks like a member with a secret name is replaced all the same.
    public func text(_ text: String) -> String {
        redactor.text(text)
    }

    /// Text with the values of `name=value` replaced for secret names, as they stand in URLs amid prose, markup and
    /// JSON, those of header lines, `Authorization: Bearer …`, and what stands before the host of a URL.
    package func pairs(in text: String) -> String {
        redactor.pairs(in: text)
    }

    package func isSecret(header name: String) -> Bool { redactor.isSecret(header: name) }
    package func isSecret(member name: String) -> Bool { redactor.isSecret(member: name) }
    /// `token`, and also `user[token]`, `user.token` and `route?token`.
    package func isSecret(parameter name: String) -> Bool { redactor.isSecret(parameter: name) }
    /// Whether nothing is a secret.
    package var isNone: Bool { redactor.isNone }
}
