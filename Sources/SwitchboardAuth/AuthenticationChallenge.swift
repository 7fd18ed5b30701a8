import Foundation
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

/// Reads challenges from left to right, each byte at most twice:
/// `challenge = auth-scheme [ 1*SP ( token68 / #auth-param ) ]`. Commas separate challenges, and parameters too.
struct ChallengeScanner {
    private let bytes: [UInt8]
    private var index = 0
    private var challenges: [AuthenticationChallenge] = []

    /// The challenge that is being read.
    private var scheme: String?
    private var token68: String?
    private var parameters: [AuthenticationChallenge.Parameter] = []

    init(_ field: String) {
        bytes = Array(field.utf8)
    }

    mutating func scan() -> [AuthenticationChallenge] {
        while index < bytes.count {
            element()
            skipToComma()
        }
        close()
        return challenges
    }

    /// Reads an element between two commas: a parameter, a scheme, or a scheme with its first value or parameter.
    private mutating func element() {
        skipBlanks()
        let word = token()
        guard !word.isEmpty else { return }
        let hadBlanks = skipBlanks()
        if current == UInt8(ascii: "="), scheme != nil || !hadBlanks {
            // `name=value`. A blank before the sign is invalid, and recipients accept it (RFC 9110 §5.6.3).
            parameter(word)
            return
        }
        guard current == nil || current == UInt8(ascii: ",") || hadBlanks else { return }
        close()
        scheme = word
        guard hadBlanks, current != nil, current != UInt8(ascii: ",") else { return }
        let start = index
        if let text = token68Text() {
            token68 = text
            return
        }
        index = start
        let name = token()
        guard !name.isEmpty else { return }
        skipBlanks()
        if current == UInt8(ascii: "=") { parameter(name) }
    }

    private mutating func parameter(_ name: String) {
        index += 1
        skipBlanks()
        let value = current == UInt8(ascii: "\"") ? quoted() : token()
        skipBlanks()
        // Text after the value, without a comma, makes the parameter invalid.
        guard scheme != nil, let value, current == nil || current == UInt8(ascii: ",") else { return }
        parameters.append(AuthenticationChallenge.Parameter(name: name.lowercased(), value: value))
    }

    private mutating func close() {
        guard let scheme else { return }
        challenges.append(AuthenticationChallenge(scheme: scheme, token68: token68, parameters: parameters))
        (self.scheme, token68, parameters) = (nil, nil, [])
    }

    // MARK: Parts

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func token() -> String {
        let start = index
        let allowed = ASCIISet.token
        while let byte = current, allowed.contains(byte) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// Reads `1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="`, up to a comma or the end. Nil for anything
    /// else.
    private mutating func token68Text() -> String? {
        let start = index
        let allowed = ASCIISet.unreserved.union(ASCIISet("+/"))
        while let byte = current, allowed.contains(byte) { index += 1 }
        guard index > start else { return nil }
        while current == UInt8(ascii: "=") { index += 1 }
        let end = index
        skipBlanks()
        guard current == nil || current == UInt8(ascii: ",") else { return nil }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Reads a quoted string. Nil when the second quote is missing.
    private mutating func quoted() -> String? {
        var output: [UInt8] = []
        index += 1
        while let byte = current {
            index += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: output, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = current else { return nil }
                index += 1
                output.append(escaped)
            } else {
                output.append(byte)
            }
        }
        return nil
    }

    /// Skips blanks. Returns whether it skipped any.
    @discardableResult
    private mutating func skipBlanks() -> Bool {
        let start = index
        while current == 0x20 || current == 0x09 { index += 1 }
        return index > start
    }

    /// Skips everything up to the next comma outside of quotes, and the comma.
    private mutating func skipToComma() {
        while let byte = current {
            if byte == UInt8(ascii: "\"") {
                _ = quoted()
                continue
            }
            index += 1
            if byte == UInt8(ascii: ",") { return }
        }
    }
}
