import Foundation

extension UnicodeScalar {
    /// The bytes of the character as it is, and escaped for a URL, for JSON, for JSON within JSON and for markup.
    var writtenForms: [[UInt8]] {
        let scalar = self
        let utf8 = Array(String(scalar).utf8)
        var texts = [
            utf8.map { "%" + $0.hex }.joined(), utf8.map { "%25" + $0.hex }.joined(),
            String(scalar).utf16.map { "\\u" + $0.hex }.joined(),
        ]
        texts += texts.map { $0.uppercasedDigits }
        if let short = Self.short[scalar] { texts.append(short) }
        if scalar.value > 0x7E {
            // Servers read UTF-8 in header fields as Latin-1.
            let units = utf8.map { UInt16($0) }
            texts.append(String(decoding: units, as: UTF16.self))
            texts.append(units.map { "\\u" + $0.hex }.joined())
        }
        texts += texts.filter { $0.contains("\\") }.map { $0.escapedForJSON }
        texts += Self.markup[scalar] ?? []
        if scalar == " " { texts.append("+") }
        return [utf8] + texts.map { Array($0.utf8) }
    }

    private static let short: [Unicode.Scalar: String] = [
        "\"": "\\\"", "\\": "\\\\", "/": "\\/", "\n": "\\n", "\r": "\\r", "\t": "\\t",
    ]
    private static let markup: [Unicode.Scalar: [String]] = [
        "&": ["&amp;", "&#38;"], "<": ["&lt;"], ">": ["&gt;"], "\"": ["&quot;", "&#34;"],
        "'": ["&apos;", "&#39;", "&#x27;"],
    ]
}

extension FixedWidthInteger {
    /// The digits in lower case, with leading zeros.
    fileprivate var hex: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
    }
}

extension String {
    /// The escape with its digits in upper case.
    fileprivate var uppercasedDigits: String { uppercased().replacingOccurrences(of: "\\U", with: "\\u") }

    fileprivate var escapedForJSON: String {
        replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
    }
}
