import Foundation

extension ResponseBytes {
    /// The body as lines of text in UTF-8, ended by LF, CRLF or CR, without their ends; the last one needs none. Bytes
    /// that are not UTF-8 become U+FFFD.
    ///
    /// - Parameter limit: The most bytes of a line. More is ``NetworkError/Code/responseTooLarge``. Default 1 MiB.
    /// - Returns: The lines, read once.
    public func lines(limit: Int = 1 << 20) -> ResponseElements<String> {
        var scanner = LineScanner(limit: limit)
        return ResponseElements(self) { chunk in
            var lines: [String] = []
            guard let chunk else { return scanner.finish().map { [String(decoding: $0, as: UTF8.self)] } ?? [] }
            try scanner.scan(chunk) { lines.append(String(decoding: $0, as: UTF8.self)) }
            return lines
        }
    }

    /// The body as server-sent events, by the algorithm of [HTML
    /// §9.2.6](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation): comments and
    /// unknown fields are passed over, an event that the end cuts short is dropped.
    ///
    /// - Parameter limit: The most bytes of a line, and of an event's data. More is
    ///   ``NetworkError/Code/responseTooLarge``. Default 1 MiB.
    /// - Returns: The events of this one connection, read once.
    public func events(limit: Int = 1 << 20) -> ResponseElements<ServerSentEvent> {
        var parser = EventStreamParser(limit: limit)
        return ResponseElements(self) { chunk in try chunk.map { try parser.parse($0) } ?? [] }
    }
}

/// What a response's body is made of, as it arrives: lines or events, read once.
///
/// The reader sets the pace, as with ``ResponseBytes``. Letting go of it, or cancelling the reading task, closes the
/// exchange.
public struct ResponseElements<Element: Sendable>: AsyncSequence, Sendable {
    private let reader: Reader

    /// `parse` gets chunk after chunk, and nil at the end.
    init(_ bytes: ResponseBytes, _ parse: sending @escaping (Data?) throws -> [Element]) {
        reader = Reader(bytes, parse)
    }

    /// Reads the elements in order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader

        /// The next element; nil at the end of a whole body.
        ///
        /// - Throws: What ``ResponseBytes`` throws, and ``NetworkError/Code/responseTooLarge`` for an element beyond the
        ///   limit.
        public mutating func next() async throws -> Element? {
            try await reader.next()
        }
    }

    /// Starts reading. A second iterator goes on where the first one stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: reader)
    }

    fileprivate actor Reader {
        private let bytes: ResponseBytes
        private let parse: (Data?) throws -> [Element]
        private var ready: ArraySlice<Element> = []
        private var isAtEnd = false

        init(_ bytes: ResponseBytes, _ parse: sending @escaping (Data?) throws -> [Element]) {
            self.bytes = bytes
            self.parse = parse
        }

        func next() async throws -> Element? {
            while true {
                if let element = ready.popFirst() { return element }
                guard !isAtEnd else { return nil }
                let chunk = try await bytes.next()
                isAtEnd = chunk == nil
                ready = try parse(chunk)[...]
            }
        }
    }
}
