import Foundation
import Switchboard
import SwitchboardText

/// A server's challenge in a `WWW-Authenticate` field ([RFC 9110
/// §11.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1)).
package struct AuthenticationChallenge: Sendable, Hashable {
    /// A parameter of a challenge.
    package struct Parameter: Sendable, Hashable {
        /// The name, in lower case.
        package let name: String
        /// The value, without its quotes.
        package let value: String
    }

    /// The scheme as the server wrote it: `Basic`, `Bearer`, `Digest`. Schemes compare without case.
    package let scheme: String
    /// The single value that some schemes, such as `Negotiate`, have in place of parameters. Nil without one.
    package let token68: String?
    /// The parameters in their order.
    package let parameters: [Parameter]

    /// The value of a parameter, whose name is compared without case. The first of repeated parameters, or nil when
    /// none has the name.
    package subscript(name: String) -> String? {
        parameters.first { $0.name.equalsIgnoringCase(name) }?.value
    }

    /// Returns whether the challenge has a scheme, compared without case.
    package func isScheme(_ name: String) -> Bool {
        scheme.equalsIgnoringCase(name)
    }

    /// Returns the challenges in a field, or in several fields joined by commas, in their order. Invalid syntax is
    /// skipped up to the next comma outside of quotes.
    package static func parse(_ field: String) -> [AuthenticationChallenge] {
        var parser = ChallengeParser(field)
        return parser.parse()
    }
}

extension NetworkResponse {
    /// The challenges in all `WWW-Authenticate` fields. Empty when the server sent none.
    package var challenges: [AuthenticationChallenge] {
        headers.values(for: "WWW-Authenticate").flatMap(AuthenticationChallenge.parse)
    }
}

/// Parses challenges: `challenge = auth-scheme [ 1*SP ( token68 / #auth-param ) ]`. Commas separate challenges, and
/// parameters too.
private struct ChallengeParser {
    private var field: FieldScanner
    private var challenges: [AuthenticationChallenge] = []

    /// The challenge that is being read.
    private var scheme: String?
    private var token68: String?
    private var parameters: [AuthenticationChallenge.Parameter] = []

    init(_ field: String) {
        self.field = FieldScanner(field)
    }

    mutating func parse() -> [AuthenticationChallenge] {
        while field.current != nil {
            parseElement()
            field.skipToComma()
        }
        endChallenge()
        return challenges
    }

    /// Parses an element between two commas: a parameter, a scheme, or a scheme with its first value or parameter.
    private mutating func parseElement() {
        field.skipBlanks()
        let word = parseToken()
        guard !word.isEmpty else { return }
        let hadBlanks = field.skipBlanks()
        if field.current == .equals, scheme != nil || !hadBlanks {
            // `name=value`. A blank before the sign is invalid, and recipients accept it (RFC 9110 §5.6.3).
            return parseParameter(word)
        }
        guard isAtElementEnd || hadBlanks else { return }
        endChallenge()
        scheme = word
        guard hadBlanks, !isAtElementEnd else { return }
        token68 = parseToken68()
        guard token68 == nil else { return }
        let name = parseToken()
        guard !name.isEmpty else { return }
        field.skipBlanks()
        if field.current == .equals { parseParameter(name) }
    }

    private mutating func parseParameter(_ name: String) {
        field.advance()
        field.skipBlanks()
        let (value, isClosed) = field.current == .quote ? field.quotedString() : (parseToken(), true)
        field.skipBlanks()
        // Text after the value, without a comma, makes the parameter invalid.
        guard scheme != nil, isClosed, isAtElementEnd else { return }
        parameters.append(AuthenticationChallenge.Parameter(name: name.lowercased(), value: value))
    }

    private mutating func endChallenge() {
        guard let scheme else { return }
        challenges.append(AuthenticationChallenge(scheme: scheme, token68: token68, parameters: parameters))
        (self.scheme, token68, parameters) = (nil, nil, [])
    }

    private var isAtElementEnd: Bool { field.current == nil || field.current == .comma }

    private mutating func parseToken() -> String {
        let allowed = ASCIISet.token
        return field.text { allowed.contains($0) }
    }

    /// Parses `1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="`, up to a comma or the end. Skips nothing
    /// and returns nil for anything else.
    private mutating func parseToken68() -> String? {
        let start = field
        let allowed = ASCIISet.unreserved.union(ASCIISet("+/"))
        let text = field.text { allowed.contains($0) }
        let padding = field.text { $0 == .equals }
        field.skipBlanks()
        if !text.isEmpty, isAtElementEnd { return text + padding }
        field = start
        return nil
    }
}
