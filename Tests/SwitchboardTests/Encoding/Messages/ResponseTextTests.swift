import Foundation
import Switchboard
import Testing

struct ResponseTextTests {
    private func text(_ bytes: [UInt8], _ type: String) -> String {
        NetworkResponse(statusCode: 200, headers: ["Content-Type": type], body: Data(bytes)).text
    }

    @Test(
        "a response's text has the charset of its type",
        arguments: [
            ([0x61, 0xE9], "text/plain; charset=iso-8859-1"), ([0x61, 0xE9], "text/plain;Charset=\"ISO-8859-1\""),
            ([0x61, 0xE9], "text/html; a=b; charset=latin1"), ([0x61, 0, 0xE9, 0], "text/plain; charset=UTF-16LE"),
            ([0, 0x61, 0, 0xE9], "text/plain; charset=utf-16be"),
            ([0xFF, 0xFE, 0x61, 0, 0xE9, 0], "text/plain; charset=utf-16"),
            ([0xFE, 0xFF, 0, 0x61, 0, 0xE9], "text/plain; charset=utf-16"),
            // RFC 2781 §4.3
            ([0, 0x61, 0, 0xE9], "text/plain; charset=utf-16"), ([0x61, 0xC3, 0xA9], "text/plain; charset=utf-8"),
            ([0x61, 0xC3, 0xA9], "application/json"), ([0x61, 0xC3, 0xA9], "text/plain; charset=unknown"),
            ([0x61, 0xC3, 0xA9], "text/plain; note=\"charset=iso-8859-1\""),
            ([0xEF, 0xBB, 0xBF, 0x61, 0xC3, 0xA9], "text/plain"),
        ] as [([UInt8], String)])
    func charset(bytes: [UInt8], type: String) {
        #expect(text(bytes, type) == "aé")
    }

    @Test("the last of several types counts")
    func severalTypes() {
        for first in ["text/plain; charset=iso-8859-1", "text/plain; charset=utf-16"] {
            var response = NetworkResponse(
                statusCode: 200, headers: ["Content-Type": first], body: Data([0x61, 0xE9]))
            response.headers.add("Content-Type", "text/plain; charset=iso-8859-1")
            #expect(response.text == "aé")
        }
    }

    @Test("bytes that are not of the charset become U+FFFD")
    func invalid() {
        #expect(text([0x61, 0xFF], "text/plain") == "a\u{FFFD}")
        #expect(text([0x61], "text/plain; charset=utf-16le") == "a")
    }
}
