#if os(Linux)
import SwitchboardText
import Foundation

extension HTTPHeaders {
    init(lines: [UInt8]) {
        var known = KnownHead()
        self.init(lines: lines, like: &known)
    }

    /// Creates fields from the lines of a head. Shares the fields of equal lines in `known`, and replaces it with this
    /// head.
    init(lines: [UInt8], like known: inout KnownHead) {
        if let fields = known.fields(of: lines) {
            self.init(fields, needsValidation: false)
            return
        }
        var fields: [HTTPHeader] = []
        fields.reserveCapacity(16)
        var folds: [String] = []
        var position = KnownHead.Position()
        var needsValidation = false
        var hasFieldPerLine = true
        var isAfterField = true
        lines.withUnsafeBufferPointer { bytes in
            var rest = bytes
            while let start = rest.baseAddress, !rest.isEmpty {
                let feed = rest.firstIndex(ofByte: .lineFeed)
                var end = feed ?? rest.count
                let next = feed == nil ? end : end + 1
                defer { rest = UnsafeBufferPointer(start: start + next, count: rest.count - next) }
                if folds.isEmpty, feed != nil,
                    let field = known.field(at: &position, of: UnsafeBufferPointer(start: start, count: next))
                {
                    fields.append(field)
                    isAfterField = true
                    continue
                }
                if end > 0, start[end - 1] == 0x0D { end -= 1 }
                let line = UnsafeBufferPointer(start: start, count: end)
                // A folded line continues the line before it (RFC 9112 §5.2). Without a colon, both are ignored.
                if end > 0, start[0].isBlank, !fields.isEmpty {
                    hasFieldPerLine = false
                    guard isAfterField else { continue }
                    folds.append(String(httpBytes: line, isPlain: line.isPlainText).trimmedOfBlanks)
                } else {
                    if !folds.isEmpty { needsValidation = Self.unfold(&folds, into: &fields) || needsValidation }
                    let count = fields.count
                    needsValidation = Self.add(line, to: &fields) || needsValidation
                    isAfterField = fields.count > count
                    hasFieldPerLine = hasFieldPerLine && isAfterField
                }
            }
        }
        if !folds.isEmpty { needsValidation = Self.unfold(&folds, into: &fields) || needsValidation }
        known = needsValidation || !hasFieldPerLine ? KnownHead() : KnownHead(lines, fields)
        self.init(fields, needsValidation: needsValidation)
    }

    /// Appends the folded lines to the last field. Returns true if that field cannot be sent.
    private static func unfold(_ folds: inout [String], into fields: inout [HTTPHeader]) -> Bool {
        guard let last = fields.popLast() else { return false }
        let field = HTTPHeader(name: last.name, value: ([last.value] + folds).joined(separator: " "))
        fields.append(field)
        folds = []
        return field.fault != nil
    }

    /// Appends the field of a line. Returns true if it cannot be sent.
    private static func add(_ line: UnsafeBufferPointer<UInt8>, to fields: inout [HTTPHeader]) -> Bool {
        let allowed = ASCIISet.token
        var (colon, isToken) = (0, true)
        while colon < line.count, line[colon] != 0x3A {
            isToken = isToken && allowed.contains(line[colon])
            colon += 1
        }
        guard colon < line.count else { return false }
        var (start, end) = (colon + 1, line.count)
        while start < end, line[start].isBlank || line[start].isReplaced { start += 1 }
        while start < end, line[end - 1].isBlank || line[end - 1].isReplaced { end -= 1 }
        let name = UnsafeBufferPointer(rebasing: line[..<colon])
        let value = UnsafeBufferPointer(rebasing: line[start..<end])
        let isPlain = value.isPlainText
        var text = String(httpBytes: value, isPlain: isPlain)
        // As text of ISO 8859-1, its bytes would be requested as UTF-8.
        if text.utf8.count > value.count, name.equalsLowercase("location") { text = text.withEscapedLatin1 }
        fields.append(HTTPHeader(name: String(httpBytes: name, isPlain: isToken), trimmedValue: text))
        return !isToken || name.isEmpty || !isPlain && value.contains { $0.breaksFieldValue && !$0.isReplaced }
    }
}

extension String {
    /// Creates a string as `init(utf8OrLatin1:)` does, with a blank for each CR and NUL. `isPlain` is true for bytes
    /// that are known to be ASCII.
    fileprivate init(httpBytes bytes: UnsafeBufferPointer<UInt8>, isPlain: Bool) {
        if let common = String(commonInHeads: bytes) {
            self = common
        } else if isPlain {
            // Strings of up to 15 bytes need no heap memory.
            self.init(unsafeUninitializedCapacity: bytes.count) { text in
                _ = text.initialize(fromContentsOf: bytes)
                return bytes.count
            }
        } else {
            self.init(utf8OrLatin1: bytes.map { $0.isReplaced ? 0x20 : $0 })
        }
    }
}

