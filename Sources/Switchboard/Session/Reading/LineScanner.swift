import Foundation

/// Splits bytes that come in chunks into lines, by LF, CRLF or CR alone, whichever comes.
///
/// A CR ends its line at once: whether a LF belongs to it shows later, and that is then passed over.
package struct LineScanner: Sendable {
    /// The most bytes of a line.
    package let limit: Int
    private var rest: [UInt8] = []
    private var isBehindCR = false

    package init(limit: Int) {
        self.limit = limit
    }

    /// Hands out the lines that are complete with this chunk, without their ends; nil, for the end of the bytes, makes a
    /// line of what is left.
    ///
    /// - Throws: ``NetworkError/Code/responseTooLarge`` for a line with more bytes than allowed; what `body` throws.
    package mutating func scan(_ chunk: Data?, _ body: (ArraySlice<UInt8>) throws -> Void) throws {
        guard let chunk else {
            defer { rest = [] }
            return rest.isEmpty ? () : try body(rest[...])
        }
        guard !chunk.isEmpty else { return }
        var start = rest.count
        var lineStart = 0
        rest += chunk
        if isBehindCR, rest.first == UInt8(ascii: "\n") { (start, lineStart) = (1, 1) }  // behind a CR nothing was left
        isBehindCR = rest.last == UInt8(ascii: "\r")
        var lineFeed = NextByte(UInt8(ascii: "\n"))
        var carriageReturn = NextByte(UInt8(ascii: "\r"))
        while true {
            let end = min(lineFeed.index(in: rest, from: start), carriageReturn.index(in: rest, from: start))
            guard end < rest.count else { break }
            guard end - lineStart <= limit else { throw tooLong }
            try body(rest[lineStart..<end])
            let isCRLF = rest[end] == UInt8(ascii: "\r") && end + 1 < rest.count && rest[end + 1] == UInt8(ascii: "\n")
            start = end + (isCRLF ? 2 : 1)
            lineStart = start
        }
        rest.removeFirst(lineStart)
        guard rest.count <= limit else { throw tooLong }
    }

    private var tooLong: NetworkError {
        NetworkError(.responseTooLarge, reason: "a line has more than \(limit) bytes")
    }
}

/// Finds one byte again and again, by memchr(3): what it found last is kept until it lies behind.
private struct NextByte {
    private let byte: UInt8
    private var found = -1

    init(_ byte: UInt8) {
        self.byte = byte
    }

    /// Where it is next, the count when it is nowhere.
    mutating func index(in bytes: [UInt8], from start: Int) -> Int {
        guard found < start else { return found }
        found = bytes.withUnsafeBytes { buffer in
            guard start < buffer.count, let base = buffer.baseAddress,
                let place = memchr(base + start, Int32(byte), buffer.count - start)
            else { return buffer.count }
            return base.distance(to: UnsafeRawPointer(place))
        }
        return found
    }
}
