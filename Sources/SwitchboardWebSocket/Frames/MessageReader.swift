import Foundation
import Switchboard

/// Reads messages and control frames from a server's bytes ([RFC 6455
/// §5.4](https://www.rfc-editor.org/rfc/rfc6455#section-5.4)).
struct MessageReader {
    private var frames: FrameReader
    private let limit: Int
    private let inflater: MessageInflater?
    private var current: FrameHeader?
    /// The first frame of the message whose fragments arrive.
    private var message: FrameHeader?
    private var content = Data()
    private var control = Data()
    private var text = UTF8Validator()

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

    var decompresses: Bool { inflater != nil }

    /// Removes the next event from the front of the bytes. Nil when more bytes are needed.
    mutating func next(_ bytes: inout UnsafeRawBufferPointer) throws(WebSocketViolation) -> WebSocketEvent? {
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
            text = UTF8Validator()
        }
        // The length of a compressed frame is not the length of its content.
        let isTooLong = header.length > UInt64(limit - content.count)
        if isTooLong, message?.isCompressed == false { throw .tooBig(limit) }
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
        if message?.opcode == .text, !text.accept(piece) { throw .notUTF8 }
        if content.isEmpty { content = Data(piece) } else { content.append(contentsOf: piece) }
    }

    private mutating func inflate(_ payload: Data, _ inflater: MessageInflater) throws(WebSocketViolation) {
        inflater.feed(payload)
        while let piece = try inflater.next() {
            guard content.count + piece.count <= limit else { throw .tooBig(limit) }
            try append(piece)
        }
    }

    private mutating func end() throws(WebSocketViolation) -> WebSocketEvent? {
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
        guard text.isComplete else { throw .notUTF8 }
        return .message(.text(String(decoding: content, as: UTF8.self)))
    }

    private mutating func controlEvent(_ opcode: Opcode) throws(WebSocketViolation) -> WebSocketEvent {
        defer { control = Data() }
        switch opcode {
        case .ping: return .ping(control)
        case .pong: return .pong(control)
        default: break
        }
        guard !control.isEmpty else { return .close(.noStatusReceived, reason: "") }
        guard control.count > 1 else { throw WebSocketViolation("a Close frame has half a code (RFC 6455 §5.5.1)") }
        let code = control.prefix(2).reduce(0) { $0 << 8 | UInt16($1) }
        guard code != WebSocketCloseCode.noStatusReceived.rawValue else { throw .badCloseCode(code) }
        return try WebSocketEvent(closing: code, control.dropFirst(2))
    }
}

extension Data {
    /// Whether the bytes are whole characters of UTF-8.
    var isUTF8: Bool {
        var check = UTF8Validator()
        return check.accept(self) && check.isComplete
    }
}

/// Validates UTF-8 in pieces, as the bytes arrive ([RFC 3629 §4](https://www.rfc-editor.org/rfc/rfc3629#section-4)).
struct UTF8Validator {
    /// The number of continuation bytes that are missing.
    private var missing = 0
    /// The range of the next continuation byte, which excludes overlong forms, surrogates and values above U+10FFFF.
    private var allowed: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether the bytes so far end with a whole character.
    var isComplete: Bool { missing == 0 }

    /// Returns false if the bytes cannot continue the text.
    mutating func accept(_ bytes: some Sequence<UInt8>) -> Bool {
        for byte in bytes {
            if missing > 0 {
                guard allowed.contains(byte) else { return false }
                missing -= 1
                allowed = 0x80...0xBF
            } else if byte >= 0x80 {
                switch byte {
                case 0xC2...0xDF: (missing, allowed) = (1, 0x80...0xBF)
                case 0xE0: (missing, allowed) = (2, 0xA0...0xBF)
                case 0xED: (missing, allowed) = (2, 0x80...0x9F)
                case 0xE1...0xEF: (missing, allowed) = (2, 0x80...0xBF)
                case 0xF0: (missing, allowed) = (3, 0x90...0xBF)
                case 0xF1...0xF3: (missing, allowed) = (3, 0x80...0xBF)
                case 0xF4: (missing, allowed) = (3, 0x80...0x8F)
                default: return false
                }
            }
        }
        return true
    }
}
