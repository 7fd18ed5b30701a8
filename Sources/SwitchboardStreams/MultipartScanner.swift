import Foundation
import Switchboard
import SwitchboardText

/// Splits a `multipart` body into parts ([RFC 2046 §5.1.1](https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1)). The
/// caller pushes bytes in chunks of any size and pulls parts. A part is complete when the boundary line after it has
/// arrived.
///
/// A boundary is a whole line: `--`, the boundary, `--` for the last one, and up to 256 blanks. All other lines are
/// content. The boundary line and the lines of a head may end in LF instead of CRLF. The line end before a boundary does
/// not belong to the content. It must be CRLF, because content may contain lines that look like boundaries, unless the
/// first boundary of the body ended in LF alone. Two boundaries without a line between them enclose no part.
struct MultipartScanner: Sendable {
    /// The maximum number of bytes of a part's fields, and of the text before the first boundary.
    static let headLimit = 256 << 10

    private enum Section { case preamble, head, content, epilogue }

    private let delimiter: [UInt8]
    private let limit: Int
    private var section = Section.preamble
    private var buffer = Data()
    /// The number of bytes that were consumed from the buffer.
    private var position = 0
    /// The offset up to which the incomplete line at the position was searched.
    private var searched = 0
    private var isAtEnd = false
    private var isLineStart = true
    private var endsLinesByLF = false

    private var skipped = 0
    private var headSize = 0
    private var fields: [HTTPHeader] = []
    /// The field that the last lines form. The next line may continue it.
    private var field: [UInt8] = []
    private var content = Data()

    /// Creates a scanner. `limit` is the maximum number of bytes of a part's content.
    init(boundary: String, limit: Int) {
        delimiter = Array("--\(boundary)".utf8)
        self.limit = max(0, limit)
    }

    /// Whether the last boundary has arrived. Later bytes are ignored.
    var isOver: Bool { section == .epilogue }

    /// Appends the next bytes.
    mutating func push(_ chunk: Data) {
        guard section != .epilogue else { return }
        if position == buffer.count {
            buffer = chunk
        } else {
            if position > 0 { buffer = Data(buffer.dropFirst(position)) }
            buffer += chunk
        }
        searched = max(0, searched - position)
        position = 0
    }

    /// Marks the end of the bytes.
    mutating func finish() {
        isAtEnd = true
    }

    /// Returns the next complete part. Nil when more bytes are needed, and after the last part.
    ///
    /// - Throws: `NetworkError.Code.responseTooLarge`, `NetworkError.Code.headersTooLarge`,
    ///   `NetworkError.Code.invalidResponse` for an invalid field, and `NetworkError.Code.truncatedBody` when the bytes
    ///   end too early.
    mutating func next() throws(NetworkError) -> ResponsePart? {
        while true {
            let boundary: Boundary?
            switch section {
            case .preamble, .content: boundary = try readContent()
            case .head: boundary = try readHead()
            case .epilogue: return nil
            }
            guard let boundary else {
                guard isAtEnd, section != .epilogue else { return nil }
                throw NetworkError(.truncatedBody, reason: "the multipart body ends before its last boundary")
            }
            if let part = consume(boundary) { return part }
        }
    }

    /// Moves past a boundary. Returns the part before it.
    private mutating func consume(_ boundary: Boundary) -> ResponsePart? {
        let isPart = section == .content || section == .head && headSize > 0
        if section == .preamble { endsLinesByLF = !boundary.endsInCRLF }
        position = boundary.end
        section = boundary.isLast ? .epilogue : .head
        if section == .epilogue {
            buffer = Data()
            position = 0
        }
        defer { (fields, content, headSize) = ([], Data(), 0) }
        return isPart ? ResponsePart(headers: HTTPHeaders(fields, needsValidation: false), body: content) : nil
    }
}

extension MultipartScanner {
    /// A boundary line.
    fileprivate struct Boundary {
        /// The start of the next line.
        var end: Int
        var isLast: Bool
        var endsInCRLF = true
    }

