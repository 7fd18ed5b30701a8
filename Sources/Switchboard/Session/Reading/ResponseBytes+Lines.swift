import Foundation

extension ResponseBytes {
    /// Returns the body as lines of UTF-8 text without their line ends: LF, CRLF or CR. The last line needs none. Bytes
    /// that are not UTF-8 become U+FFFD.
    ///
    /// - Parameter limit: The maximum length of a line in bytes. A longer one fails with
    ///   ``NetworkError/Code/responseTooLarge``. Default 1 MiB.
    /// - Returns: The lines. They can be read only once.
    public func lines(limit: Int = 1 << 20) -> ResponseSequence<String> {
        var scanner = LineScanner(limit: limit)
        return ResponseSequence(self) { chunk, lines in
            try scanner.scan(chunk) { lines.append(String(decoding: $0, as: UTF8.self)) }
        }
    }
}
