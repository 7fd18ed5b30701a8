import Foundation
import SwitchboardJSON
import Testing

struct StrictnessTests {
    /// Texts with a syntax error, and the text of the error.
    private static let broken: [(text: String, error: String)] = [
        ("", "Expected a value, found the end of the text at line 1, column 1 (byte 0)."),
        ("[1,2,]", "Expected a value, found ']' at line 1, column 6 (byte 5)."),
        ("{\"a\":1,}", "Expected a name in quotes, found '}' at line 1, column 8 (byte 7)."),
        ("[1\n,\n 01]", "Expected ',' or ']', found '1' at line 3, column 3 (byte 7)."),
        ("[1 2]", "Expected ',' or ']', found '2' at line 1, column 4 (byte 3)."),
        ("{\"é\" 1}", "Expected ':', found '1' at line 1, column 6 (byte 6)."),
        ("{\"a\":1 \"b\":2}", "Expected ',' or '}', found '\"' at line 1, column 8 (byte 7)."),
        ("{1:2}", "Expected a name in quotes, found '1' at line 1, column 2 (byte 1)."),
        ("[-]", "Expected a digit, found ']' at line 1, column 3 (byte 2)."),
        ("[1.]", "Expected a digit, found ']' at line 1, column 4 (byte 3)."),
        ("[1e+]", "Expected a digit, found ']' at line 1, column 5 (byte 4)."),
        ("[.5]", "Expected a value, found '.' at line 1, column 2 (byte 1)."),
        ("[+1]", "Expected a value, found '+' at line 1, column 2 (byte 1)."),
        ("[tru]", "Expected a value, found 't' at line 1, column 2 (byte 1)."),
        ("[NaN]", "Expected a value, found 'N' at line 1, column 2 (byte 1)."),
        (
            "[\"a\nb\"]",
            "Expected no control character in a string, found control character 0x0A at line 1, column 4 (byte 3)."
        ),
        ("[\"abc", "Expected '\"', found the end of the text at line 1, column 6 (byte 5)."),
        ("[\"\\x\"]", "Expected an escape sequence, found '\\' at line 1, column 3 (byte 2)."),
        ("[\"\\u12G4\"]", "Expected four hexadecimal digits, found 'G' at line 1, column 7 (byte 6)."),
        ("[\"\\ud800\"]", "Expected a pair of surrogates, found '\\' at line 1, column 3 (byte 2)."),
        ("[\"\\udc00\"]", "Expected a pair of surrogates, found '\\' at line 1, column 3 (byte 2)."),
        ("[\"\\ud800\\u0041\"]", "Expected a pair of surrogates, found '\\' at line 1, column 3 (byte 2)."),
        ("[1]x", "Expected the end of the text, found 'x' at line 1, column 4 (byte 3)."),
        ("[1]\0", "Expected the end of the text, found control character 0x00 at line 1, column 4 (byte 3)."),
        ("[é]", "Expected a value, found 'é' at line 1, column 2 (byte 1)."),
        ("[1,\u{a0}2]", "Expected a value, found '\u{a0}' at line 1, column 4 (byte 3)."),
        ("// a\n1", "Expected a value, found '/' at line 1, column 1 (byte 0)."),
        ("['a']", "Expected a value, found ''' at line 1, column 2 (byte 1)."),
    ]