    private enum Line {
        case boundary(Boundary)
        case other
        /// More bytes decide between the other two cases.
        case unfinished
    }

    // MARK: Content

    /// Consumes content, or the text before the first boundary, up to a boundary or up to bytes that may begin one.
    private mutating func readContent() throws(NetworkError) -> Boundary? {
        let (end, boundary) = buffer.withUnsafeBytes { search($0) }
        let count = end - position
        if section == .content {
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

    /// Returns the next boundary and the end of the content before it. Without a boundary, returns the end of the bytes
    /// that are certainly content.
    private func search(_ bytes: UnsafeRawBufferPointer) -> (end: Int, Boundary?) {
        if isLineStart {
            switch line(at: position, in: bytes) {
            case .boundary(let boundary): return (position, boundary)
            case .unfinished: return (position, nil)
            case .other: break
            }
        }
        let needsCR = section == .content && !endsLinesByLF
        var start = position
        while let feed = bytes.firstIndex(ofByte: 0x0A, from: start) {
            start = feed + 1
            if needsCR, feed == position || bytes[feed - 1] != .carriageReturn { continue }
            let end = needsCR ? feed - 1 : feed
            switch line(at: start, in: bytes) {
            case .boundary(let boundary): return (end, boundary)
            case .unfinished: return (end, nil)
            case .other: break
            }
        }
        // Keeps a final CR, because its LF may follow.
        let keepsCR = needsCR && !isAtEnd && bytes.count > position && bytes.last == .carriageReturn
        return (keepsCR ? bytes.count - 1 : bytes.count, nil)
    }

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
        let blanks = rest.prefix(257).prefix(while: \.isBlank).count
        guard blanks <= 256 else { return .other }
        rest = rest.dropFirst(blanks)
        if rest.first == .lineFeed {
            return .boundary(Boundary(end: rest.startIndex + 1, isLast: isLast, endsInCRLF: false))
        }
        guard rest.first ?? .carriageReturn == .carriageReturn else { return .other }
        guard rest.count > 1 else {
            return isAtEnd && isLast ? .boundary(Boundary(end: bytes.count, isLast: true)) : end
        }
        guard rest[rest.startIndex + 1] == .lineFeed else { return .other }
        return .boundary(Boundary(end: rest.startIndex + 2, isLast: isLast))
    }

    // MARK: Fields

    /// Consumes the lines of a head, and the content after it.
    private mutating func readHead() throws(NetworkError) -> Boundary? {
        while true {
            let (line, feed) = buffer.withUnsafeBytes { bytes in
                (self.line(at: position, in: bytes), bytes.firstIndex(ofByte: 0x0A, from: max(searched, position)))
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
            if bytes.last == .carriageReturn { bytes.removeLast() }
            (position, searched) = (feed + 1, feed + 1)
            guard !bytes.isEmpty else {
                try endField()
                section = .content
                isLineStart = true
                return try readContent()
            }
            try add(bytes)
        }
    }

    /// Adds a line: a new field, or a continuation of the previous one if it begins with a blank ([RFC 9112
    /// §5.2](https://www.rfc-editor.org/rfc/rfc9112#section-5.2)).
    private mutating func add(_ bytes: Data) throws(NetworkError) {
        guard bytes.first?.isBlank == true else {
            try endField()
            field = Array(bytes)
            return
        }
        guard !field.isEmpty else {
            throw NetworkError(.invalidResponse, reason: "the first line of a part's fields begins with a blank")
        }
        field.append(0x20)
        field += bytes.trimmedOfBlanks
    }

    private mutating func endField() throws(NetworkError) {
        guard !field.isEmpty else { return }
        defer { field = [] }
        guard let colon = field.firstIndex(of: .colon) else {
            throw NetworkError(.invalidResponse, reason: "a line of a part's fields has no colon")
        }
        let header = HTTPHeader(
            name: String(decoding: field[..<colon], as: UTF8.self), value: String(utf8OrLatin1: field[(colon + 1)...]))
        if let fault = header.fault { throw NetworkError(.invalidResponse, reason: "in a part: \(fault)") }
        fields.append(header)
    }
}
