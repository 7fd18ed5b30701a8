import Foundation
import Switchboard
import SwitchboardText

/// The largest sizes of a request, in bytes.
package struct RequestLimits: Sendable {
    let head: Int
    let body: Int

    package init(head: Int, body: Int) {
        self.head = head
        self.body = body
    }
}

/// Reads the requests of one connection, one after the other.
package final class RequestReader {
    private let channel: ByteChannel
    private let connection: Int
    private let isSecure: Bool
    private let limits: RequestLimits
    /// Returns the answer that ends the connection at a stage of the request, or nil when none is scripted.
    private let scriptedBreak: (_ stage: Int) -> MockResponse?
    private var count = 0

    struct Broken: Error {
        let response: MockResponse
    }

    package init(
        channel: ByteChannel, connection: Int, isSecure: Bool, limits: RequestLimits,
        scriptedBreak: @escaping (_ stage: Int) -> MockResponse? = { _ in nil }
    ) {
        self.channel = channel
        self.connection = connection
        self.isSecure = isSecure
        self.limits = limits
        self.scriptedBreak = scriptedBreak
    }

    /// Reads the next request completely. Returns nil when the client ended between two requests.
    ///
    /// - Throws: ``RequestError``, ``ByteChannel/Interruption``, ``Broken``.
    package func next() throws -> RecordedRequest? {
        guard let bytes = try headBytes() else { return nil }
        let head = try RequestHead(bytes)
        let framing = try head.framing
        if case .length(let length) = framing, length > limits.body { throw tooLarge }
        try checkBreak(2)
        let response = scriptedBreak(3)
        try answerExpectation(of: head, framing)
        if let response {
            if case .broken(_, let point) = response.outcome, case .requestBody(let count) = point.location {
                _ = try readBody(framing, upTo: count)
            }
            throw Broken(response: response)
        }
        let (body, trailers) = try readBody(framing)
        defer { count += 1 }
        return RecordedRequest(
            method: head.method, target: head.target, httpVersion: head.version, headers: head.headers, body: body,
            trailers: trailers, head: bytes, connection: connection, index: count,
            isSecure: isSecure)
    }

    private func headBytes() throws -> Data? {
        let error = RequestError(431, "the head has more than \(limits.head) bytes")
        var bytes = Data()
        // A TLS client waits for an answer, and its first bytes contain no line.
        if let first = try channel.peek(), first < .space, first != .carriageReturn, first != .lineFeed {
            throw RequestError("this is not HTTP; use an http URL for this port")
        }
        while true {
            guard let line = try channel.line(limit: limits.head - bytes.count, orElse: error) else {
                guard bytes.isEmpty else { throw ByteChannel.Interruption.clientLeft }
                return nil
            }
            // An empty line before a request is skipped (RFC 9112 §2.2).
            if bytes.isEmpty, line.elementsEqual("\r\n".utf8) { continue }
            if bytes.isEmpty { try checkBreak(1) }
            bytes.append(contentsOf: line)
            if line.elementsEqual("\r\n".utf8) || line.elementsEqual("\n".utf8) { return bytes }
        }
    }

    private func answerExpectation(of head: RequestHead, _ framing: RequestHead.Framing) throws {
        guard let expectation = head.headers["Expect"], head.version == "HTTP/1.1" else { return }
        guard expectation.lowercased() == "100-continue" else { throw RequestError(417, "the expectation is unknown") }
        if framing != .length(0) { try channel.send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
    }

    /// Throws ``Broken`` when the response at the head of the queue ends the connection at this stage of the request.
    func checkBreak(_ stage: Int) throws {
        if let response = scriptedBreak(stage) { throw Broken(response: response) }
    }

    /// Reads the body, or its first bytes with the framing of their chunks.
    private func readBody(
        _ framing: RequestHead.Framing, upTo limit: Int = .max
    ) throws -> (body: Data, trailers: HTTPHeaders) {
        var body = Data()
        switch framing {
        case .length(let length):
            try channel.read(min(limit, length), into: &body)
            return (body, HTTPHeaders())
        case .chunked:
            let trailers = try readChunks(into: &body, upTo: limit)
            return (body, trailers)
        }
    }

    private var tooLarge: RequestError { RequestError(413, "the body has more than \(limits.body) bytes") }

    // MARK: Chunks (RFC 9112 §7.1)

    /// Reads the chunks and returns the trailers. Stops without trailers within the chunk in which the body reaches
    /// `limit` bytes.
    private func readChunks(into body: inout Data, upTo limit: Int) throws -> HTTPHeaders {
        while body.count < limit {
            let size = try chunkSize()
            if size == 0 { return try trailers() }
            guard size <= limits.body - body.count else { throw tooLarge }
            try channel.read(min(size, limit - body.count), into: &body)
            if body.count == limit { break }
            guard try chunkLine().isEmpty else { throw RequestError("a chunk is longer than its size") }
        }
        return HTTPHeaders()
    }

    private func chunkSize() throws -> Int {
        let line = try chunkLine()
        let digits = line.prefix { UnicodeScalar($0).properties.isASCIIHexDigit }
        // Blanks, then nothing or chunk extensions (RFC 9112 §7.1.1).
        let rest = line[digits.endIndex...].drop { $0.isBlank }
        guard !digits.isEmpty, rest.isEmpty || rest.first == .semicolon else {
            throw RequestError("a chunk size is not a hexadecimal number")
        }
        guard rest.allSatisfy({ $0 >= .space && $0 != 0x7F || $0.isBlank }) else {
            throw RequestError("a chunk extension contains a control character")
        }
        guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16) else {
            throw RequestError(413, "a chunk size is too large")
        }
        return size
    }

    private func trailers() throws -> HTTPHeaders {
        var lines: [ArraySlice<UInt8>] = []
        var length = 0
        while true {
            let line = try chunkLine()
            if line.isEmpty { return try RequestHead.headers(lines) }
            length += line.count
            guard length < limits.head else {
                throw RequestError(431, "the trailers are longer than a head may be")
            }
            lines.append(ArraySlice(Array(line)))
        }
    }

    private func chunkLine() throws -> ArraySlice<UInt8> {
        let error = RequestError("a line between chunks has more than 16384 bytes")
        guard let line = try channel.line(limit: 16_384, orElse: error) else {
            throw ByteChannel.Interruption.clientLeft
        }
        guard line.dropLast().last == .carriageReturn else {
            throw RequestError("a line between chunks ends in LF alone")
        }
        return line.dropLast(2)
    }
}