    @Test("an error states what was expected, what was found, and where", arguments: broken)
    func errors(text: String, error: String) throws {
        let thrown = #expect(throws: DecodingError.self) {
            try FastJSONDecoder().decode(AnyJSON.self, from: Data(text.utf8))
        }
        guard case .dataCorrupted(let context) = thrown else {
            Issue.record("\(String(describing: thrown))")
            return
        }
        #expect(context.debugDescription == "The given data was not valid JSON. \(error)")
        let cause = try #require(context.underlyingError as NSError?)
        #expect(cause.domain == NSCocoaErrorDomain && cause.userInfo[NSDebugDescriptionErrorKey] as? String == error)
    }

    /// Invalid UTF-8, from tables 3-7 and 3-8 of the Unicode standard.
    private static let malformed: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0xAF], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
        [0xE1, 0x80], [0xE1, 0x41, 0x80], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80],
        [0xF0, 0x8F, 0xBF, 0xBF], [0xF1, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE],
        [0xFF],
    ]

    @Test("invalid UTF-8 in a string throws with the offset of its first byte", arguments: malformed)
    func malformedText(bytes: [UInt8]) {
        // The padding moves the bytes through each position of the eight bytes that are read at once.
        for padding in 0..<9 {
            let start = Array("[\"é".utf8) + [UInt8](repeating: 0x61, count: padding)
            let error = #expect(throws: DecodingError.self) {
                try FastJSONDecoder().decode([String].self, from: Data(start + bytes + Array("\"]".utf8)))
            }
            #expect("\(String(describing: error))".contains("(byte \(start.count))"))
        }
    }

    @Test(
        "the first and last characters of each UTF-8 length decode",
        arguments: ["\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}"])
    func wellFormedText(text: String) throws {
        for padding in 0..<9 {
            let whole = String(repeating: "a", count: padding) + text + text
            #expect(try FastJSONDecoder().decode([String].self, from: Data("[\"\(whole)\"]".utf8)) == [whole])
        }
    }

    @Test(
        "UTF-16 and UTF-32 throw",
        arguments: [String.Encoding.utf16, .utf16BigEndian, .utf16LittleEndian, .utf32])
    func otherEncodings(encoding: String.Encoding) throws {
        let data = try #require("[1]".data(using: encoding))
        #expect(throws: DecodingError.self) { try FastJSONDecoder().decode([Int].self, from: data) }
    }

    @Test("a byte-order mark is skipped at the start and throws elsewhere")
    func byteOrderMark() throws {
        #expect(try FastJSONDecoder().decode([Int].self, from: Data("\u{FEFF}[1]".utf8)) == [1])
        #expect(throws: DecodingError.self) { try FastJSONDecoder().decode([Int].self, from: Data("[\u{FEFF}1]".utf8)) }
    }

    @Test("512 levels decode by default, and levels beyond the limit throw")
    func depth() throws {
        func nested(_ levels: Int) -> Data {
            Data((String(repeating: "[", count: levels) + String(repeating: "]", count: levels)).utf8)
        }
        var decoder = FastJSONDecoder()
        _ = try decoder.decode(AnyJSON.self, from: nested(512))
        let error = #expect(throws: DecodingError.self) { try decoder.decode(AnyJSON.self, from: nested(513)) }
        #expect("\(String(describing: error))".contains("at most 512 levels"))
        decoder.maximumDepth = 1_000_000
        _ = try decoder.decode(AnyJSON.self, from: nested(1_000_000))
        decoder.maximumDepth = 0
        _ = try decoder.decode(Int.self, from: Data("1".utf8))
        #expect(throws: DecodingError.self) { try decoder.decode([Int].self, from: Data("[]".utf8)) }
    }

    @Test("an input of 4 GB throws before it is read")
    func size() throws {
        let byte = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
        defer { byte.deallocate() }
        let bytes = UnsafeRawBufferPointer(start: byte, count: 1 << 32)
        let error = #expect(throws: DecodingError.self) { try FastJSONDecoder().decode(Int.self, from: bytes) }
        #expect("\(String(describing: error))".contains("4294967296 bytes"))
    }

    @Test("ends, escapes and errors are found at every offset of short strings")
    func stringPlaces() throws {
        func decode(_ text: String) throws -> String {
            try FastJSONDecoder().decode([String].self, from: Data("[\"\(text)\"]".utf8))[0]
        }
        for length in 0...40 {
            let plain = Array("abcdefghijklmnopqrstuvwxyz0123456789 !#~\u{7F}".prefix(length))
            #expect(try decode(String(plain)) == String(plain))
            for place in 0...length {
                let (head, tail) = (String(plain[..<place]), String(plain[place...]))
                for (text, value) in [(#"\\"#, "\\"), (#"\""#, "\""), ("é", "é"), ("\u{10FFFF}", "\u{10FFFF}")] {
                    #expect(try decode(head + text + tail) == head + value + tail)
                }
                for text in ["\"", "\u{1}", "\0", "\\ "] {
                    #expect(throws: DecodingError.self) { try decode(head + text + tail) }
                }
            }
        }
    }

    @Test("escapes decode to the characters they represent")
    func escapes() throws {
        let text = #"["\"\\\/\b\f\n\r\t","\u0041\u00e9\u20AC\uD83D\uDE00","a\u0000b","\ud83d\ude01x"]"#
        let expected = ["\"\\/\u{8}\u{C}\n\r\t", "Aé€😀", "a\0b", "😁x"]
        #expect(try FastJSONDecoder().decode([String].self, from: Data(text.utf8)) == expected)
    }
}
