import Foundation
import SwitchboardText

/// The boundary of a `multipart` media type.
package enum MultipartBoundary {
    /// Parses the boundary from the value of a `Content-Type`.
    ///
    /// An unquoted boundary ends at a semicolon, a comma or a blank. So `=_a/b:c` is accepted, although it should be
    /// quoted.
    ///
    /// - Throws: `NetworkError.Code.unexpectedContentType` for another type. `NetworkError.Code.invalidResponse`
    ///   without a boundary of 1 to 70 visible characters ([RFC 2046
    ///   §5.1.1](https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1)), or with two that differ.
    package static func parse(contentType: String) throws(NetworkError) -> String {
        var rest = contentType.utf8[...]
        let type = rest.popPrefix { $0 != UInt8(ascii: ";") }.trimmedOfBlanks
        let slash = type.firstIndex(of: UInt8(ascii: "/")) ?? type.endIndex
        guard type[..<slash].equalsLowercase("multipart"), type[slash...].dropFirst().isHTTPToken else {
            let found = String(decoding: type, as: UTF8.self).quotedForMessage
            throw NetworkError(.unexpectedContentType, reason: "expected a multipart type, found \(found)")
        }
        var boundaries: [[UInt8]] = []
        while rest.popFirst() != nil {
            let name = rest.popPrefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }.trimmedOfBlanks
            guard rest.first == UInt8(ascii: "=") else { continue }
            rest = rest.dropFirst().drop { $0 == 0x20 || $0 == 0x09 }
            let value = rest.first == UInt8(ascii: "\"") ? try quoted(&rest) : unquoted(&rest)
            // Only blanks may follow the value before the next semicolon.
            guard rest.popPrefix(while: { $0 != UInt8(ascii: ";") }).trimmedOfBlanks.isEmpty else {
                throw NetworkError(.invalidResponse, reason: "the multipart type has a parameter that cannot be read")
            }
            if name.equalsLowercase("boundary") { boundaries.append(value) }
        }
        guard let boundary = boundaries.first, boundaries.allSatisfy({ $0 == boundary }) else {
            let problem = boundaries.isEmpty ? "no boundary" : "boundaries that differ"
            throw NetworkError(.invalidResponse, reason: "the multipart type has \(problem)")
        }
        guard (1...70).contains(boundary.count), boundary.last != 0x20,
            boundary.allSatisfy({ (0x20..<0x7F).contains($0) })
        else {
            throw NetworkError(
                .invalidResponse, reason: "the multipart type has an invalid boundary (RFC 2046 §5.1.1)")
        }
        return String(decoding: boundary, as: UTF8.self)
    }

    private static func unquoted(_ rest: inout Substring.UTF8View) -> [UInt8] {
        Array(rest.popPrefix { !" \t;,\"".utf8.contains($0) })
    }

    /// Parses a `quoted-string` ([RFC 9110 §5.6.4](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.4)).
    private static func quoted(_ rest: inout Substring.UTF8View) throws(NetworkError) -> [UInt8] {
        var value: [UInt8] = []
        rest.removeFirst()
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return value }
            guard byte == UInt8(ascii: "\\") else {
                value.append(byte)
                continue
            }
            if let next = rest.popFirst() { value.append(next) }
        }
        throw NetworkError(.invalidResponse, reason: "the multipart type has an unbalanced quotation mark")
    }
}

extension Substring.UTF8View {
    /// Removes and returns the bytes before the first byte that is not a member.
    fileprivate mutating func popPrefix(while isMember: (UInt8) -> Bool) -> Substring.UTF8View {
        let taken = prefix(while: isMember)
        self = self[taken.endIndex...]
        return taken
    }
}
