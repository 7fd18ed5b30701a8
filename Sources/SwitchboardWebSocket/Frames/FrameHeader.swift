/// The header of a frame from a server ([RFC 6455 §5.2](https://www.rfc-editor.org/rfc/rfc6455#section-5.2)).
struct FrameHeader: Equatable {
    let opcode: Opcode
    let isFinal: Bool
    /// Whether the message is compressed (RSV1, [RFC 7692 §6](https://www.rfc-editor.org/rfc/rfc7692#section-6)).
    let isCompressed: Bool
    /// The length of the payload, in bytes.
    let length: UInt64

    /// Returns the length of a header, without the masking key, from its second byte.
    static func size(_ second: UInt8) -> Int {
        switch second & 0x7F {
        case 126: 4
        case 127: 10
        default: 2
        }
    }

    /// Reads a whole header. `allowsCompression` is whether the connection negotiated compression, which RSV1 needs.
    init(_ bytes: [UInt8], allowsCompression: Bool) throws(WebSocketViolation) {
        let (first, second) = (bytes[0], bytes[1])
        guard let opcode = Opcode(rawValue: first & 0x0F) else {
            throw WebSocketViolation("the opcode \(first & 0x0F) is reserved (RFC 6455 §5.2)")
        }
        self.opcode = opcode
        isFinal = first & 0x80 != 0
        isCompressed = first & 0x40 != 0
        guard first & 0x30 == 0 else { throw WebSocketViolation("a reserved bit is set (RFC 6455 §5.2)") }
        guard !isCompressed || allowsCompression && (opcode == .text || opcode == .binary) else {
            throw WebSocketViolation("RSV1 is set on a frame that cannot be compressed (RFC 7692 §6)")
        }
        guard second & 0x80 == 0 else { throw WebSocketViolation("a frame of the server is masked (RFC 6455 §5.1)") }
        let short = UInt64(second & 0x7F)
        let long = bytes.dropFirst(2).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        length = short < 126 ? short : long
        let isMinimal = short < 126 || (short == 126 ? long > 125 : long > 0xFFFF)
        guard isMinimal, length <= UInt64(Int64.max) else {
            throw WebSocketViolation("the length of a frame is not encoded as RFC 6455 §5.2 requires")
        }
        guard !opcode.isControl || isFinal && length <= 125 else {
            throw WebSocketViolation("a control frame is fragmented or longer than 125 bytes (RFC 6455 §5.5)")
        }
    }
}

/// The type of a frame ([RFC 6455 §11.8](https://www.rfc-editor.org/rfc/rfc6455#section-11.8)).
enum Opcode: UInt8, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Whether the frame is a control frame, which is allowed between the fragments of a message.
    var isControl: Bool { rawValue >= 0x8 }
}
