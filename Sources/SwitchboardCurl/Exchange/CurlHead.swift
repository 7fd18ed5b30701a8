#if os(Linux)
import Foundation

/// The head of a response, collected line by line, and the trailers after its body.
///
/// Lines stay bytes. The caller's thread parses them into fields, because the loop's thread serves all exchanges.
package struct CurlHead: Sendable {
    package private(set) var status = 0
    /// The announced length of the body. Nil when it is missing, not a number, or overridden by `Transfer-Encoding`
    /// ([RFC 9112 §6.3](https://www.rfc-editor.org/rfc/rfc9112#section-6.3)). `Int64.max` for a number that does not
    /// fit.
    var contentLength: Int64? { transferCoding == .none ? announcedLength : nil }
    private var announcedLength: Int64?
    private enum TransferCoding { case none, chunked, other }
    private var transferCoding = TransferCoding.none
    /// Whether the head announces lengths that differ, or one that is not a number.
    private var hasBadLengths = false
    /// Whether the last line was a `Content-Length`, which a folded line would continue.
    private var isLengthLast = false
    private var hasNUL = false
    /// Whether the version is HTTP/1.0, in which a 101 has no meaning.
    private(set) var isHTTP10 = false
    /// The reason to reject the final head, or nil. libcurl rejects a NUL itself since 7.83.
    var fault: CurlFailure? { hasNUL ? .headContainsNUL : hasBadLengths ? .badLengths : nil }
    /// Whether the head describes a body, which a 101 has not.
    var describesBody: Bool { announcedLength != nil || hasBadLengths || transferCoding != .none || !codings.isEmpty }
    /// Whether the body has a transfer coding that no request asks for. Old versions of libcurl decode it, new ones
    /// refuse it, and some between them ignore it, and the `chunked` after it ([curl
    /// 16956](https://github.com/curl/curl/issues/16956)).
    var hasUnaskedCoding: Bool { transferCoding == .other }
    /// Whether the body ends with its last chunk.
    var isChunked: Bool { transferCoding == .chunked }
    /// Whether the body is decoded. A body with an unknown coding stays as it is.
    var isEncoded: Bool { !codings.isEmpty && codings.allSatisfy(ContentDecoder.names.contains) }
    /// The content codings of the body, in lower case.
    private(set) var codings: [String] = []
    /// Whether the blank line of the final head has arrived.
    package private(set) var isComplete = false
    /// The bytes of all lines, including interim heads and trailers.
    private(set) var size = 0
    private var isStatusLineNext = true
    /// Whether the next line is the first one after a status line.
    var isFirstFieldNext: Bool { lines.isEmpty && !isStatusLineNext && !isComplete }
    /// The lines of the final head after the status line.
    package private(set) var lines: [UInt8] = []
    /// The lines after the body.
    package private(set) var trailerLines: [UInt8] = []

    /// Adds a received line with its line end. Returns true when it completes the final head.
    mutating func add(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        size += line.count
        guard !isComplete else {
            trailerLines.append(contentsOf: line)
            return false
        }
        // Ignores the rest of a truncated head, which libcurl 8.18 delivers at the end.
        guard line.last == 0x0A else { return false }
        hasNUL = hasNUL || line.baseAddress.map { memchr($0, 0, line.count) != nil } == true
        if isStatusLineNext { return start(line) }
        guard line.first != 0x0D, line.first != 0x0A else { return end() }
        lines.append(contentsOf: line)
        if isLengthLast, line[0] == 0x20 || line[0] == 0x09 { hasBadLengths = true }
        isLengthLast = false
        switch line[0] | 0x20 {
        case UInt8(ascii: "c"): readContentField(line)
        case UInt8(ascii: "t"):
            guard line.starts(withLowercase: "transfer-encoding:") else { break }
            let isOther = transferCoding == .other || line[18...].codings.contains { $0 != "chunked" }
            transferCoding = isOther ? .other : .chunked
        default: break
        }
        return false
    }

    private mutating func start(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        lines.removeAll(keepingCapacity: true)
        if lines.capacity < 512 { lines.reserveCapacity(512) }
        announcedLength = nil
        transferCoding = .none
        hasBadLengths = false
        isLengthLast = false
        codings = []
        status = 0
        isHTTP10 = line.count > 7 && line[5] == UInt8(ascii: "1") && line[7] == UInt8(ascii: "0")  // HTTP/1.0
        if let blank = line.firstIndex(of: 0x20) {
            for byte in line[(blank + 1)...].prefix(3) where (0x30...0x39).contains(byte) {
                status = status * 10 + Int(byte - 0x30)
            }
        }
        isStatusLineNext = false
        return false
    }

    /// Ends a head. An interim head is not the response ([RFC 9110
    /// §15.2](https://www.rfc-editor.org/rfc/rfc9110#section-15.2)), but 101 is.
    private mutating func end() -> Bool {
        isStatusLineNext = true
        isComplete = !(100..<200).contains(status) || status == 101
        return isComplete
    }

    private mutating func readContentField(_ line: UnsafeBufferPointer<UInt8>) {
        if line.starts(withLowercase: "content-length:") {
            isLengthLast = true
            var rest = line[15...]
            while !rest.isEmpty {
                let value = rest.prefix { $0 != UInt8(ascii: ",") }
                rest = rest[value.endIndex...].dropFirst()
                guard !value.isEmpty else { continue }
                guard let length = value.decimalNumber else {
                    hasBadLengths = true
                    continue
                }
                if let announcedLength, announcedLength != length { hasBadLengths = true }
                announcedLength = length
            }
        } else if line.starts(withLowercase: "content-encoding:") {
            codings += line[17...].codings
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns whether the bytes begin with a lower-case ASCII text, ignoring case.
    fileprivate func starts(withLowercase text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount {
            let byte = self[index]
            guard ((0x41...0x5A).contains(byte) ? byte | 0x20 : byte) == text.utf8Start[index] else { return false }
        }
        return true
    }
}

extension Slice<UnsafeBufferPointer<UInt8>> {
    /// The names between commas in lower case, without those of no coding.
    fileprivate var codings: [String] {
        split(separator: UInt8(ascii: ",")).compactMap { coding in
            let name = String(decoding: coding.filter { $0 > 0x20 }, as: UTF8.self).lowercased()
            return name.isEmpty || name == "identity" || name == "none" ? nil : name
        }
    }

    /// The number of the digits between blanks, at most `Int64.max`. Nil for anything else.
    fileprivate var decimalNumber: Int64? {
        let digits = drop { $0 <= 0x20 }.prefix { $0 > 0x20 }
        guard !digits.isEmpty, self[digits.endIndex...].allSatisfy({ $0 <= 0x20 }) else { return nil }
        var number: Int64 = 0
        for byte in digits {
            guard (0x30...0x39).contains(byte) else { return nil }
            number = number < Int64.max / 10 - 1 ? number * 10 + Int64(byte - 0x30) : .max
        }
        return number
    }
}
#endif
