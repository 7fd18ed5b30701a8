import Foundation
import SwitchboardJSON
import SwitchboardText

/// Masks the secrets of an archive, which it stores as a trie. Each character of an occurrence may be unescaped, or
/// escaped for a URL, for JSON, for JSON within JSON or for markup.
///
/// The time of a search is linear in the text, whatever the number and length of the secrets.
package struct SecretTrie: Sendable {
    private struct Edge: Hashable {
        var node: Int
        var scalar: Unicode.Scalar
    }

    /// One of the ways to decode the bytes up to an index: as the characters that lead to a node.
    private struct Reading: Equatable {
        var index: Int
        var node: Int
    }

    /// The length from which a prefix of a secret is masked as the secret, in characters.
    static let prefixLength = 64
    /// The largest number of readings that a search follows at once.
    static let maximumReadings = 8

    private var children: [Edge: Int] = [:]
    /// For each node, true if a secret ends there.
    private var isEnd = [false]
    /// The escaped and unescaped forms of characters, as a trie of bytes.
    private var forms: [(children: [UInt8: Int], scalars: [Unicode.Scalar])] = [([:], [])]
    /// For each byte, whether an occurrence may begin with it.
    private var firstBytes = [Bool](repeating: false, count: 256)

    private let mask: [UInt8]

    init(_ secrets: some Sequence<String>, mask: String) {
        self.mask = Array(mask.utf8)
        var known: Set<Unicode.Scalar> = []
        for secret in secrets {
            var node = 0
            for scalar in secret.unicodeScalars {
                if known.insert(scalar).inserted { addForms(of: scalar) }
                if node == 0 { for form in scalar.writtenForms { firstBytes[Int(form[0])] = true } }
                let edge = Edge(node: node, scalar: scalar)
                node = children[edge] ?? isEnd.count
                if node == isEnd.count {
                    children[edge] = node
                    isEnd.append(false)
                }
            }
            if node > 0 { isEnd[node] = true }
        }
    }

    private mutating func addForms(of scalar: Unicode.Scalar) {
        for form in Set(scalar.writtenForms) {
            var node = 0
            for byte in form {
                let next = forms[node].children[byte] ?? forms.count
                if next == forms.count {
                    forms[node].children[byte] = next
                    forms.append(([:], []))
                }
                node = next
            }
            forms[node].scalars.append(scalar)
        }
    }

    package func masked(_ entry: HAR.Entry) -> HAR.Entry {
        children.isEmpty ? entry : entry.replacingParts { masked($1, $0) }
    }

    package func masked(_ request: HAR.Request) -> HAR.Request {
        children.isEmpty ? request : request.replacingParts { masked($1, $0) }
    }

    private func masked(_ bytes: Data, _ part: HAR.Part) -> Data {
        if case .body(let type) = part { masked(body: bytes, type: type) } else { masked(bytes) }
    }

    /// Masks the secrets in a body, also as UTF-16 or UTF-32. An object or an array of JSON stays JSON if each secret is
    /// within one string, number or word.
    package func masked(body data: Data, type: String) -> Data {
        let masked = masked(content: data)
        guard let encoding = masked.wideEncoding(ofType: type) else { return masked }
        let length = masked.wholeLength(in: encoding)
        guard let text = masked.prefix(length).text(in: encoding) else { return masked }
        let narrow = String(decoding: self.masked(content: Data(text.utf8)), as: UTF8.self)
        guard let wide = narrow.data(using: encoding) else { return masked }
        return wide + masked.dropFirst(length)
    }

    private func masked(content data: Data) -> Data {
        var steps = 0
        return masked(data, steps: &steps, isBody: true)
    }

    package func masked(_ text: String) -> String {
        let data = Data(text.utf8)
        let masked = masked(data)
        return masked == data ? text : String(decoding: masked, as: UTF8.self)
    }

    package func masked(_ data: Data) -> Data {
        var steps = 0
        return masked(data, steps: &steps)
    }

    /// Masks the secrets in bytes. Adds the number of compared characters to `steps`. In a body that is JSON, the mask
    /// replaces whole numbers and whole escapes, and becomes a string outside of strings.
    func masked(_ data: Data, steps: inout Int, isBody: Bool = false) -> Data {
        let bytes = Array(data)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var token = JSONToken()
        // Nil until the first secret, because few bodies contain one.
        var keepsJSON = isBody ? nil : false
        var index = 0
        while index < bytes.count {
            guard let found = end(in: bytes, from: index, steps: &steps) else {
                if keepsJSON != false { token.read(bytes[index]) }
                result.append(bytes[index])
                index += 1
                continue
            }
            if keepsJSON == nil { keepsJSON = JSONTree(data) != nil }
            guard keepsJSON == true else {
                result += mask
                index = found
                continue
            }
            if token.continues(with: bytes[index]) { result.removeLast(token.length) }
            if !token.isInString { result.append(.quote) }
            result += mask
            while index < found || index < bytes.count && token.continues(with: bytes[index]) {
                token.read(bytes[index])
                index += 1
            }
            if !token.isInString { result.append(.quote) }
        }
        return Data(result)
    }

    /// Returns the end of the longest occurrence of a secret, or of a prefix of a long one, that begins at this index. Nil
    /// without one. Adds the number of compared characters to `steps`.
    private func end(in bytes: [UInt8], from start: Int, steps: inout Int) -> Int? {
        guard firstBytes[Int(bytes[start])] else { return nil }
        var found: Int?
        var readings = [Reading(index: start, node: 0)]
        var length = 0
        while !readings.isEmpty {
            var next: [Reading] = []
            for reading in readings { extend(reading, in: bytes, into: &next, &steps) }
            readings = next
            length += 1
            for reading in readings where length >= Self.prefixLength || isEnd[reading.node] {
                found = Swift.max(found ?? 0, reading.index)
            }
        }
        return found
    }

    /// Adds the readings that continue this one by one character.
    private func extend(_ reading: Reading, in bytes: [UInt8], into next: inout [Reading], _ steps: inout Int) {
        var form = 0
        var index = reading.index
        while index < bytes.count, let child = forms[form].children[bytes[index]] {
            form = child
            index += 1
            for scalar in forms[form].scalars {
                steps += 1
                guard let node = children[Edge(node: reading.node, scalar: scalar)] else { continue }
                let longer = Reading(index: index, node: node)
                if next.count < Self.maximumReadings, !next.contains(longer) { next.append(longer) }
            }
        }
    }
}

