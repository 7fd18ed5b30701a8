import Foundation
import Switchboard

/// A secret in any form: each character as it is, or escaped for a URL, for JSON, for JSON within JSON or for markup,
/// mixed as servers mix them.
package struct SecretPattern: Sendable {
    /// The possible byte sequences of each character.
    private let characters: [[[UInt8]]]

    package init(_ secret: String) {
        characters = secret.unicodeScalars.map { Array(Set(Self.forms(of: $0))) }
    }

    /// The bytes that an occurrence may begin with.
    package var firstBytes: Set<UInt8> { Set(characters.first?.compactMap(\.first) ?? []) }

    /// Returns the end of the secret's occurrence at this position, or nil without one.
    package func end(in bytes: [UInt8], from start: Int) -> Int? {
        var ends = [start]
        for forms in characters {
            var next: [Int] = []
            for end in ends {
                for form in forms where bytes.holds(form, at: end) && !next.contains(end + form.count) {
                    next.append(end + form.count)
                }
            }
            guard !next.isEmpty else { return nil }
            ends = next
        }
        return ends.max()
    }

    private static func forms(of scalar: Unicode.Scalar) -> [[UInt8]] {
        let utf8 = Array(String(scalar).utf8)
        var texts = [
            utf8.map { "%" + $0.hex }.joined(), utf8.map { "%25" + $0.hex }.joined(),
            String(scalar).utf16.map { "\\u" + $0.hex }.joined(),
        ]
        texts += texts.map { $0.uppercasedDigits }
        if let short = short[scalar] { texts.append(short) }
        if scalar.value > 0x7E {
            // Servers read UTF-8 in header fields as Latin-1.
            let units = utf8.map { UInt16($0) }
            texts.append(String(decoding: units, as: UTF16.self))
            texts.append(units.map { "\\u" + $0.hex }.joined())
        }
        texts += texts.filter { $0.contains("\\") }.map { $0.escapedForJSON }
        texts += markup[scalar] ?? []
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

extension [UInt8] {
    fileprivate func holds(_ form: [UInt8], at index: Int) -> Bool {
        guard count - index >= form.count else { return false }
        for offset in form.indices where self[index + offset] != form[offset] { return false }
        return true
    }
}
