import Foundation
import SwitchboardJSON
import SwitchboardTestSupport
import Testing

/// Expects the texts that the core's `JSONBody` writes.
struct EncoderTextTests {
    // RFC 8259 §7: quotation mark, reverse solidus and U+0000 to U+001F must be escaped. Nothing else needs an escape.
    @Test(
        "strings are escaped as RFC 8259 §7 requires",
        arguments: [
            ("a\"b", #""a\"b""#), ("a\\b", #""a\\b""#), ("a/b", #""a/b""#), ("\n\r\t", #""\n\r\t""#),
            ("\u{8}\u{C}", #""\b\f""#),
            ("\0", #""\u0000""#), ("\u{1F}", #""\u001f""#), ("\u{7F}", "\"\u{7F}\""), ("é🌎\u{2028}", "\"é🌎\u{2028}\""),
            ("", "\"\""),
        ])
    func escapes(value: String, expected: String) throws {
        #expect(try fastText(value) == expected)
        #expect(try fastText([value: [value]]) == "{\(expected):[\(expected)]}")
    }

    @Test("escapes are found at every offset of texts up to 40 characters")
    func escapePlaces() throws {
        let escapes: [(Character, String)] = [
            ("\"", #"\""#), ("\\", #"\\"#), ("\u{1}", #"\u0001"#), ("\n", #"\n"#), ("é", "é"),
        ]
        for length in 1...40 {
            let plain = Array("abcdefghijklmnopqrstuvwxyz0123456789 !#~".prefix(length))
            let text = String(plain)
            #expect(try fastText(text) == "\"\(text)\"")
            for place in 0..<length {
                for (character, escaped) in escapes {
                    let head = String(plain[..<place])
                    let tail = String(plain[(place + 1)...])
                    #expect(try fastText(head + String(character) + tail) == "\"\(head)\(escaped)\(tail)\"")
                }
            }
        }
    }

    @Test("any text parses back to itself")
    func anyText() throws {
        var random = SeededGenerator(seed: 8259)
        let texts = (0..<5_000).map { _ in random.jsonText(upTo: 40) }
        let parsed = try JSONSerialization.jsonObject(with: FastJSONEncoder().encode(texts)) as? [String]
        #expect(parsed == texts)
        let named = Dictionary(texts.map { ($0, 1) }) { one, _ in one }
        let object = try JSONSerialization.jsonObject(with: FastJSONEncoder().encode(named)) as? [String: Int]
        #expect(object == named)
    }

    @Test(
        "values of every kind are written at the top and in containers",
        arguments: [
            (["b": 1, "a": 2] as [String: Int], #"{"a":2,"b":1}"#), ([1, 2, 3], "[1,2,3]"), ([[1], []], "[[1],[]]"),
            ("text", #""text""#), (5, "5"), (true, "true"), (nil as Int?, "null"),
            ([1, nil, 3] as [Int?], "[1,null,3]"),
            ([] as [Int], "[]"), ([:] as [String: Int], "{}"), (["k": nil] as [String: Int?], #"{"k":null}"#),
            ([10: "a", 9: "b", 1: "c"] as [Int: String], #"{"1":"c","10":"a","9":"b"}"#),
            (URL(fileURLWithPath: "/a b"), #""file:///a%20b""#), (Data([0, 255, 62, 63]), #""AP8+Pw==""#),
            (
                UUID(
                    uuid: (
                        0xE6, 0x21, 0xE1, 0xF8, 0xC3, 0x6C, 0x49, 0x5A, 0x93, 0xFC, 0x0C, 0x24, 0x7A, 0x3E, 0x6E, 0x5F
                    )),
                #""E621E1F8-C36C-495A-93FC-0C247A3E6E5F""#
            ),
        ] as [(any Encodable & Sendable, String)])
    func shapes(value: any Encodable & Sendable, expected: String) throws {
        #expect(try fastText(value) == expected)
        #expect(try fastText(["x": AnyValue(value)]) == "{\"x\":\(expected)}")
        #expect(try fastText([AnyValue(value), AnyValue(value)]) == "[\(expected),\(expected)]")
    }

    @Test("members keep the order in which the value encodes them")
    func declaredOrder() throws {
        for count in [3, 40, 63, 64, 65, 66, 300] {
            let wide = Encoding { encoder in
                var container = encoder.container(keyedBy: AnyKey.self)
                for index in (0..<count).reversed() { try container.encode(index, forKey: AnyKey("k\(index)")) }
                try container.encode("again", forKey: AnyKey("k\(count / 2)"))
                try container.encode("last", forKey: AnyKey("k\(count / 2)"))
            }
            let members = (0..<count).reversed().map { $0 == count / 2 ? "\"k\($0)\":\"last\"" : "\"k\($0)\":\($0)" }
            #expect(try fastText(wide) == "{" + members.joined(separator: ",") + "}")
        }
    }

    @Test("canonically equivalent names are equal, other names are distinct")
    func sameNames() throws {
        func text(_ names: [String]) throws -> String {
            try fastText(
                Encoding { encoder in
                    var container = encoder.container(keyedBy: AnyKey.self)
                    for (index, name) in names.enumerated() { try container.encode(index, forKey: AnyKey(name)) }
                })
        }
        #expect(try text(["\u{E9}", "x", "e\u{301}"]).hasSuffix(#":2,"x":1}"#))
        #expect(try text(["a\"", "a", "a\""]) == #"{"a\"":2,"a":1}"#)
        let long = "abcdefgh-middle1-ijklmnop"
        let other = "abcdefgh-middle2-ijklmnop"
        #expect(try text([long, other, long]) == "{\"\(long)\":2,\"\(other)\":1}")
        #expect(try text(["", "a", ""]) == #"{"":2,"a":1}"#)
    }

    @Test("dictionaries sort in String order, sortedKeys in UTF-8 order")
    func dictionaryOrder() throws {
        let names = ["f": 1, "e\u{301}": 2, "a": 3]
        #expect(try fastText(names) == "{\"a\":3,\"f\":1,\"e\u{301}\":2}")
        #expect(try fastText(names) { $0.outputFormatting = .sortedKeys } == "{\"a\":3,\"e\u{301}\":2,\"f\":1}")
    }

    @Test("nil properties are omitted and other properties are written")
    func absentMembers() throws {
        struct User: Encodable { var id = 1, name: String?, age: Int?, ratio: Double?, tags: [Int]?, isOn: Bool? }
        #expect(try fastText(User()) == #"{"id":1}"#)
        #expect(
            try fastText(User(name: "n", age: 2, ratio: 0.5, tags: [], isOn: false))
                == #"{"id":1,"name":"n","age":2,"ratio":0.5,"tags":[],"isOn":false}"#)
    }

    @Test("a value that encodes nothing is an empty object, even at the top")
    func nothing() throws {
        let nothing = Encoding { _ in }
        #expect(try fastText(nothing) == "{}")
        #expect(try fastText([nothing]) == foundationText([nothing]))
        #expect(try fastText(["a": nothing]) == foundationText(["a": nothing]))
        struct Empty: Encodable {}
        #expect(try fastText([Empty()]) == "[{}]")
    }

    @Test("indented text equals that of Python's json.dumps with indent=2")
    func indented() throws {
        struct Value: Encodable { var b: [Encoding], a: [String: Int] = [:], c: [Int] = [] }
        let inner = Encoding { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encodeNil(forKey: AnyKey("c"))
        }
        let expected = "{\n  \"b\": [\n    {\n      \"c\": null\n    }\n  ],\n  \"a\": {},\n  \"c\": []\n}"
        #expect(try fastText(Value(b: [inner])) { $0.outputFormatting = .indented } == expected)
    }
}

/// A value of any type, which a single-value container encodes as that type.
struct AnyValue: Encodable {
    let value: any Encodable

    init(_ value: any Encodable) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
