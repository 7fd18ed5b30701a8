import Switchboard
import SwitchboardText

/// A server's challenge in a `WWW-Authenticate` field ([RFC 9110
/// §11.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1)).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// A parameter of a challenge.
    public struct Parameter: Sendable, Hashable {
        /// The name, in lower case.
        public let name: String
        /// The value, without its quotes.
        public let value: String
    }

    /// The scheme as the server wrote it: `Basic`, `Bearer`, `Digest`. Schemes compare without case.
    public let scheme: String
    /// The single value that some schemes, such as `Negotiate`, have in place of parameters. Nil without one.
    public let token68: String?
    /// The parameters in their order.
    public let parameters: [Parameter]

    /// The value of a parameter, whose name is compared without case. The first of repeated parameters, or nil when
    /// none has the name.
    public subscript(name: String) -> String? {
        parameters.first { $0.name.equalsIgnoringCase(name) }?.value
    }

    /// Returns whether the challenge has a scheme, compared without case.
    public func isScheme(_ name: String) -> Bool {
        scheme.equalsIgnoringCase(name)
    }

    /// Returns the challenges in a field, or in several fields joined by commas, in their order. Invalid syntax is
    /// skipped up to the next comma outside of quotes.
    public static func parse(_ field: String) -> [AuthenticationChallenge] {
        var scanner = ChallengeScanner(field)
        return scanner.scan()
    }
}

extension NetworkResponse {
    /// The challenges in all `WWW-Authenticate` fields. Empty when the server sent none.
    public var challenges: [AuthenticationChallenge] {
        headers.values(for: "WWW-Authenticate").flatMap(AuthenticationChallenge.parse)
    }
}
