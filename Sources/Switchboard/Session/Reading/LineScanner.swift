import Foundation

/// Splits bytes that arrive in chunks into lines. A line ends with LF, CRLF or CR alone.
///
/// A CR ends its line at once. If a LF follows later, the scanner skips it.
package struct LineScanner: Sendable {
    /// The maximum length of a line in bytes.
    package let limit: Int
    private var rest: [UInt8] = []
    private var isBehindCR = false

    package init(limit: Int) {
        self.limit = limit
    }

    /// Passes each line that this chunk completes to `body`, without its line end. Nil marks the end of the bytes and
    /// makes a line of the rest.
    ///
    /// - Throws: ``NetworkError/Code/responseTooLarge`` for a line above the limit, and the errors of `body`.
    package mutating func scan(_ chunk: Data?, _ body: (ArraySlice<UInt8>) throws -> Void) throws {
        guard let chunk else {
            defer { rest = [] }
            return rest.isEmpty ? () : try body(rest[...])
        }
        guard !chunk.isEmpty else { return }
        var start = rest.count
        var lineStart = 0
        rest += chunk
        if isBehindCR, rest.first == UInt8(ascii: "\n") { (start, lineStart) = (1, 1) }  // after a CR, `rest` was empty
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

/// Finds a byte repeatedly with memchr(3), and keeps the last result until the search passes it.
private struct NextByte {
    private let byte: UInt8
    private var found = -1

    init(_ byte: UInt8) {
        self.byte = byte
    }

    /// Returns the next index of the byte, or the count of the bytes if it does not occur.
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
