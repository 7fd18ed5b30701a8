import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardJSON
import SwitchboardTestSupport
import Testing

struct BodyEncodingTests {
    private static let form = "application/x-www-form-urlencoded"

    private func masked(_ text: String, _ encoding: String.Encoding, type: String) throws -> Data {
        var masking = ExchangeMasking(.standard)
        return masking.masked(body: try #require(text.data(using: encoding)), type: type)
    }

    @Test(
        "a body that is not UTF-8 is masked and keeps its encoding", .requirement("S3.14"),
        arguments: [
            ("name=café&password=hunter2", form), ("café: password=hunter2", "text/plain; charset=iso-8859-1"),
            (#"{"name":"café","password":"hunter2"}"#, "application/json"),
            (#"{"name":"café","password":"hunter2"}"#, ""), ("<a>é</a><password>hunter2</password>", "text/xml"),
            (
                "--b\r\nContent-Disposition: form-data; name=café\r\n\r\nbé?token=hunter2\r\n--b--\r\n",
                "multipart/form-data; boundary=b"
            ),
            ("\u{1}é&password=hunter2", form),
        ])
    func latin1(text: String, type: String) throws {
        let expected = text.replacingOccurrences(of: "hunter2", with: ExchangeMasking.mask)
        #expect(try masked(text, .isoLatin1, type: type) == expected.data(using: .isoLatin1))
    }

    // RFC 4627 §3 tells the encoding of JSON from its first bytes.
    @Test(
        "a body in UTF-16 or UTF-32 is masked and keeps its encoding", .requirement("S3.14"),
        arguments: [
            String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian,
        ])
    func wide(encoding: String.Encoding) throws {
        for start in ["", "\u{FEFF}"] {
            let text = start + #"{"name":"café 🎬","password":"hunter2"}"#
            let expected = text.replacingOccurrences(of: "hunter2", with: ExchangeMasking.mask)
            #expect(try masked(text, encoding, type: "application/json") == expected.data(using: encoding))
        }
    }

    @Test(
        "a body in UTF-16 by its type alone is masked",
        arguments: [
            ("utf-16le", String.Encoding.utf16LittleEndian), ("utf-16be", .utf16BigEndian), ("utf-16", .utf16BigEndian),
        ])
    func declared(charset: String, encoding: String.Encoding) throws {
        let text = "→ password=hunter2&a=b"
        let expected = text.replacingOccurrences(of: "hunter2", with: ExchangeMasking.mask)
        let type = "text/plain; charset=\(charset)"
        #expect(try masked(text, encoding, type: type) == expected.data(using: encoding))
    }

    @Test(
        "a body in UTF-16 or UTF-32 that ends within a character is masked",
        arguments: [
            String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian,
        ])
    func cut(encoding: String.Encoding) throws {
        let text = #"{"password":"hunter2","name":"🎬"#
        let expected = text.replacingOccurrences(of: "hunter2", with: ExchangeMasking.mask)
        for cut in 0..<4 {
            let body = try #require(text.data(using: encoding)).dropLast(cut)
            var masking = ExchangeMasking(.standard)
            let masked = masking.masked(body: Data(body), type: "application/json")
            #expect(masked == expected.data(using: encoding)?.dropLast(cut), "\(cut)")
        }
    }

    @Test(
        "a body that begins like UTF-16 is masked as UTF-8 too",
        arguments: ["a\0password=hunter2", "a\0&password=hunter2"])
    func zero(text: String) throws {
        let expected = text.replacingOccurrences(of: "hunter2", with: ExchangeMasking.mask)
        for type in ["text/plain", Self.form] {
            #expect(try masked(text, .utf8, type: type) == Data(expected.utf8))
        }
    }

    // The index of windows-1252 (https://encoding.spec.whatwg.org/index-windows-1252.txt).
    @Test(
        "a browser's text in ISO 8859-1 has the bytes of windows-1252",
        arguments: [
            ("€é”", [0x80, 0xE9, 0x94]), ("\u{85}é", [0x85, 0xE9]), ("é日", [0xC3, 0xA9, 0xE6, 0x97, 0xA5]),
        ] as [(String, [UInt8])])
    func windows1252(text: String, bytes: [UInt8]) {
        #expect(HARText.data(text, encoding: nil, type: "text/plain; charset=iso-8859-1") == Data(bytes))
    }

    // HAR 1.2 §params: the value of a pair is optional.
    @Test(
        "the pairs of a form are the body if the text is missing or empty",
        arguments: [
            (#""params":[{"name":"a","value":"b c"}]"#, "a=b%20c"),
            (#""text":"","params":[{"name":"a","value":"b"},{"name":"c","value":""}]"#, "a=b&c="),
            (#""params":[{"name":"a"},{"name":"b","value":null},{"name":"c","value":"d"}]"#, "a=&b=&c=d"),
            (#""text":"a=b","params":[{"name":"c","value":"d"}]"#, "a=b"), (#""text":"","params":[]"#, ""),
        ])
    func formPairs(members: String, expected: String) throws {
        let text = #"{"mimeType":"\#(Self.form)",\#(members)}"#
        let body = try FastJSONDecoder().decode(HAR.PostData.self, from: Data(text.utf8))
        #expect(body.data == Data(expected.utf8))
    }

    @Test("bytes that are not text stay unchanged")
    func binary() {
        let image = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0xFF]) + Data("password=hunter2".utf8)
        for type in ["image/png", "", "application/octet-stream"] {
            var masking = ExchangeMasking(.standard)
            #expect(masking.masked(body: image, type: type) == image)
        }
    }

    @Test(
        "a secret outside of ASCII is masked elsewhere in either encoding", .requirement("S3.14"),
        arguments: ["password=caféteria", "password=caf%E9teria", "password=caf%C3%A9teria"])
    func elsewhere(body: String) throws {
        var masking = ExchangeMasking(.standard)
        _ = masking.masked(body: try #require(body.data(using: .isoLatin1)), type: Self.form)
        let secrets = masking.storedSecrets
        for text in ["caféteria", "caf%E9teria", "caf%e9teria", "caf%C3%A9teria"] {
            #expect(secrets.masked("a \(text) b") == "a REDACTED b")
        }
        let body = try #require("caféteria".data(using: .isoLatin1))
        let entry = HAR.Entry(
            HAR.Request(NetworkRequest(.get, URL(string: "https://h/")!)), NetworkResponse(statusCode: 200), body: body,
            start: .now, elapsed: .zero)
        #expect(secrets.masked(entry).response.content.data == Data("REDACTED".utf8))
    }
}
