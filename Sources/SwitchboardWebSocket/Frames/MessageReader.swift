import Foundation

/// Makes messages and control frames of the bytes of a server ([RFC 6455
/// §5.4](https://www.rfc-editor.org/rfc/rfc6455#section-5.4)).
struct MessageReader {
    /// A whole message or control frame.
    enum Event: Equatable {
        case message(WebSocketMessage)
        case ping(Data)
        case pong(Data)
        case close(WebSocketCloseCode, reason: String)
    }

    private var frames: FrameReader
    private let limit: Int
    private let inflater: MessageInflater?
    private var current: FrameHeader?
    /// The first frame of the message whose fragments arrive.
    private var message: FrameHeader?
    private var content = Data()
    private var control = Data()
    private var text = UTF8Check()

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - limit: The largest message in bytes, after decompression.
    ///   - inflater: Decompresses messages. Nil without `permessage-deflate`.
    init(limit: Int, inflater: MessageInflater? = nil) {
        frames = FrameReader(allowsCompression: inflater != nil)
        self.limit = max(0, limit)
        self.inflater = inflater
    }

    /// Takes the next event from the front of the bytes, or returns nil when it needs more of them.
    mutating func next(_ bytes: inout UnsafeRawBufferPointer) throws(WebSocketViolation) -> Event? {
        while let part = try frames.next(&bytes) {
            switch part {
            case .header(let header): try begin(header)
            case .payload(let payload): try add(payload)
            case .end: if let event = try end() { return event }
            }
        }
        return nil
    }

    private mutating func begin(_ header: FrameHeader) throws(WebSocketViolation) {
        current = header
        guard !header.opcode.isControl else { return }
        if header.opcode == .continuation {
            guard message != nil else {
                throw WebSocketViolation("a continuation continues no message (RFC 6455 §5.4)")
            }
        } else {
            guard message == nil else {
                throw WebSocketViolation("a message begins inside another one (RFC 6455 §5.4)")
            }
            message = header
            text = UTF8Check()
        }
        // A compressed length says little about the content.
        let isTooLong = header.length > UInt64(limit - content.count)
        if isTooLong, message?.isCompressed == false { throw tooBig }
    }

    private mutating func add(_ payload: UnsafeRawBufferPointer) throws(WebSocketViolation) {
        guard let current else { return }
        if current.opcode.isControl {
            control.append(contentsOf: payload)
        } else if message?.isCompressed == true, let inflater {
            try inflate(Data(payload), inflater)
        } else {
            try append(payload)
        }
    }

    private mutating func append(_ piece: UnsafeRawBufferPointer) throws(WebSocketViolation) {
        if message?.opcode == .text, !text.accept(piece) { throw Self.notUTF8 }
        if content.isEmpty { content = Data(piece) } else { content.append(contentsOf: piece) }
    }

    private mutating func inflate(_ payload: Data, _ inflater: MessageInflater) throws(WebSocketViolation) {
        inflater.feed(payload)
        while let piece = try inflater.next() {
            guard content.count + piece.count <= limit else { throw tooBig }
            try append(piece)
        }
    }

    private mutating func end() throws(WebSocketViolation) -> Event? {
        guard let current else { return nil }
        self.current = nil
        guard !current.opcode.isControl else { return try controlEvent(current.opcode) }
        guard current.isFinal, let message else { return nil }
        if message.isCompressed, let inflater {
            try inflate(MessageInflater.tail, inflater)
            inflater.endMessage()
        }
        defer {
            self.message = nil
            content = Data()
        }
        guard message.opcode == .text else { return .message(.binary(content)) }
        guard text.isComplete else { throw Self.notUTF8 }
        return .message(.text(String(decoding: content, as: UTF8.self)))
    }

    private mutating func controlEvent(_ opcode: Opcode) throws(WebSocketViolation) -> Event {
        defer { control = Data() }
        switch opcode {
        case .ping: return .ping(control)
        case .pong: return .pong(control)
        default: break
        }
        guard !control.isEmpty else { return .close(.noStatusReceived, reason: "") }
        guard control.count > 1 else { throw WebSocketViolation("a Close frame has half a code (RFC 6455 §5.5.1)") }
        let code = WebSocketCloseCode(rawValue: control.prefix(2).reduce(0) { $0 << 8 | UInt16($1) })
        guard code.isSendable else {
            throw WebSocketViolation("a Close frame has the code \(code.rawValue) (RFC 6455 §7.4)")
        }
        var check = UTF8Check()
        let reason = control.dropFirst(2)
        guard check.accept(reason), check.isComplete else { throw Self.notUTF8 }
        return .close(code, reason: String(decoding: reason, as: UTF8.self))
    }

    private var tooBig: WebSocketViolation {
        WebSocketViolation("webSocket.messageLimit is \(limit) bytes", code: .messageTooBig)
    }

    private static let notUTF8 = WebSocketViolation("a text is not UTF-8 (RFC 6455 §8.1)", code: .invalidPayload)
}
