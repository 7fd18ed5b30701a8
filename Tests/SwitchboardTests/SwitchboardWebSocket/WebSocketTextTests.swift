import Foundation
import Testing
@testable import SwitchboardWebSocket

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
