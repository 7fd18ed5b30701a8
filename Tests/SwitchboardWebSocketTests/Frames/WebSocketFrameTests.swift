import Foundation
import Testing
@testable import SwitchboardMocks
@testable import SwitchboardWebSocket

/// Framing ([RFC 6455 §5](https://www.rfc-editor.org/rfc/rfc6455#section-5)).
@Suite("WebSocket frames") struct WebSocketFrameTests {
    static let hello = "48 65 6c 6c 6f"

    @Test(
        "the examples of RFC 6455 §5.7 are read at every split",
        arguments: [
            ("81 05 48 65 6c 6c 6f", [WebSocketEvent.message(.text("Hello"))]),
            ("01 03 48 65 6c 80 02 6c 6f", [.message(.text("Hello"))]),
            ("89 05 48 65 6c 6c 6f", [.ping(Data("Hello".utf8))]),
            ("8a 05 48 65 6c 6c 6f", [.pong(Data("Hello".utf8))]),
            ("01 03 48 65 6c 89 01 21 80 02 6c 6f", [.ping(Data("!".utf8)), .message(.text("Hello"))]),
            ("82 00 81 00", [.message(.binary(Data())), .message(.text(""))]),
            ("88 00", [.close(.noStatusReceived, reason: "")]),
            ("88 05 03 e8 62 79 65", [.close(.normalClosure, reason: "bye")]),
        ])
    func examples(_ digits: String, _ expected: [WebSocketEvent]) throws {
        let frames = bytes(digits)
        for size in 1...frames.count { #expect(try events(frames, by: size) == expected) }
    }

    @Test(
        "lengths of 126, 65,535, 65,536 bytes are read",
        arguments: [("7e 00 7e", 126), ("7e ff ff", 65_535), ("7f 00 00 00 00 00 01 00 00", 65_536)])
    func lengths(_ digits: String, _ count: Int) throws {
        let content = Data(repeating: 0xA5, count: count)
        #expect(try events(bytes("82" + digits) + content, by: 4_096) == [.message(.binary(content))])
    }

    @Test(
        "a frame that breaks a rule ends the connection with its code",
        arguments: [
            ("c1 00", 1002), ("a1 00", 1002), ("91 00", 1002),
            ("83 00", 1002), ("87 00", 1002), ("8b 00", 1002), ("8f 00", 1002),
            ("81 80 00 00 00 00", 1002),
            ("81 7e 00 7d", 1002), ("81 7f 00 00 00 00 00 00 ff ff", 1002), ("81 7f 80 00 00 00 00 00 00 00", 1002),
            ("09 00", 1002), ("08 00", 1002), ("0a 00", 1002), ("89 7e 00 7e", 1002),
            ("80 00", 1002), ("00 00", 1002), ("01 00 81 00", 1002), ("01 00 02 00", 1002),
            ("88 01 03", 1002), ("88 02 00 00", 1002), ("88 02 03 e7", 1002), ("88 02 03 ec", 1002),
            ("88 02 03 ed", 1002),
            ("88 02 03 ee", 1002), ("88 02 03 f7", 1002), ("88 02 07 d0", 1002), ("88 02 0b b7", 1002),
            ("88 02 13 88", 1002),
            ("88 03 03 e8 ff", 1007), ("81 01 ff", 1007), ("81 02 c3 28", 1007), ("81 01 c3", 1007),
        ] as [(String, UInt16)])
    func violations(_ digits: String, _ code: UInt16) {
        let frames = bytes(digits)
        for size in 1...frames.count { #expect(violation(of: frames, by: size) == code, "by \(size)") }
    }

    @Test(
        "codes that a Close frame may carry are accepted",
        arguments: [1000, 1001, 1003, 1007, 1011, 1012, 1014, 3000, 4999] as [UInt16])
    func codes(_ code: UInt16) throws {
        let frame = Data([0x88, 2, UInt8(code >> 8), UInt8(code & 0xFF)])
        #expect(try events(frame) == [.close(WebSocketCloseCode(rawValue: code), reason: "")])
    }

    @Test("a message over the limit is refused at its header", arguments: ["82 7e 03 e9", "02 7e 02 00 80 7e 01 ea"])
    func limit(_ digits: String) {
        var frames = bytes(digits)
        if digits.hasPrefix("02") { frames = bytes("02 7e 02 00") + Data(count: 512) + bytes("80 7e 01 ea") }
        #expect(violation(of: frames, limit: 1_000) == 1009)
        #expect(violation(of: bytes("82 7e 03 e8") + Data(count: 1_000), limit: 1_000) == nil)
    }

    @Test("a client's frames have the mask of RFC 6455 §5.7")
    func maskingKeys() {
        let key = UInt32(littleEndian: 0x3d21_fa37)
        let payload = Data("Hello".utf8)
        #expect(FrameWriter.frame(.text, payload, key: key) == bytes("81 85 37 fa 21 3d 7f 9f 4d 51 58"))
        #expect(FrameWriter.frame(.pong, payload, key: key) == bytes("8a 85 37 fa 21 3d 7f 9f 4d 51 58"))
        #expect(FrameWriter.frame(.text, payload, isFinal: false, key: key).first == 0x01)
    }

    @Test(
        "the mock server reads each length that the client writes",
        arguments: [0, 1, 7, 8, 9, 125, 126, 65_535, 65_536, 200_001])
    func written(_ count: Int) throws {
        let payload = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        var frames = ServerFrames()
        frames.take(FrameWriter.frame(.binary, payload, key: 0x1234_5678))
        let next = frames.next()
        let frame = try #require(next)
        #expect(frame.payload == payload && frame.opcode == 2 && frame.isFinal)
    }
}

/// Text as UTF-8 ([RFC 3629](https://www.rfc-editor.org/rfc/rfc3629), [RFC 6455
/// §8.1](https://www.rfc-editor.org/rfc/rfc6455#section-8.1)).
@Suite("WebSocket texts") struct WebSocketTextTests {
    @Test(
        "boundaries of UTF-8 are accepted at every split",
        arguments: [
            "7f", "c2 80", "df bf", "e0 a0 80", "ed 9f bf", "ee 80 80", "ef bf bf", "f0 90 80 80", "f4 8f bf bf",
            "ce ba e1 bd b9 cf 83 ce bc ce b5",
        ])
    func valid(_ digits: String) throws {
        let text = bytes(digits)
        let frame = Data([0x81, UInt8(text.count)]) + text
        for size in 1...frame.count {
            #expect(try events(frame, by: size) == [.message(.text(String(decoding: text, as: UTF8.self)))])
        }
    }

    @Test(
        "bytes that are not UTF-8 are refused",
        arguments: [
            "80", "bf", "c0 af", "c1 bf", "e0 80 af", "e0 9f bf", "f0 80 80 af", "f0 8f bf bf", "f5 80 80 80", "fe",
            "ff",
            "ed a0 80", "ed bf bf", "f4 90 80 80", "c3", "e2 82", "f0 9f 98", "61 c3 61",
        ])
    func invalid(_ digits: String) {
        let text = bytes(digits)
        for size in 1...(text.count + 2) {
            #expect(violation(of: Data([0x81, UInt8(text.count)]) + text, by: size) == 1007)
        }
    }

    @Test("a wrong byte is refused before the message ends")
    func early() {
        #expect(violation(of: bytes("01 7e ff ff 61 62 ff")) == 1007)
    }

    @Test("a character may cross fragments")
    func fragments() throws {
        #expect(try events(bytes("01 01 c3 00 00 80 01 a9")) == [.message(.text("é"))])
    }
}
