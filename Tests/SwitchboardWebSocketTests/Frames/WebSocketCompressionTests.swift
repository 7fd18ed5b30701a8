import Foundation
import SwitchboardPlatform
import Testing
import SwitchboardTestSupport
@testable import SwitchboardWebSocket

/// `permessage-deflate` ([RFC 7692](https://www.rfc-editor.org/rfc/rfc7692)).
@Suite("WebSocket compression") struct WebSocketCompressionTests {
    private func reader(limit: Int = 1 << 20, keepsContext: Bool = true) throws -> MessageReader {
        MessageReader(limit: limit, inflater: try MessageInflater(Zlib.loaded.get(), keepsContext: keepsContext))
    }

    @Test(
        "the examples of RFC 7692 §7.2.3 are read at every split",
        arguments: [
            "c1 07 f2 48 cd c9 c9 07 00", "41 03 f2 48 cd 80 04 c9 c9 07 00", "c1 0b 00 05 00 fa ff 48 65 6c 6c 6f 00",
            "c1 08 f3 48 cd c9 c9 07 00 00", "c1 0d f2 48 05 00 00 00 ff ff ca c9 c9 07 00",
        ])
    func examples(_ digits: String) throws {
        let frames = bytes(digits)
        for size in 1...frames.count {
            #expect(try events(frames, by: size, reader()) == [.message(.text("Hello"))], "by \(size)")
        }
    }

    /// Servers that compress each message with zlib's `Z_FINISH` omit the octet after the last block (§7.2.3.4), and some
    /// send nothing for an empty message.
    @Test(
        "a message whose last octet is missing leaves the next one readable", arguments: [true, false],
        [("c1 07 f3 48 cd c9 c9 07 00", "Hello"), ("c1 00", "")])
    func missingOctet(_ keepsContext: Bool, _ message: (digits: String, text: String)) throws {
        let frames = bytes("\(message.digits) \(message.digits) c1 07 f2 48 cd c9 c9 07 00 \(message.digits)")
        for size in 1...frames.count {
            let texts = try events(frames, by: size, reader(keepsContext: keepsContext))
            #expect(
                texts == [message.text, message.text, "Hello", message.text].map { .message(.text($0)) }, "by \(size)")
        }
    }

    @Test("a second message may refer to the first")
    func context() throws {
        let frames = bytes("c1 07 f2 48 cd c9 c9 07 00 c1 05 f2 00 11 00 00")
        #expect(try events(frames, reader()) == [.message(.text("Hello")), .message(.text("Hello"))])
    }

    @Test("without context a reference to the first message is damage")
    func noContext() throws {
        let frames = bytes("c1 07 f2 48 cd c9 c9 07 00 c1 05 f2 00 11 00 00")
        let failure = #expect(throws: WebSocketViolation.self) { try events(frames, reader(keepsContext: false)) }
        #expect(failure?.code == .invalidPayload)
    }

    @Test(
        "a continuation or a control frame with RSV1 is refused",
        arguments: ["41 03 f2 48 cd c0 04 c9 c9 07 00", "c9 00"])
    func bits(_ digits: String) throws {
        let failure = #expect(throws: WebSocketViolation.self) { try events(bytes(digits), reader()) }
        #expect(failure?.code == .protocolError)
    }

    @Test("a message that inflates over the limit is refused")
    func bomb() throws {
        let deflater = try MessageDeflater(Zlib.loaded.get(), windowBits: 15, keepsContext: false)
        let packed = try #require(deflater.compress(Data(count: 50 << 20)))
        #expect(packed.count < 65_536)
        let frame = bytes("c2 7e") + withUnsafeBytes(of: UInt16(packed.count).bigEndian) { Data($0) } + packed
        let limited = try reader(limit: 1 << 20)
        let failure = #expect(throws: WebSocketViolation.self) { try events(frame, by: 16_384, limited) }
        #expect(failure?.code == .messageTooBig)
    }

    @Test("compressed messages come back", arguments: [true, false], [9, 15])
    func roundTrip(_ keepsContext: Bool, _ windowBits: Int) throws {
        let deflater = try MessageDeflater(Zlib.loaded.get(), windowBits: windowBits, keepsContext: keepsContext)
        let inflater = try MessageInflater(Zlib.loaded.get(), keepsContext: keepsContext)
        var generator = SeededGenerator(seed: 7_692)
        for count in [0, 1, 5, 100, 1_000, 70_000, 300_000] {
            let message = Data((0..<count).map { _ in UInt8.random(in: 0...20, using: &generator) })
            #expect(try inflater.content(of: #require(deflater.compress(message))) == message)
        }
    }
}
