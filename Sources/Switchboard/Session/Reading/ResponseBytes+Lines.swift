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

    /// The body as server-sent events, by the algorithm of [HTML
    /// §9.2.6](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation): comments and
    /// unknown fields are passed over, an event that the end cuts short is dropped.
    ///
    /// - Parameter limit: The most bytes of a line, and of an event's data. More is
    ///   ``NetworkError/Code/responseTooLarge``. Default 1 MiB.
    /// - Returns: The events of this one connection, read once.
    public func events(limit: Int = 1 << 20) -> ResponseSequence<ServerSentEvent> {
        var parser = EventStreamParser(limit: limit)
        return ResponseSequence(self) { chunk, events in
            if let chunk { try parser.parse(chunk) { events.append($0) } }
        }
    }
}
