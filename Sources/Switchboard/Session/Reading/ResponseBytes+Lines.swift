import Foundation

extension ResponseBytes {
    /// The body as lines of text in UTF-8, ended by LF, CRLF or CR, without their ends; the last one needs none. Bytes
    /// that are not UTF-8 become U+FFFD.
    ///
    /// - Parameter limit: The most bytes of a line. More is ``NetworkError/Code/responseTooLarge``. Default 1 MiB.
    /// - Returns: The lines, read once.
    public func lines(limit: Int = 1 << 20) -> ResponseSequence<String> {
        var scanner = LineScanner(limit: limit)
        return ResponseSequence(self) { chunk, lines in
            try scanner.scan(chunk) { lines.append(String(decoding: $0, as: UTF8.self)) }
        }
    }
}
