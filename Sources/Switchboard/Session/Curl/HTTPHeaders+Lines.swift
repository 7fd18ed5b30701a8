#if os(Linux)
import Foundation
import SwitchboardText

extension HTTPHeaders {
    /// The fields of a head's lines, as they came.
    init(lines bytes: [UInt8]) {
        var fields: [HTTPHeader] = []
        fields.reserveCapacity(12)
        var folds: [String] = []
        var isSuspect = false
        bytes.withUnsafeBufferPointer { bytes in
            var start = 0
            while start < bytes.count {
                let feed = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
                var end = feed
                if end > start, bytes[end - 1] == 0x0D { end -= 1 }
                // A folded line goes on with the value before it (RFC 9112 §5.2).
                if end > start, !fields.isEmpty, bytes[start] == 0x20 || bytes[start] == 0x09 {
                    folds.append(Self.text(bytes[start..<end]).trimmedOfBlanks)
                } else {
                    isSuspect = Self.unfold(&folds, into: &fields) || isSuspect
                    isSuspect = Self.add(UnsafeBufferPointer(rebasing: bytes[start..<end]), to: &fields) || isSuspect
                }
                start = feed + 1
            }
        }
        isSuspect = Self.unfold(&folds, into: &fields) || isSuspect
        self.init(fields, isSuspect: isSuspect)
    }

    /// Adds the folded lines to the last field. True when it could not be sent.
    private static func unfold(_ folds: inout [String], into fields: inout [HTTPHeader]) -> Bool {
        guard !folds.isEmpty, let last = fields.popLast() else { return false }
        let field = HTTPHeader(name: last.name, value: ([last.value] + folds).joined(separator: " "))
        fields.append(field)
        folds = []
        return field.fault != nil
    }

    /// True when the line makes a field that could not be sent.
    private static func add(_ line: UnsafeBufferPointer<UInt8>, to fields: inout [HTTPHeader]) -> Bool {
        guard let colon = line.firstIndex(of: 0x3A) else { return false }
        let value = line[(colon + 1)...].trimmedOfBlanks
        let name = UnsafeBufferPointer(rebasing: line[..<colon])
        fields.append(HTTPHeader(name: text(name[...]), trimmedValue: text(value)))
        return !name.isHTTPToken || value.contains(where: \.breaksFieldValue)
    }

    /// UTF-8, or ISO 8859-1 where the bytes are not ([RFC 9110
    /// §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)).
    private static func text(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        let bytes = UnsafeBufferPointer(rebasing: bytes)
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        return String(bytes: bytes, encoding: .utf8) ?? String(bytes: bytes, encoding: .isoLatin1) ?? ""
    }
}
#endif
