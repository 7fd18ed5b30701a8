import Foundation
import Switchboard
import SwitchboardContracts
import SwitchboardTestSupport
import Testing

struct ShapeBuilderTests {
    private func lines(_ answers: String...) throws -> [String] {
        try Contract(answers: answers.map { Data($0.utf8) }).description.split(separator: "\n").map(String.init)
    }

    @Test(
        "a string has the format that all its values have",
        arguments: [
            // RFC 3339 §5.8, RFC 9562 §A, RFC 3986 §1.1.2.
            (["1985-04-12T23:20:50.52Z", "1996-12-19T16:39:57-08:00"], "date-time"), (["1985-04-12"], "date"),
            (["1985-02-30"], "string"), (["1985-04-12", "1985-04-12T23:20:50Z"], "date-time | date"),
            (["f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "C232AB00-9414-11EC-B3C8-9F6BDECED846"], "uuid"),
            (["http://www.ietf.org/rfc/rfc2396.txt", "telnet://192.0.2.16:80/"], "url"), (["a@example.com"], "email"),
            (["urn:oasis:names"], "string"), (["https://a.example/", ""], "string"), (["http://a b"], "string"),
            (["12"], "string"), ([""], "string"),
        ] as [([String], String)])
    func formats(_ values: [String], _ type: String) throws {
        let data = try JSONSerialization.data(withJSONObject: values)
        #expect(try lines(String(decoding: data, as: UTF8.self)).last == "[]: \(type)")
    }

    @Test("names are compared by code units (RFC 8259 §8.3), also in the text")
    func spellings() throws {
        let answer = Data(#"{"\u00e9":1,"e\u0301":[],"\u00e9\u00e9":"a"}"#.utf8)
        let contract = try Contract(answers: [answer])
        #expect(contract.differences(in: answer).isEmpty)
        let read = try Contract(contract.description)
        #expect(read.differences(in: answer).isEmpty)
        #expect(read.description.utf8.elementsEqual(contract.description.utf8))
        let differences = read.differences(in: Data(#"{"\u00e9":1,"e\u0301e\u0301":"a"}"#.utf8))
        #expect(differences.map(\.kind) == [.missingMember, .unknownMember, .missingMember])
        let missing = read.differences(in: Data(#"{"\u00e9\u00e9":"a"}"#.utf8))
        #expect(missing.map(\.kind) == [.missingMember, .missingMember])
    }

    @Test("escaped slashes, as PHP writes them, do not hide a URL")
    func escapedURL() throws {
        #expect(try lines(#"["https:\/\/a.example\/"]"#).last == "[]: url")
    }

    @Test(
        "few words that repeat are a set of values, and others are strings",
        arguments: [
            ("open open open open closed closed closed closed open open open closed", #""closed" | "open""#),
            ("open open open open open open open open open open open open", "string"),
            ("open open open closed closed closed", "string"),
            ("open open open open open open open open open open open once", "string"),
            ("1 1 1 1 1 1 2 2 2 2 2 2", "string"), ("a b c d e f g h i a b c d e f g h i a b c d e f g h i", "string"),
        ])
    func values(_ words: String, _ type: String) throws {
        for name in ["type", "mediaType", "media_type", "Type"] {
            let list = words.split(separator: " ").map { [name: String($0)] }
            let data = try JSONSerialization.data(withJSONObject: list)
            #expect(try lines(String(decoding: data, as: UTF8.self)).last == "[].\(name): \(type)")
        }
    }

    @Test("words that repeat under another name are strings", arguments: ["login", "prototype", "types", "typeName"])
    func otherNames(_ name: String) throws {
        let list = (0..<20).map { [name: $0 % 2 == 0 ? "a" : "b"] }
        let data = try JSONSerialization.data(withJSONObject: list)
        #expect(try lines(String(decoding: data, as: UTF8.self)).last == "[].\(name): string")
    }

    @Test("the value of a secret is never in a contract")
    func secrets() throws {
        let list = (0..<12).map { #"{"token_level":"k\#($0 % 2)ey","level":"k\#($0 % 2)ey"}"# }.joined(separator: ",")
        #expect(try lines("[\(list)]").suffix(2) == [#"[].level: "k0ey" | "k1ey""#, "[].token_level: string"])
    }

    @Test(
        "an object with identifiers as names is a map",
        arguments: [
            #"{"1":{"a":1},"2":{"a":2,"b":3}}"#, #"{"2026-01-31":{"a":1,"b":2},"2026-02-01":{"a":1}}"#,
            #"{"f81d4fae-7dec-11d0-a765-00a0c91e6bf6":{"a":1,"b":1},"c232ab00-9414-11ec-b3c8-9f6bdeced846":{"a":1}}"#,
            #"{"5f3a9c01d2":{"a":1,"b":1},"00000000aa":{"a":2}}"#,
            #"{"a@example.com":{"a":1,"b":1},"b@example.com":{"a":1}}"#,
        ])
    func maps(_ answer: String) throws {
        #expect(try lines(answer) == ["$: object", "{}: object", "{}.a: integer", "{}.b?: integer"])
    }

    @Test("an object with many names of one kind, or 1,000 names, is a map")
    func manyNames() throws {
        func object(_ count: Int, _ value: (Int) -> String) -> String {
            "{" + (0..<count).map { "\"word\($0)\":\(value($0))" }.joined(separator: ",") + "}"
        }
        #expect(try lines(object(64) { _ in "1" }).count == 65)
        #expect(try lines(object(65) { $0 == 1 ? "null" : "1" }) == ["$: object", "{}: integer | null"])
        #expect(try lines(object(1_000) { $0 == 1 ? "true" : "1" }).count == 1_001)
        #expect(try lines(object(1_001) { $0 == 1 ? "true" : "1" }) == ["$: object", "{}: integer | boolean"])
    }

    @Test("maps in maps, whose members differ, keep all members as optional ones")
    func nestedMaps() throws {
        let inner = { (name: String) in #"{"7":{"\#(name)":[{"x":1}]},"8":{"all":"a"}}"# }
        let answer = #"{"1":\#(inner("a")),"2":\#(inner("b")),"3":{}}"#
        #expect(
            try lines(answer) == [
                "$: object", "{}: object", "{}{}: object", "{}{}.a?: array", "{}{}.a[]: object", "{}{}.a[].x: integer",
                "{}{}.all?: string", "{}{}.b?: array", "{}{}.b[]: object", "{}{}.b[].x: integer",
            ])
    }

    @Test("a name of more than 256 bytes is the key of a map", arguments: [256, 257])
    func longName(length: Int) throws {
        let name = String(repeating: "n", count: length)
        #expect(try lines("{\"\(name)\":1}") == ["$: object", length > 256 ? "{}: integer" : "\(name): integer"])
    }

    @Test("a map of many keys takes the members of a smaller one")
    func unequalMaps() throws {
        let many = (0..<20).map { "\"\($0)\":1" }.joined(separator: ",")
        #expect(
            try lines("{\"1\":{\(many)},\"2\":{\"1\":\"text\"}}") == [
                "$: object", "{}: object", "{}{}: string | integer",
            ])
    }

    @Test("a name that occurs twice in an object counts once")
    func repeatedNames() throws {
        #expect(try lines(#"[{"a":1,"a":"x"},{}]"#).last == "[].a?: string | integer")
    }

    @Test("10 MB of names make a contract with two lines")
    func manyKeys() throws {
        let object = "{" + (0..<500_000).map { "\"name-of-a-key-\($0)\":1" }.joined(separator: ",") + "}"
        #expect(object.utf8.count > 10_000_000)
        #expect(try lines(object) == ["$: object", "{}: integer"])
    }

    @Test("a contract with many lines, long paths or deep nesting is an error")
    func tooLarge() throws {
        let members = { (name: String) in
            "{" + (0..<900).map { "\"\(name)\($0)\":" + ($0 == 0 ? "true" : "1") }.joined(separator: ",") + "}"
        }
        let wide = (0..<150).map { "\"w\($0)\":\(members("member\($0)x"))" }.joined(separator: ",")
        #expect(failure { try lines("{\(wide),\"x\":1}") } == .contractFault)
        let name = String(repeating: "n", count: 250)
        let long = (0..<500).reduce("1") { text, _ in "{\"\(name)\":\(text),\"\(name)x\":true}" }
        #expect(failure { try lines(long) } == .contractFault)
        let deep = String(repeating: "[", count: 100_000)
        #expect(failure { try lines(deep) } == .contractFault)
    }
}
