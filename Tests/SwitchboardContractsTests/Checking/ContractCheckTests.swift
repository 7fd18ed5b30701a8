import Foundation
import Switchboard
import SwitchboardContracts
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ContractCheckTests {
    private let contract = """
        $: object
        created: date-time
        id: integer
        note?: string | null
        owner: object | null
        owner.name: string
        ratio: number
        state: "closed" | "open"
        tags: array
        tags[]: string
        views: object
        views{}: integer
        """

    private func answer(_ change: (String, String)...) -> Data {
        let answer = """
            {"created":"2026-01-02T03:04:05Z","id":1,"note":null,"owner":{"name":"a"},"ratio":1,"state":"open",
            "tags":["x","y"],"views":{"a":1,"b":2}}
            """
        return Data(change.reduce(answer) { $0.replacingOccurrences(of: $1.0, with: $1.1) }.utf8)
    }

    @Test(
        "an answer within the contract has no difference",
        arguments: [
            ("", ""), ("\"note\":null,", ""), ("\"note\":null", "\"note\":\"x\""), ("{\"name\":\"a\"}", "null"),
            ("\"ratio\":1", "\"ratio\":1.5e3"), ("\"id\":1", "\"id\":1.0"), ("\"open\"", "\"closed\""),
            ("[\"x\",\"y\"]", "[]"), ("{\"a\":1,\"b\":2}", "{}"), ("\"open\"", "\"\\u006fpen\""),
            ("03:04:05Z", "03:04:05.123+01:00"), ("\"name\"", "\"\\u006eame\""),
        ])
    func kept(_ old: String, _ new: String) throws {
        #expect(try Contract(contract).differences(in: answer((old, new))) == [])
    }

    // RFC 3986 §3.1: a scheme begins with a letter; RFC 9562 §4: 8, 4, 4, 4 and 12 digits; RFC 3339 §5.6: a date exists;
    // RFC 5322 §3.2.3: an atom may have these characters.
    @Test(
        "a string that has not the format of the contract is a difference",
        arguments: [
            ("url", "https://a.example/", "words"), ("url", "urn:isbn:1", "1a:b"), ("url", "mailto:a@b.example", ":b"),
            ("url", "a:b", "a:"), ("url", "a:b", "a:b c"), ("email", "a@b.example", "@b.example"),
            ("email", "a@b.example", "a@b"), ("email", "a|{b}^`@b.example", "a b@b.example"),
            ("date", "2024-02-29", "2023-02-29"),
            ("uuid", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "f81d4fae-7dec-11d0-a765-00a0c91e6bfg"),
            ("date-time", "2024-02-29T00:00:00Z", "2024-02-29T00:00Z"),
        ])
    func formats(_ format: String, _ valid: String, _ other: String) throws {
        let contract = try Contract("$: \(format)")
        #expect(contract.differences(in: Data("\"\(valid)\"".utf8)) == [])
        #expect(contract.differences(in: Data("\"\(other)\"".utf8)).count == 1)
    }

    @Test(
        "a difference says key path, was and is",
        arguments: [
            ("\"id\":1", "\"id\":\"1\"", "id: was integer, is string"),
            ("\"id\":1", "\"id\":1.5", "id: was integer, is number"),
            ("\"id\":1", "\"id\":null", "id: was integer, is null"), ("\"id\":1,", "", "id: was integer, is no member"),
            ("\"id\":1", "\"id\":true", "id: was integer, is boolean"),
            ("\"id\":1", "\"id\":[1]", "id: was integer, is array"),
            ("\"id\":1", "\"id\":{}", "id: was integer, is object"),
            ("\"id\":1", "\"id\":1e2", "id: was integer, is number"),
            ("\"id\":1", "\"id\":1,\"new\":[]", "new: was no member, is array"),
            (
                "\"name\":\"a\"", "\"nick\":1",
                "owner.name: was string, is no member|owner.nick: was no member, is integer"
            ),
            ("\"open\"", "\"merged\"", "state: was \"closed\" | \"open\", is \"merged\""),
            ("2026-01-02T03:04:05Z", "2026-01-02", "created: was date-time, is date"),
            ("2026-01-02T03:04:05Z", "yesterday", "created: was date-time, is string"),
            ("[\"x\",\"y\"]", "[1,2,\"x\",3]", "tags[]: was string, is integer, in 3 places"),
            ("{\"a\":1,\"b\":2}", "{\"a\":\"1\",\"b\":\"2\"}", "views{}: was integer, is string, in 2 places"),
            ("\"id\":1", "\"id\":\"1\",\"id\":1", "id: was integer, is string"),
            ("\"id\":1", "\"id\":1,\"4711\":1,\"4712\":2", "{}: was no member, is integer, in 2 places"),
        ])
    func differences(_ old: String, _ new: String, _ text: String) throws {
        let differences = try Contract(contract).differences(in: answer((old, new)))
        #expect(differences.map(\.description).joined(separator: "|") == text)
    }

    @Test("an answer that is not JSON is one difference")
    func notJSON() throws {
        let contract = try Contract(contract)
        for text in ["", "<html>", "{\"id\":", String(repeating: "[", count: 10_000_000)] {
            #expect(contract.differences(in: Data(text.utf8)).map(\.description) == ["$: was object, is not JSON"])
        }
        #expect(contract.differences(in: Data("[]".utf8)).map(\.description) == ["$: was object, is array"])
    }

    @Test("a new value is masked as in logs")
    func masked() throws {
        let contract = try Contract(
            """
            $: object
            kind: "a" | "b"
            token: "a" | "b"
            secret: object
            secret.kind: "a" | "b"
            """)
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
        let answer = Data(#"{"kind":"\#(jwt)","token":"hunter2","secret":{"kind":"hunter3"}}"#.utf8)
        let tokens = Data(#"[{"token":"one"},{"token":"two"},{"token":"one"}]"#.utf8)
        let list = try Contract("$: array\n[]: object\n[].token: \"a\"\n").differences(in: tokens)
        #expect(list.map(\.count) == [3])
        let texts = contract.differences(in: answer).map(\.actual)
        #expect(texts == [Redaction.standard.mask, Redaction.standard.mask, Redaction.standard.mask])
        let long = Data(#"{"kind":"\#(String(repeating: "x", count: 5_000))","token":"a","secret":{"kind":"a"}}"#.utf8)
        let shown = try #require(contract.differences(in: long).first?.actual)
        #expect(shown.count < 100)
    }

    @Test("the differences are at most 1,000, and each is counted")
    func bounded() throws {
        let names = (0..<200_000).map { "\"name\($0)x\":1" }.joined(separator: ",")
        let contract = try Contract("$: object\nid: integer\n")
        let differences = contract.differences(in: Data("{\(names)}".utf8))
        #expect(differences.count == 501)
        #expect(differences.contains { $0.description == "id: was integer, is no member" })
        let values = (0..<200_000).map { "\"value\($0)\"" }.joined(separator: ",")
        let set = try Contract("$: array\n[]: \"a\" | \"b\"\n")
        #expect(set.differences(in: Data("[\(values)]".utf8)).count == 1_000)
        let elements = try Contract("$: array\n[]: integer\n")
        let many = Data(("[" + String(repeating: "\"x\",", count: 1_000_000) + "1]").utf8)
        #expect(elements.differences(in: many).map(\.count) == [1_000_000])
    }

    @Test("a difference in a long set of long strings has a short text")
    func longSet() throws {
        let long = String(repeating: "x", count: 100_000)
        let values = (0..<40).map { "\"\($0 + 10)\(long)\"" }.joined(separator: " | ")
        let contract = try Contract("$: array\n[]: \(values) | null\n")
        let answer = Data(("[" + (0..<1_000).map { "\"v\($0)\"" }.joined(separator: ",") + ",1]").utf8)
        let differences = contract.differences(in: answer)
        #expect(differences.count == 1_000)
        #expect(differences.allSatisfy { $0.expected.utf8.count < 2_000 && $0.expected.hasSuffix(" | …") })
        let short = try Contract("$: \"a\" | \"b\"\n")
        #expect(short.differences(in: Data("\"c\"".utf8)).map(\.expected) == [#""a" | "b""#])
    }

    @Test("a missing member is found among many objects without optional ones", arguments: [0, 999])
    func missingAmongOptional(_ index: Int) throws {
        let optional = (0..<300).map { "[].m\($0)?: integer\n" }.joined()
        let contract = try Contract("$: array\n[]: object\n[].id: integer\n\(optional)")
        var objects = Array(repeating: #"{"id":1}"#, count: 1_000)
        objects[index] = "{}"
        let differences = contract.differences(in: Data("[\(objects.joined(separator: ","))]".utf8))
        #expect(differences.map(\.description) == ["[].id: was integer, is no member"])
    }

    @Test("many objects that lack all members of a wide contract take linear time")
    func wide() throws {
        // A search of each object for each member would take 64 times as long for eight times as many of both.
        let growth = try growth(from: 1_000, to: 8_000) { count in
            let members = (0..<count).map { "[].m\($0): integer" }.joined(separator: "\n")
            let answer = Data(("[" + String(repeating: "{},", count: count) + "{}]").utf8)
            return (try Contract("$: array\n[]: object\n\(members)"), answer)
        } _: { contract, answer in
            #expect(contract.differences(in: answer).count == 1_000)
        }
        #expect(growth < 24)
    }

    @Test("nested arrays and objects are checked to the depth of JSON")
    func deep() throws {
        let contract = try Contract("$: object\na: @$\n")
        let deep = String(repeating: "{\"a\":", count: 510) + "1" + String(repeating: "}", count: 510)
        #expect(throws: NetworkError.self) { try Contract("$: @$") }
        #expect(contract.differences(in: Data(deep.utf8)).map(\.description) == ["$: was object, is integer"])
    }
}
