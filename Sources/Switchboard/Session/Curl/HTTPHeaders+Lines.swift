#if os(Linux)
import Foundation
import SwitchboardText

extension HTTPHeaders {
    /// The fields of a head's lines, as they came.
    init(lines bytes: [UInt8]) {
        var fields: [HTTPHeader] = []
        fields.reserveCapacity(16)
        var folds: [String] = []
        var isSuspect = false
        bytes.withUnsafeBufferPointer { bytes in
            var rest = bytes
            while let start = rest.baseAddress, !rest.isEmpty {
                let feed = memchr(start, 0x0A, rest.count).map { UnsafeRawPointer($0) - UnsafeRawPointer(start) }
                var end = feed ?? rest.count
                let next = feed == nil ? end : end + 1
                if end > 0, start[end - 1] == 0x0D { end -= 1 }
                let line = UnsafeBufferPointer(start: start, count: end)
                // A folded line goes on with the value before it (RFC 9112 §5.2).
                if end > 0, start[0].isBlank, !fields.isEmpty {
                    folds.append(String(httpBytes: line, isPlain: line.isPlainText).trimmedOfBlanks)
                } else {
                    if !folds.isEmpty { isSuspect = Self.unfold(&folds, into: &fields) || isSuspect }
                    isSuspect = Self.add(line, to: &fields) || isSuspect
                }
                rest = UnsafeBufferPointer(start: start + next, count: rest.count - next)
            }
        }
        if !folds.isEmpty { isSuspect = Self.unfold(&folds, into: &fields) || isSuspect }
        self.init(fields, isSuspect: isSuspect)
    }

    /// Adds the folded lines to the last field. True when it could not be sent.
    private static func unfold(_ folds: inout [String], into fields: inout [HTTPHeader]) -> Bool {
        guard let last = fields.popLast() else { return false }
        let field = HTTPHeader(name: last.name, value: ([last.value] + folds).joined(separator: " "))
        fields.append(field)
        folds = []
        return field.fault != nil
    }

    /// True when the line makes a field that could not be sent.
    private static func add(_ line: UnsafeBufferPointer<UInt8>, to fields: inout [HTTPHeader]) -> Bool {
        let allowed = ASCIISet.token
        var (colon, isToken) = (0, true)
        while colon < line.count, line[colon] != 0x3A {
            isToken = isToken && allowed.contains(line[colon])
            colon += 1
        }
        guard colon < line.count else { return false }
        var (start, end) = (colon + 1, line.count)
        while start < end, line[start].isBlank { start += 1 }
        while start < end, line[end - 1].isBlank { end -= 1 }
        let name = UnsafeBufferPointer(rebasing: line[..<colon])
        let value = UnsafeBufferPointer(rebasing: line[start..<end])
        let isPlain = value.isPlainText
        fields.append(
            HTTPHeader(
                name: String(httpBytes: name, isPlain: isToken),
                trimmedValue: String(httpBytes: value, isPlain: isPlain)))
        return !isToken || name.isEmpty || !isPlain && value.contains(where: \.breaksFieldValue)
    }
}

extension String {
    /// UTF-8, or ISO 8859-1 where the bytes are not ([RFC 9110
    /// §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)). `isPlain` says that they are known to be ASCII.
    fileprivate init(httpBytes bytes: UnsafeBufferPointer<UInt8>, isPlain: Bool) {
        if let common = String(commonInHeads: bytes) {
            self = common
        } else if isPlain {
            // Up to 15 bytes take no memory of their own.
            self.init(unsafeUninitializedCapacity: bytes.count) { text in
                _ = text.initialize(fromContentsOf: bytes)
                return bytes.count
            }
        } else {
            self = String(bytes: bytes, encoding: .utf8) ?? String(bytes: bytes, encoding: .isoLatin1) ?? ""
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether all bytes are ASCII without control characters: the common case, eight bytes at a time. False for a tab
    /// too, which a value may hold.
    fileprivate var isPlainText: Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let bytes = UnsafeRawBufferPointer(self)
        var (index, suspects) = (0, UInt64(0))
        while index + 8 <= count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            // The top bit of a byte: its own, what is borrowed from below 0x20, or what is carried from 0x7F. Borrows and
            // carries reach the next byte only from one that is a suspect itself.
            suspects |= word | (word &- 0x20 &* ones) | (word &+ ones)
            index += 8
        }
        while index < count {
            let byte = bytes[index]
            if byte < 0x20 || byte >= 0x7F { return false }
            index += 1
        }
        return suspects & (0x80 &* ones) == 0
    }
}
#endif