/// The token of JSON that has been read up to an index: a number or a word, or an escape in a string.
private struct JSONToken {
    private(set) var isInString = false
    /// The number of bytes of the token. 0 between tokens.
    private(set) var length = 0
    /// The number of bytes that the escape needs.
    private var missing = 0

    /// Returns whether the next byte belongs to the token.
    func continues(with byte: UInt8) -> Bool {
        length > 0 && (isInString || Self.isInWord(byte))
    }

    mutating func read(_ byte: UInt8) {
        if !isInString {
            isInString = byte == .quote
            length = Self.isInWord(byte) ? length + 1 : 0
        } else if length > 0 {
            missing = length == 1 && byte == UInt8(ascii: "u") ? 4 : missing - 1
            length = missing > 0 ? length + 1 : 0
        } else if byte == .backslash {
            (length, missing) = (1, 1)
        } else {
            isInString = byte != .quote
        }
    }

    private static func isInWord(_ byte: UInt8) -> Bool {
        switch byte {
        case .quote, .comma, .colon, .leftBrace, .rightBrace, .leftBracket, .rightBracket: false
        default: byte > .space
        }
    }
}

extension UnicodeScalar {
    /// The bytes of the character unescaped, and escaped for a URL, for JSON, for JSON within JSON and for markup.
    var writtenForms: [[UInt8]] {
        let scalar = self
        let utf8 = Array(String(scalar).utf8)
        var texts = [
            utf8.map { "%" + $0.hexText }.joined(), utf8.map { "%25" + $0.hexText }.joined(),
            String(scalar).utf16.map { "\\u" + $0.hexText }.joined(),
        ]
        texts += texts.map { $0.uppercasedDigits }
        if let short = Self.short[scalar] { texts.append(short) }
        if scalar.value > 0x7E {
            // Servers read UTF-8 in header fields as Latin-1.
            let units = utf8.map { UInt16($0) }
            texts.append(String(decoding: units, as: UTF16.self))
            texts.append(units.map { "\\u" + $0.hexText }.joined())
        }
        var bytes: [[UInt8]] = []
        if 0x80...0xFF ~= scalar.value {
            // The byte of ISO 8859-1.
            let byte = UInt8(scalar.value)
            bytes = [[byte]]
            texts += ["%" + byte.hexText, "%25" + byte.hexText].flatMap { [$0, $0.uppercasedDigits] }
        }
        texts += texts.filter { $0.contains("\\") }.map { $0.escapedForJSON }
        if let name = Self.references[scalar] { texts.append("&\(name);") }
        if scalar.isASCII {
            let hex = String(scalar.value, radix: 16)
            texts += ["&#\(scalar.value);", "&#x\(hex);", "&#x\(hex.uppercased());"]
        }
        if scalar == " " { texts.append("+") }
        return [utf8] + bytes + texts.map { Array($0.utf8) }
    }

    private static let short: [Unicode.Scalar: String] = [
        "\"": "\\\"", "\\": "\\\\", "/": "\\/", "\n": "\\n", "\r": "\\r", "\t": "\\t",
    ]
    private static let references: [Unicode.Scalar: String] = [
        "&": "amp", "<": "lt", ">": "gt", "\"": "quot", "'": "apos",
    ]
}

extension String {
    /// The escape with its digits in upper case.
    fileprivate var uppercasedDigits: String { uppercased().replacingOccurrences(of: "\\U", with: "\\u") }

    fileprivate var escapedForJSON: String {
        replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
    }
}
