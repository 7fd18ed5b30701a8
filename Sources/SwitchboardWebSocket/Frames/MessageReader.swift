import Foundation
import Switchboard

/// Reads messages and control frames from a server's bytes ([RFC 6455
/// §5.4](https://www.rfc-editor.org/rfc/rfc6455#section-5.4)).
struct MessageReader {
    private let limit: Int
    /// Nil without `permessage-deflate`.
    private let inflater: MessageInflater?
    /// The bytes of an incomplete header.
    private var header: [UInt8] = []
    /// The frame whose payload arrives. Nil between frames.
    private var frame: FrameHeader?
    /// The payload bytes of the frame that are missing.
    private var missing: UInt64 = 0
    /// The first frame of the message whose fragments arrive.
    private var message: FrameHeader?
    private var content = Data()
    private var control = Data()
    private var text = UTF8Validator()

    /// Creates a reader. `limit` is the largest message in bytes, after decompression.
    init(limit: Int, inflater: MessageInflater? = nil) {
        self.limit = max(0, limit)
        self.inflater = inflater
        header.reserveCapacity(10)
    }

    var decompresses: Bool { inflater != nil }

    /// Removes the next event from the front of the bytes. Nil when more bytes are needed.
    mutating func next(_ bytes: inout UnsafeRawBufferPointer) throws(WebSocketViolation) -> WebSocketEvent? {
        while true {
            guard let frame else {
                guard let header = try nextHeader(&bytes) else { return nil }
                try begin(header)
                continue
            }
            if missing == 0 {
                self.frame = nil
                if let event = try end(of: frame) { return event }
            } else {
                guard !bytes.isEmpty else { return nil }
                let count = Int(min(missing, UInt64(bytes.count)))
                missing -= UInt64(count)
                let payload = UnsafeRawBufferPointer(rebasing: bytes[..<count])
                bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
                try add(payload, of: frame)
            }
        }
    }

    private mutating func nextHeader(_ bytes: inout UnsafeRawBufferPointer) throws(WebSocketViolation) -> FrameHeader? {
        while let byte = bytes.first {
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
            header.append(byte)
            guard header.count >= 2, header.count == FrameHeader.size(header[1]) else { continue }
            defer { header.removeAll(keepingCapacity: true) }
            return try FrameHeader(header, allowsCompression: inflater != nil)
        }
        return nil
    }

    private mutating func begin(_ header: FrameHeader) throws(WebSocketViolation) {
        (frame, missing) = (header, header.length)
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

    private mutating func add(_ payload: UnsafeRawBufferPointer, of frame: FrameHeader) throws(WebSocketViolation) {
        if frame.opcode.isControl {
            control.append(contentsOf: payload)
        } else if message?.isCompressed == true, let inflater {
            try inflater.inflate(payload) { piece throws(WebSocketViolation) in try append(piece) }
        } else {
            try append(payload)
        }
    }

    private mutating func append(_ piece: UnsafeRawBufferPointer) throws(WebSocketViolation) {
        guard content.count + piece.count <= limit else { throw .tooBig(limit) }
        if message?.opcode == .text, !text.accept(piece) { throw .notUTF8 }
        if content.isEmpty { content = Data(piece) } else { content.append(contentsOf: piece) }
    }

    private mutating func end(of frame: FrameHeader) throws(WebSocketViolation) -> WebSocketEvent? {
        guard !frame.opcode.isControl else { return try controlEvent(frame.opcode) }
        guard frame.isFinal, let message else { return nil }
        if message.isCompressed, let inflater {
            try inflater.endMessage { piece throws(WebSocketViolation) in try append(piece) }
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
