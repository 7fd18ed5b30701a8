import SwitchboardText

/// Malformed directives. Their sender may mean another one: a quote that is not closed hides the directives behind it, as
/// does a `;` in place of a comma.
extension CacheControl {
    private static let tokenBytes = ASCIISet.alphanumerics.union(ASCIISet("!#$%&'*+-.^_`|~"))

    /// Returns the directives that forbid an answer without the server and whose name is in a malformed directive.
    static func hidden(in directive: String) -> [String] {
        guard !isWellFormed(directive.utf8) else { return [] }
        let tokens = directive.lowercased().utf8.split { !tokenBytes.contains($0) }
        return ["no-store", "no-cache"].filter { name in tokens.contains { $0.elementsEqual(name.utf8) } }
    }

    /// Returns whether a directive is a token, optionally with a token or a quoted string as its value ([RFC 9111
    /// §5.2](https://www.rfc-editor.org/rfc/rfc9111#section-5.2)).
    private static func isWellFormed(_ directive: String.UTF8View) -> Bool {
        let equals = directive.firstIndex(of: UInt8(ascii: "=")) ?? directive.endIndex
        guard isToken(directive[..<equals]) else { return false }
        let value = directive[equals...].dropFirst()
        return equals == directive.endIndex || isToken(value) || isQuoted(value)
    }

    private static func isToken(_ text: Substring.UTF8View) -> Bool {
        !text.isEmpty && text.allSatisfy(tokenBytes.contains)
    }

    private static func isQuoted(_ text: Substring.UTF8View) -> Bool {
        guard text.count > 1, text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") else { return false }
        var isEscaped = false
        for byte in text.dropFirst().dropLast() {
            if byte == UInt8(ascii: "\""), !isEscaped { return false }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        return !isEscaped
    }
}
