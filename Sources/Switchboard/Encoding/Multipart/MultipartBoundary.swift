import Foundation
import SwitchboardText

package enum MultipartBoundary {
    /// Returns the boundary in the value of a `Content-Type`: 1 to 70 visible characters ([RFC 2046
    /// §5.1.1](https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1)). An unquoted boundary ends at a semicolon, a
    /// comma or a blank. So `=_a/b:c` is accepted, although it should be quoted.
    package static func parse(contentType: String) throws(NetworkError) -> String {
        var field = FieldScanner(contentType)
        let type = field.text { $0 != .semicolon }.trimmedOfBlanks
        let words = type.utf8.split(separator: .slash, maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, words[0].equalsLowercase("multipart"), words[1].isHTTPToken else {
            throw NetworkError(
                .unexpectedContentType, reason: "expected a multipart type, found \(type.quotedForMessage)")
        }
        var boundaries: [String] = []
        while field.current != nil {
            field.advance()
            let name = field.text { $0 != .equals && $0 != .semicolon }.trimmedOfBlanks
            guard field.current == .equals else { continue }
            field.advance()
            field.skipBlanks()
            let value = try value(&field)
            // Only blanks may follow the value before the next semicolon.
            guard field.text(while: { $0 != .semicolon }).trimmedOfBlanks.isEmpty else {
                throw NetworkError(.invalidResponse, reason: "the multipart type has a parameter that cannot be read")
            }
            if name.equalsIgnoringCase("boundary") { boundaries.append(value) }
        }
        guard let boundary = boundaries.first, boundaries.allSatisfy({ $0.utf8.elementsEqual(boundary.utf8) }) else {
            let problem = boundaries.isEmpty ? "no boundary" : "boundaries that differ"
            throw NetworkError(.invalidResponse, reason: "the multipart type has \(problem)")
        }
        guard (1...70).contains(boundary.utf8.count), boundary.last != " ",
            boundary.utf8.allSatisfy({ (0x20..<0x7F).contains($0) })
        else {
            throw NetworkError(
                .invalidResponse, reason: "the multipart type has an invalid boundary (RFC 2046 §5.1.1)")
        }
        return boundary
    }

    private static func value(_ field: inout FieldScanner) throws(NetworkError) -> String {
        guard field.current == .quote else { return field.text { !" \t;,\"".utf8.contains($0) } }
        let (value, isClosed) = field.quotedString()
        guard isClosed else {
            throw NetworkError(.invalidResponse, reason: "the multipart type has an unbalanced quotation mark")
        }
        return value
    }
}
