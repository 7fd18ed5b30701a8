import Foundation

/// Splits bytes that come in chunks into lines, by LF, CRLF or CR alone, whichever comes.
///
/// A CR ends its line at once: whether a LF belongs to it shows later, and that is then passed over.
struct LineScanner: Sendable {
    /// The most bytes of a line.
    let limit: Int
    private var rest: [UInt8] = []
    private var isBehindCR = false

    init(limit: Int) {
        self.limit = limit
    }

    /// Hands out the lines that are complete with this chunk, without their ends; nil, for the end of the bytes, makes a
    /// line of what is left.
    ///
    /// - Throws: ``NetworkError/Code/responseTooLarge`` for a line with more bytes than allowed; what `body` throws.
    mutating func scan(_ chunk: Data?, _ body: (ArraySlice<UInt8>) throws -> Void) throws {
        guard let chunk else {
            defer { rest = [] }
            return rest.isEmpty ? () : try body(rest[...])
        }
        var start = rest.count
        rest += chunk
        var lineStart = 0
        while start < rest.count {
            let byte = rest[start]
            if byte == UInt8(ascii: "\n"), isBehindCR, start == lineStart {
                lineStart += 1
            } else if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                guard start - lineStart <= limit else { throw tooLong }
                try body(rest[lineStart..<start])
                lineStart = start + 1
            }
            isBehindCR = byte == UInt8(ascii: "\r")
            start += 1
        }
        rest.removeFirst(lineStart)
        guard rest.count <= limit else { throw tooLong }
    }

    private var tooLong: NetworkError {
        NetworkError(.responseTooLarge, reason: "a line has more than \(limit) bytes")
    }
}
