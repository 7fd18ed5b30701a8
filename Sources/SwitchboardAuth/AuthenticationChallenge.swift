import Switchboard
import SwitchboardText

/// What a server asks for in a `WWW-Authenticate` field ([RFC 9110
/// §11.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1)).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// One parameter.
    public struct Parameter: Sendable, Hashable {
        /// The name, in lower case.
        public let name: String
        /// The value, without the quotes it may have had.
        public let value: String
    }

    /// The scheme as it was written: `Basic`, `Bearer`, `Digest`. Schemes compare without case.
    public let scheme: String
    /// The one value that some schemes have in place of parameters, `Negotiate` for instance; nil without.
    public let token68: String?
    /// The parameters in their order.
    public let parameters: [Parameter]

    /// The value of a parameter, its name without case; of repeated ones the first. Nil when there is none.
    public subscript(name: String) -> String? {
        parameters.first { $0.name.equalsIgnoringCase(name) }?.value
    }

    /// Whether it is of a scheme.
    public func isScheme(_ name: String) -> Bool {
        scheme.equalsIgnoringCase(name)
    }

    /// The challenges in a field, or in several joined by commas, in their order. What breaks the syntax is passed over up to
    /// the next comma outside of quotes.
    public static func parse(_ field: String) -> [AuthenticationChallenge] {
        var scanner = ChallengeScanner(field)
        return scanner.scan()
    }
}

extension NetworkResponse {
    /// What the server asks for, in all `WWW-Authenticate` fields. Empty when it asks for nothing.
    public var challenges: [AuthenticationChallenge] {
        headers.values(for: "WWW-Authenticate").flatMap(AuthenticationChallenge.parse)
    }
}