extension String {
    /// The text with an escape for each byte beyond ASCII of its ISO 8859-1.
    fileprivate var withEscapedLatin1: String {
        unicodeScalars.map { $0.isASCII ? String($0) : "%" + UInt8(truncatingIfNeeded: $0.value).hexText.uppercased() }
            .joined()
    }
}

extension UInt8 {
    /// Whether a blank replaces the byte in a received field.
    fileprivate var isReplaced: Bool { self == 0x0D || self == 0 }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether all bytes are ASCII without control characters, checked eight bytes at a time. Also false for a tab,
    /// which a value may contain.
    fileprivate var isPlainText: Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let bytes = UnsafeRawBufferPointer(self)
        var (index, suspects) = (0, UInt64(0))
        while index + 8 <= count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            // The top bit of each byte is set by the byte itself, by a borrow below 0x20, or by a carry from 0x7F. A
            // borrow or carry reaches the next byte only from a byte that is invalid itself.
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

/// The lines of a head and their fields. Later heads share the fields of equal lines.
struct KnownHead: Sendable {
    struct Position {
        fileprivate var offset = 0
        fileprivate var index = 0
    }

    private let lines: [UInt8]
    private let fields: [HTTPHeader]

    init() {
        (lines, fields) = ([], [])
    }

    /// Creates a head that stores up to 4 KiB of lines. Each line must have a valid field.
    init(_ lines: [UInt8], _ fields: [HTTPHeader]) {
        (self.lines, self.fields) = lines.count <= 4_096 ? (lines, fields) : ([], [])
    }

    /// Returns the fields if the lines have the same bytes.
    func fields(of lines: [UInt8]) -> [HTTPHeader]? {
        lines.count == self.lines.count && memcmp(lines, self.lines, lines.count) == 0 ? fields : nil
    }

    /// Returns the field at a position if its line has the same bytes, including the line end. Moves to the next
    /// position.
    func field(at position: inout Position, of line: UnsafeBufferPointer<UInt8>) -> HTTPHeader? {
        guard position.index < fields.count, let other = line.baseAddress else { return nil }
        let index = position.index
        position.index += 1
        return lines.withUnsafeBufferPointer { lines in
            guard let start = lines.baseAddress.map({ $0 + position.offset }) else { return nil }
            let rest = UnsafeBufferPointer(start: start, count: lines.count - position.offset)
            if line.count <= rest.count, memcmp(start, other, line.count) == 0 {
                position.offset += line.count
                return fields[index]
            }
            position.offset += rest.firstIndex(ofByte: .lineFeed).map { $0 + 1 } ?? rest.count
            return nil
        }
    }
}

extension String {
    /// Returns a static string for a name or value that is common in heads, which saves an allocation. Nil for other
    /// texts, and for texts of up to 15 bytes, which need no allocation anyway.
    init?(commonInHeads bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count > 15, bytes.count <= Self.longest else { return nil }
        for text in Self.commonInHeads[bytes.count] where text.hasBytes(of: UnsafeRawBufferPointer(bytes)) {
            self = text
            return
        }
        return nil
    }

    private static let longest = 40

    /// The texts, indexed by their number of bytes. HTTP/2 uses lower-case names.
    private static let commonInHeads: [[String]] = {
        let names = [
            "Content-Encoding", "Transfer-Encoding", "Content-Disposition", "WWW-Authenticate", "X-Ratelimit-Limit",
            "X-RateLimit-Limit", "X-RateLimit-Reset", "X-RateLimit-Remaining", "Access-Control-Allow-Origin",
            "Access-Control-Allow-Headers", "Access-Control-Allow-Methods", "Access-Control-Allow-Credentials",
            "Access-Control-Expose-Headers", "Strict-Transport-Security", "Content-Security-Policy",
            "X-Content-Type-Options", "X-XSS-Protection", "Permissions-Policy", "Content-Language",
        ]
        let values = [
            "application/json", "application/json; charset=utf-8", "application/json;charset=utf-8",
            "application/json; charset=UTF-8", "application/json;charset=UTF-8", "text/html; charset=utf-8",
            "text/html; charset=UTF-8", "text/plain; charset=utf-8", "text/plain; charset=UTF-8",
            "application/problem+json", "text/event-stream", "application/octet-stream", "no-cache, no-store",
        ]
        var texts = [[String]](repeating: [], count: longest + 1)
        for text in Set(names + names.map { $0.lowercased() } + values) where text.utf8.count > 15 {
            texts[text.utf8.count].append(text)
        }
        return texts
    }()
}
#endif
