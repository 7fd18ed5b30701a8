import Foundation
import Switchboard
import SwitchboardText

/// Takes a `multipart` body apart ([RFC 2046 §5.1.1](https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1)). Bytes are pushed
/// in chunks that may be cut anywhere, parts are pulled: each is there once the line of the boundary behind it has come.
///
/// A boundary is a whole line of `--`, the boundary, `--` for the last one, and up to 256 blanks; anything else is
/// content. Its line and those of a head may end in LF instead of CRLF. What stands before a boundary decides otherwise,
/// because content may hold lines of its own: CRLF, which then is no content, and LF alone only in a body whose first
/// boundary ended in LF alone. Two boundaries without a line between them have no part there.
struct MultipartScanner: Sendable {
    /// The most bytes of a part's fields, and of what comes before the first boundary.
    static let headLimit = 256 << 10

    private enum Place { case preamble, head, content, epilogue }

    private let delimiter: [UInt8]
    private let limit: Int
    private var place = Place.preamble
    private var buffer = Data()
    /// What was taken of the buffer.
    private var position = 0
    /// How far the unfinished line at the position was looked through.
    private var searched = 0
    private var isAtEnd = false
    /// Whether the position is the start of a line.
    private var isLineStart = true
    private var endsLinesByLF = false

    private var skipped = 0
    private var headSize = 0
    private var fields: [HTTPHeader] = []
    private var line: [UInt8] = []
    private var content = Data()

    /// `limit` is the most bytes of a part's content.
    init(boundary: String, limit: Int) {
        delimiter = Array("--\(boundary)".utf8)
        self.limit = max(0, limit)
    }

    /// Whether the last boundary has come: what follows is passed over.
    var isOver: Bool { place == .epilogue }

    /// Takes the next bytes.
    mutating func push(_ chunk: Data) {
        guard place != .epilogue else { return }
        if position == buffer.count {
            buffer = chunk
        } else {
            if position > 0 { buffer = Data(buffer.dropFirst(position)) }
            buffer += chunk
        }
        searched = max(0, searched - position)
        position = 0
    }

    /// There are no more bytes.
    mutating func finish() {
        isAtEnd = true
    }

    /// Gives up: there are no more parts.
    mutating func stop() {
        (place, buffer, content, position) = (.epilogue, Data(), Data(), 0)
    }

    /// The next part that is complete; nil when more bytes are needed, and behind the last part.
    ///
    /// - Throws: `NetworkError.Code.responseTooLarge`, `NetworkError.Code.headersTooLarge`,
    ///   `NetworkError.Code.invalidResponse` for a field that is none, and when there are no more bytes
    ///   `NetworkError.Code.truncatedBody`.
    mutating func next() throws(NetworkError) -> ResponsePart? {
        while true {
            let boundary: Boundary?
            switch place {
            case .preamble, .content: boundary = try readContent()
            case .head: boundary = try readHead()
            case .epilogue: return nil
            }
            guard let boundary else {
                guard isAtEnd, place != .epilogue else { return nil }
                throw NetworkError(.truncatedBody, reason: "the multipart body ends before its last boundary")
            }
            if let part = pass(boundary) { return part }
        }
    }

    /// Begins what follows a boundary, and hands out the part before it.
    private mutating func pass(_ boundary: Boundary) -> ResponsePart? {
        let isPart = place == .content || place == .head && headSize > 0
        if place == .preamble { endsLinesByLF = !boundary.endsInCRLF }
        position = boundary.end
        place = boundary.isLast ? .epilogue : .head
        if place == .epilogue {
            buffer = Data()
            position = 0
        }
        defer { (fields, content, headSize) = ([], Data(), 0) }
        return isPart ? ResponsePart(headers: HTTPHeaders(fields, isSuspect: false), body: content) : nil
    }
}

extension MultipartScanner {
    /// The line of a boundary.
    fileprivate struct Boundary {
        /// Where the next line starts.
        var end: Int
        var isLast: Bool
        var endsInCRLF = true
    }

    private enum Line {
        case boundary(Boundary)
        case other
        /// Which of them, more bytes will show.
        case unfinished
    }

    // MARK: Content

    /// Takes content, or what comes before the first boundary, up to a boundary or as far as it is certain.
    private mutating func readContent() throws(NetworkError) -> Boundary? {
        let (end, boundary) = buffer.withUnsafeBytes { search($0) }
        let count = end - position
        if place == .content {
            guard count <= limit - content.count else {
                throw NetworkError(.responseTooLarge, reason: "a part has more than \(limit) bytes")
            }
            content += buffer[buffer.startIndex + position..<buffer.startIndex + end]
        } else {
            skipped += count
            guard skipped <= Self.headLimit else {
                let reason = "more than \(Self.headLimit) bytes come before the first boundary"
                throw NetworkError(.responseTooLarge, reason: reason)
            }
        }
        if count > 0 { isLineStart = false }
        position = end
        return boundary
    }

