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
                    folds.append(String(httpBytes: line).trimmedOfBlanks)
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
        fields.append(HTTPHeader(name: String(httpBytes: name), trimmedValue: String(httpBytes: value)))
        var isBroken = false
        for byte in value { isBroken = isBroken || byte.breaksFieldValue }
        return isBroken || !isToken || name.isEmpty
    }
}

extension String {
    /// UTF-8, or ISO 8859-1 where the bytes are not ([RFC 9110
    /// §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)).
    fileprivate init(httpBytes bytes: UnsafeBufferPointer<UInt8>) {
        if let common = String(commonInHeads: bytes) {
            self = common
            return
        }
        var joined: UInt8 = 0
        for byte in bytes { joined |= byte }
        guard joined >= 0x80 else {
            // Up to 15 bytes take no memory of their own.
            self.init(unsafeUninitializedCapacity: bytes.count) { text in
                _ = text.initialize(fromContentsOf: bytes)
                return bytes.count
            }
            return
        }
        self = String(bytes: bytes, encoding: .utf8) ?? String(bytes: bytes, encoding: .isoLatin1) ?? ""
    }
}
#endif
