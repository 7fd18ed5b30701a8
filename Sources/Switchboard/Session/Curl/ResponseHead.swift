#if os(Linux)
import Foundation

/// The head of a response while its lines arrive, and the trailers after its body.
///
/// Lines are kept as bytes and become fields when somebody asks: on the caller's thread, not on the one that serves all
/// exchanges.
struct ResponseHead {
    private(set) var status = 0
    /// The body's length as announced; nil when it is not, not as a number, or overridden by `Transfer-Encoding` ([RFC 9112
    /// §6.3](https://www.rfc-editor.org/rfc/rfc9112#section-6.3)). One too large to count is `Int64.max`.
    var contentLength: Int64? { hasTransferEncoding ? nil : announcedLength }
    private var announcedLength: Int64?
    private var hasTransferEncoding = false
    /// Whether several lengths were announced that differ.
    private var hasConflictingLengths = false
    private var hasNUL = false
    /// Why the final head cannot be taken. libcurl refuses a NUL itself since 7.83.
    var fault: NetworkError? {
        if hasNUL { return NetworkError(.invalidResponse, reason: "the head of the response holds a NUL byte") }
        return hasConflictingLengths ? NetworkResponse.conflictingLengths : nil
    }
    /// Whether libcurl unpacks the body.
    var isEncoded: Bool { hasEncoding && !hasUnknownEncoding }
    private var hasEncoding = false
    /// Whether the body is encoded with something that libcurl does not know.
    private(set) var hasUnknownEncoding = false
    /// Whether the blank line of the final head has come.
    private(set) var isComplete = false
    /// The bytes of all lines, those of interim heads and trailers included.
    private(set) var size = 0
    private var isLineExpected = true  // the status line of a head
    private var lines: [UInt8] = []
    private var trailerLines: [UInt8] = []

    /// Takes a line as it came, with its end. True when it completes the final head.
    mutating func add(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        size += line.count
        guard !isComplete else {
            trailerLines.append(contentsOf: line)
            return false
        }
        // The rest of a head that was cut off, which libcurl 8.18 hands over at the end.
        guard line.last == 0x0A else { return false }
        hasNUL = hasNUL || line.baseAddress.map { memchr($0, 0, line.count) != nil } == true
        if isLineExpected { return start(line) }
        guard line.first != 0x0D, line.first != 0x0A else { return end() }
        lines.append(contentsOf: line)
        switch line[0] | 0x20 {
        case UInt8(ascii: "c"): noteContent(line)
        case UInt8(ascii: "t"): if line.starts(withLowercase: "transfer-encoding:") { hasTransferEncoding = true }
        default: break
        }
        return false
    }

    private mutating func start(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        lines.removeAll(keepingCapacity: true)
        if lines.capacity < 512 { lines.reserveCapacity(512) }
        announcedLength = nil
        hasTransferEncoding = false
        hasConflictingLengths = false
        hasEncoding = false
        hasUnknownEncoding = false
        status = 0
        if let blank = line.firstIndex(of: 0x20) {
            for byte in line[(blank + 1)...].prefix(3) where (0x30...0x39).contains(byte) {
                status = status * 10 + Int(byte - 0x30)
            }
        }
        isLineExpected = false
        return false
    }

    /// An interim head is not the answer ([RFC 9110 §15.2](https://www.rfc-editor.org/rfc/rfc9110#section-15.2)); 101
    /// is.
    private mutating func end() -> Bool {
        isLineExpected = true
        isComplete = !(100..<200).contains(status) || status == 101
        return isComplete
    }

    private mutating func noteContent(_ line: UnsafeBufferPointer<UInt8>) {
        if line.starts(withLowercase: "content-length:") {
            for value in line[15...].split(separator: UInt8(ascii: ",")) {
                let length = value.decimalNumber
                if let announcedLength, announcedLength != length { hasConflictingLengths = true }
                announcedLength = length
            }
        } else if line.starts(withLowercase: "content-encoding:") {
            for coding in line[17...].split(separator: UInt8(ascii: ",")) {
                let name = String(decoding: coding.filter { $0 > 0x20 }, as: UTF8.self).lowercased()
                guard !name.isEmpty, name != "identity", name != "none" else { continue }
                hasEncoding = true
                if !CurlLibrary.encodings.contains(name) { hasUnknownEncoding = true }
            }
        }
    }

    /// The fields of the final head.
    var headers: HTTPHeaders { Self.fields(lines) }
    /// The fields after the body.
    var trailers: HTTPHeaders { trailerLines.isEmpty ? HTTPHeaders() : Self.fields(trailerLines) }

    private static func fields(_ bytes: [UInt8]) -> HTTPHeaders {
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
                    folds.append(text(bytes[start..<end]).trimmedOfBlanks)
                } else {
                    isSuspect = unfold(&folds, into: &fields) || isSuspect
                    isSuspect = add(UnsafeBufferPointer(rebasing: bytes[start..<end]), to: &fields) || isSuspect
                }
                start = feed + 1
            }
        }
        isSuspect = unfold(&folds, into: &fields) || isSuspect
        return HTTPHeaders(fields, isSuspect: isSuspect)
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

extension Slice<UnsafeBufferPointer<UInt8>> {
    /// The number that the digits say, blanks and line ends aside, at most `Int64.max`; nil for anything else.
    fileprivate var decimalNumber: Int64? {
        var number: Int64 = 0
        var isNumber = false
        for byte in self where byte > 0x20 {
            guard (0x30...0x39).contains(byte) else { return nil }
            number = number < Int64.max / 10 - 1 ? number * 10 + Int64(byte - 0x30) : .max
            isNumber = true
        }
        return isNumber ? number : nil
    }
}
#endif