    /// The next boundary, and where the content before it ends, or the content that is certain.
    private func search(_ bytes: UnsafeRawBufferPointer) -> (end: Int, Boundary?) {
        if isLineStart {
            switch line(at: position, in: bytes) {
            case .boundary(let boundary): return (position, boundary)
            case .unfinished: return (position, nil)
            case .other: break
            }
        }
        let needsCR = place == .content && !endsLinesByLF
        var start = position
        while let feed = bytes.firstLineFeed(from: start) {
            start = feed + 1
            if needsCR, feed == position || bytes[feed - 1] != UInt8(ascii: "\r") { continue }
            let end = needsCR ? feed - 1 : feed
            switch line(at: start, in: bytes) {
            case .boundary(let boundary): return (end, boundary)
            case .unfinished: return (end, nil)
            case .other: break
            }
        }
        // The LF of a CR may come.
        let isKept = needsCR && !isAtEnd && bytes.count > position && bytes.last == UInt8(ascii: "\r")
        return (isKept ? bytes.count - 1 : bytes.count, nil)
    }

    /// What a line is.
    private func line(at start: Int, in bytes: UnsafeRawBufferPointer) -> Line {
        let end = isAtEnd ? Line.other : .unfinished
        for (offset, byte) in delimiter.enumerated() {
            guard start + offset < bytes.count else { return end }
            guard bytes[start + offset] == byte else { return .other }
        }
        var rest = bytes[(start + delimiter.count)...]
        let hyphens = rest.prefix(2).prefix { $0 == UInt8(ascii: "-") }.count
        guard hyphens != 1 else { return rest.count == 1 ? end : .other }
        let isLast = hyphens == 2
        rest = rest.dropFirst(hyphens)
        let blanks = rest.prefix(257).prefix { $0 == 0x20 || $0 == 0x09 }.count
        guard blanks <= 256 else { return .other }
        rest = rest.dropFirst(blanks)
        if rest.first == UInt8(ascii: "\n") {
            return .boundary(Boundary(end: rest.startIndex + 1, isLast: isLast, endsInCRLF: false))
        }
        guard rest.first ?? UInt8(ascii: "\r") == UInt8(ascii: "\r") else { return .other }
        guard rest.count > 1 else {
            return isAtEnd && isLast ? .boundary(Boundary(end: bytes.count, isLast: true)) : end
        }
        guard rest[rest.startIndex + 1] == UInt8(ascii: "\n") else { return .other }
        return .boundary(Boundary(end: rest.startIndex + 2, isLast: isLast))
    }

    // MARK: Fields

    /// Takes the lines of a head, and the content behind it.
    private mutating func readHead() throws(NetworkError) -> Boundary? {
        while true {
            let (line, feed) = buffer.withUnsafeBytes { bytes in
                (self.line(at: position, in: bytes), bytes.firstLineFeed(from: max(searched, position)))
            }
            if case .boundary(let boundary) = line {
                try endField()
                return boundary
            }
            guard headSize + (feed.map { $0 + 1 } ?? buffer.count) - position <= Self.headLimit else {
                throw NetworkError(
                    .headersTooLarge, reason: "the fields of a part have more than \(Self.headLimit) bytes")
            }
            guard case .other = line, let feed else {
                searched = feed == nil ? buffer.count : position
                return nil
            }
            headSize += feed + 1 - position
            var bytes = buffer[buffer.startIndex + position..<buffer.startIndex + feed]
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
            (position, searched) = (feed + 1, feed + 1)
            guard !bytes.isEmpty else {
                try endField()
                place = .content
                isLineStart = true
                return try readContent()
            }
            try add(bytes)
        }
    }

    /// Adds a line: a field, or more of the one before when it begins with a blank ([RFC 9112
    /// §5.2](https://www.rfc-editor.org/rfc/rfc9112#section-5.2)).
    private mutating func add(_ bytes: Data) throws(NetworkError) {
        guard bytes.first == 0x20 || bytes.first == 0x09 else {
            try endField()
            line = Array(bytes)
            return
        }
        guard !line.isEmpty else {
            throw NetworkError(.invalidResponse, reason: "the first line of a part's fields begins with a blank")
        }
        line.append(0x20)
        line += bytes.trimmedOfBlanks
    }

    private mutating func endField() throws(NetworkError) {
        guard !line.isEmpty else { return }
        defer { line = [] }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            throw NetworkError(.invalidResponse, reason: "a line of a part's fields has no colon")
        }
        let value = Data(line[(colon + 1)...])
        // UTF-8, or ISO 8859-1 where the bytes are not (RFC 9110 §5.5).
        let text = String(data: value, encoding: .utf8) ?? String(data: value, encoding: .isoLatin1) ?? ""
        let field = HTTPHeader(name: String(decoding: line[..<colon], as: UTF8.self), value: text)
        if let fault = field.fault { throw NetworkError(.invalidResponse, reason: "in a part: \(fault)") }
        fields.append(field)
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func firstLineFeed(from start: Int) -> Int? {
        guard start < count, let base = baseAddress, let found = memchr(base + start, 0x0A, count - start) else {
            return nil
        }
        return UnsafeRawPointer(found) - base
    }
}
