import Foundation
import Switchboard
import SwitchboardContracts
import SwitchboardTestSupport
import Testing

struct ContractReaderTests {
    @Test(
        "a line that breaks the grammar is an error with its number",
        arguments: [
            ("page: integer", "line 1: the line of $ must precede page"), ("$ object", "line 1: expected ':' after $"),
            ("$: object\n$: object", "line 2: $ has a line already"),
            ("$?: object", "line 1: only a member may be optional"),
            ("$: object\n[]: string", "line 2: $ is no array"), ("$: array\na: string", "line 2: $ is no object"),
            ("$: object\na.b: string", "line 2: the line of a must precede a.b"),
            ("$: object\na: strin", "line 2: strin is no type"),
            ("$: object\na: string string", "expected the end of the line"),
            ("$: object\na: string | string", "line 2: string is listed twice"),
            ("$: object\na: string | date", "line 2: string, formats and strings exclude each other"),
            ("$: object\na: any | null", "line 2: any and never have no alternatives"),
            ("$: object\na: \"x", "line 2: expected a JSON string"),
            ("$: object\n\"a: string", "line 2: expected a JSON string"),
            ("$: object\na:", "line 2: expected a type, found the end of the line"),
            ("$: object\na: @b", "line 2: @b refers to no line"), ("$: @a", "line 1: the top level cannot refer"),
            ("$: object\n\n# c\na b: string", "line 4: expected ':' after a"), ("", "has no line"),
            ("$: object\na: \"x\" | \"x\"", "line 2: a string is listed twice"),
            ("$: object\n.a: string", "expected a key path"),
            ("$: object\na[0]: string", "line 2: expected ':' after a"),
            ("$: object\nå: string", "expected a key path"),
        ])
    func faults(_ text: String, _ reason: String) {
        let error = #expect(throws: NetworkError.self) { try Contract(text) }
        #expect(error?.code == .contractFault)
        #expect(error?.reason?.contains(reason) == true, "\(error?.reason ?? "")")
    }

    @Test("each type, a reference and a quoted name are read and written again")
    func everything() throws {
        let text = """
            $: object | array | null
            []: date-time | date | uuid | url | email
            "": never
            "a.b \\"c\\"": number | boolean
            any: any
            array: array
            node: object
            node{}: integer
            node.children?: array
            node.children[]: @node
            values: "a\\u000ab" | "x # y" | null

            """
        #expect(try Contract(text).description == text)
    }

    @Test("a byte-order mark before the first line is skipped", arguments: ["", "# a comment\r\n"])
    func byteOrderMark(_ comment: String) throws {
        #expect(try Contract("\u{FEFF}\(comment)$: integer\r\n").description == "$: integer\n")
    }

    @Test("strings of a set are compared by their bytes")
    func exactStrings() throws {
        let (composed, decomposed) = ("\"caf\u{E9}\"", "\"cafe\u{301}\"")
        let contracts = [
            try Contract("$: \(composed) | \(decomposed)"),
            try Contract(schema: Data(#"{"enum":[\#(composed),\#(decomposed)]}"#.utf8)),
            try Contract(schema: Data(#"{"oneOf":[{"enum":[\#(composed)]},{"enum":[\#(decomposed)]}]}"#.utf8)),
        ]
        for contract in contracts {
            #expect(contract.differences(in: Data(composed.utf8)) == [])
            #expect(contract.differences(in: Data(decomposed.utf8)) == [])
        }
        #expect(try Contract("$: \(composed)").differences(in: Data(decomposed.utf8)).count == 1)
    }

    @Test("the lines of members may be in any order, and are written sorted")
    func order() throws {
        let text = "  $ : object\nb:string|null#c\na?: \"y\"|\"x\"\nb2: @a2\na2: object\na2.x: integer\n"
        #expect(throws: NetworkError.self) { try Contract(text) }
        let sorted = try Contract(text.replacingOccurrences(of: "  $ :", with: "$:"))
        #expect(
            sorted.description == """
                $: object
                a?: "x" | "y"
                a2: object
                a2.x: integer
                b: string | null
                b2: @a2

                """)
    }

    @Test("a value that contains itself is checked at every depth")
    func recursion() throws {
        let contract = try Contract("$: object\nname: string\nreplies: array\nreplies[]: @$\n")
        let nested = { (inner: String) in
            (0..<200).reduce(inner) { text, _ in #"{"name":"a","replies":[\#(text)]}"# }
        }
        #expect(contract.differences(in: Data(nested("").utf8)) == [])
        #expect(
            contract.differences(in: Data(nested(#"{"name":1}"#).utf8)).map(\.description) == [
                "name: was string, is integer", "replies: was array, is no member",
            ])
    }

    @Test("a key path has at most 512 steps")
    func steps() {
        let text = { (count: Int) in
            (0...count).map { $0 == 0 ? "$: array" : String(repeating: "[]", count: $0) + ": array" }
                .joined(separator: "\n")
        }
        #expect(throws: Never.self) { try Contract(text(512)) }
        #expect(failure { try Contract(text(513)) } == .contractFault)
    }

    @Test("hostile texts are errors without a long wait")
    func hostile() {
        let long = String(repeating: "a.", count: 500_000)
        #expect(failure { try Contract("$: object\n\(long)a: string") } == .contractFault)
        let many = (0..<120_000).map { "m\($0): string" }.joined(separator: "\n")
        #expect(failure { try Contract("$: object\n\(many)") } == .contractFault)
        let name = String(repeating: "n", count: 10_000)
        #expect(failure { try Contract("$: object\n\(name): string") } == .contractFault)
        let paths = (1...20).map { level in
            Array(repeating: String(repeating: "n", count: 4_000), count: level).joined(separator: ".") + ": object"
        }
        #expect(failure { try Contract((["$: object"] + paths).joined(separator: "\n")) } == .contractFault)
    }
}
