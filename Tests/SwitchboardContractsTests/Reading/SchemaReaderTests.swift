import Foundation
import Switchboard
import SwitchboardContracts
import SwitchboardTestSupport
import Testing

struct SchemaReaderTests {
    private func lines(_ schema: String, at pointer: String = "#") throws -> [String] {
        try Contract(schema: Data(schema.utf8), at: pointer).description.split(separator: "\n").map(String.init)
    }

    @Test("an object schema has its properties, and others only if allowed")
    func object() throws {
        let schema = { (more: String) in
            ##"""
            {"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Film","type":"object",
             "properties":{"id":{"type":"integer"},"title":{"type":["string","null"]},
              "tags":{"type":"array","items":{"type":"string"}},"released":{"type":"string","format":"date"},
              "home":{"type":"string","format":"uri"},"state":{"enum":["open","closed",null]},"kind":{"const":"film"}},
             "required":["id","title"]\##(more)}
            """##
        }
        let members = [
            "home?: url", "id: integer", #"kind?: "film""#, "released?: date", #"state?: "closed" | "open" | null"#,
            "tags?: array", "tags[]: string", "title: string | null",
        ]
        #expect(try lines(schema("")) == ["$: object", "{}: any"] + members)
        #expect(try lines(schema(#","additionalProperties":false"#)) == ["$: object"] + members)
        #expect(
            try lines(schema(#","additionalProperties":{"type":"number"}"#)) == ["$: object", "{}: number"] + members)
    }

    @Test(
        "the common forms of a nullable value are read",
        arguments: [
            ##"{"type":["string","null"]}"##, ##"{"oneOf":[{"type":"string"},{"type":"null"}]}"##,
            ##"{"anyOf":[{"type":"null"},{"type":"string"}]}"##, ##"{"type":"string","nullable":true}"##,
            ##"{"allOf":[{"$ref":"#/$defs/text"}],"nullable":true,"$defs":{"text":{"type":"string"}}}"##,
            ##"{"oneOf":[{"$ref":"#/definitions/a~1b"},{"type":"null"}],"definitions":{"a/b":{"type":"string"}}}"##,
            ##"{"anyOf":[{"type":["string","null"]},{"type":["null"]}]}"##,
            // RFC 6901 §6: a fragment is percent-decoded before it is a pointer.
            ##"{"oneOf":[{"$ref":"#/%24defs%2Ftext"},{"type":"null"}],"$defs":{"text":{"type":"string"}}}"##,
            ##"{"anyOf":[{"type":"null"},{"$ref":"#/anyOf/2"},{"type":"string"}]}"##,
        ])
    func nullable(_ schema: String) throws {
        #expect(try lines(schema) == ["$: string | null"])
    }

    @Test("allOf combines members, and alternatives make members optional")
    func combinations() throws {
        let base = ##"{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}"##
        let film = ##"{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}"##
        #expect(
            try lines(##"{"allOf":[\##(base),\##(film)]}"##) == [
                "$: object", "{}: any", "id: integer", "title: string",
            ])
        #expect(
            try lines(##"{"allOf":[\##(base),{"properties":{"id":{"minimum":1}},"required":["name"]}]}"##)
                == ["$: object", "{}: any", "id: integer", "name: any"])
        let either = try Contract(schema: Data(##"{"oneOf":[\##(base),\##(film),{"type":"string"}]}"##.utf8))
        #expect(either.description == "$: object | string\n{}: any\nid?: integer\ntitle?: string\n")
        #expect(either.ignoredKeywords == ["#/oneOf"])
    }

    // OAS 3.0.3: "If the property is marked as writeOnly being true and is in the required list, the required will take
    // effect on the request only."
    @Test(
        "a required member is optional if only requests have it",
        arguments: [
            ##"{"type":"object","required":["name","password"],"properties":\##(members)}"##,
            ##"{"allOf":[{"properties":\##(members)},{"required":["password","name"]}]}"##,
            ##"{"allOf":[{"required":["name","password"]},{"properties":\##(members)}]}"##,
        ])
    func writeOnly(_ schema: String) throws {
        #expect(try lines(schema) == ["$: object", "{}: any", "name: string", "password?: string"])
        let contract = try Contract(schema: Data(schema.utf8))
        #expect(contract.differences(in: Data(#"{"name":"a"}"#.utf8)) == [])
    }

    // JSON Schema Validation §9.4: of several values of `writeOnly`, one that is true applies.
    @Test(
        "a required member is optional if a referenced schema is writeOnly",
        arguments: [
            ##"{"$ref":"#/$defs/secret"}"##, ##"{"allOf":[{"$ref":"#/$defs/secret"}],"nullable":true}"##,
            ##"{"allOf":[{"type":"string"},{"writeOnly":true}]}"##,
            ##"{"type":"string","writeOnly":true,"nullable":true}"##,
        ])
    func writeOnlyElsewhere(_ member: String) throws {
        let schema = ##"""
            {"type":"object","required":["id","password"],"properties":{"id":{"type":"integer"},"password":\##(member)},
            "$defs":{"secret":{"type":"string","writeOnly":true}}}
            """##
        let contract = try Contract(schema: Data(schema.utf8))
        #expect(contract.differences(in: Data(#"{"id":1}"#.utf8)) == [])
        #expect(contract.ignoredKeywords == [])
    }

    private static let members =
        ##"{"name":{"type":"string","writeOnly":false},"password":{"type":"string","writeOnly":true}}"##

    @Test("a schema that contains itself refers to itself")
    func recursion() throws {
        let schema = ##"""
            {"$ref":"#/$defs/node","$defs":{"node":{"type":"object","additionalProperties":false,"properties":{
            "name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/node"}},
            "parent":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}}}}}
            """##
        #expect(
            try lines(schema) == [
                "$: object", "children?: array", "children[]: @$", "name?: string", "parent?: object | null",
                "parent.children?: array", "parent.children[]: @$", "parent.name?: string", "parent.parent?: @parent",
            ])
    }

    @Test("a component of an OpenAPI document is read by its pointer")
    func openAPI() throws {
        let document = ##"""
            {"openapi":"3.0.3","components":{"schemas":{
            "Owner":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false},
            "Repo":{"type":"object","additionalProperties":false,"required":["owner","stars"],"properties":{
              "owner":{"$ref":"#/components/schemas/Owner"},"creator":{"$ref":"#/components/schemas/Owner"},
              "stars":{"type":"integer","format":"int64","minimum":0,"example":1}}}}}}
            """##
        #expect(
            try lines(document, at: "#/components/schemas/Repo") == [
                "$: object", "creator?: object", "creator.name: string", "owner: object", "owner.name: string",
                "stars: integer",
            ])
        let contract = try Contract(schema: Data(document.utf8), at: "#/components/schemas/Repo")
        #expect(
            contract.ignoredKeywords == [
                "#/components/schemas/Repo/properties/stars/format",
                "#/components/schemas/Repo/properties/stars/minimum",
            ])
        #expect(failure { try lines(document, at: "#/components/schemas/None") } == .contractFault)
    }

    @Test(
        "a keyword that a contract cannot have is listed, others are read",
        arguments: [
            (##"{"type":"string","pattern":"a+"}"##, "$: string", "#/pattern"),
            (##"{"type":"integer","enum":[1,2]}"##, "$: integer", "#/enum"),
            (##"{"const":true}"##, "$: boolean", "#/const"),
            (##"{"type":"string","format":"ipv4"}"##, "$: string", "#/format"),
            (
                ##"{"type":"object","patternProperties":{"^x":{}},"additionalProperties":false}"##, "$: object",
                "#/patternProperties"
            ),
            (##"{"type":"array","prefixItems":[{"type":"string"}]}"##, "$: array", "#/prefixItems"),
            (##"{"type":"array","items":[{"type":"string"}]}"##, "$: array", "#/items"),
            (##"{"not":{"type":"null"}}"##, "$: any", "#/not"),
            (##"{"type":"string","x-order":1,"unknown":2}"##, "$: string", "#/unknown"),
            (##"{"type":"null","if":{}}"##, "$: null", "#/if"),
        ])
    func ignored(_ schema: String, _ text: String, _ pointer: String) throws {
        let contract = try Contract(schema: Data(schema.utf8))
        #expect(contract.description == text + "\n")
        #expect(contract.ignoredKeywords == [pointer])
    }

    @Test("items after prefixItems says nothing about all elements", arguments: ["false", ##"{"type":"integer"}"##])
    func itemsOfTuple(_ items: String) throws {
        let schema = ##"{"type":"array","prefixItems":[{"type":"string"}],"items":\##(items)}"##
        let contract = try Contract(schema: Data(schema.utf8))
        #expect(contract.differences(in: Data(#"["a"]"#.utf8)) == [])
        #expect(contract.ignoredKeywords == ["#/items", "#/prefixItems"])
    }

    @Test("a place in a document needs a number sign", arguments: ["", "/a", "x/a", "./a"])
    func places(pointer: String) {
        let error = #expect(throws: NetworkError.self) { try Contract(schema: Data(#"{"a":{}}"#.utf8), at: pointer) }
        #expect(error?.code == .contractFault)
    }

    @Test(
        "a schema that cannot be read is an error with the pointer of the fault",
        arguments: [
            ("[]", "expected a schema"), ("{", "not JSON"), (##"{"type":"text"}"##, "#/type: a type is"),
            (##"{"$ref":"film.json"}"##, "#/$ref: only references to the same document"),
            (##"{"$ref":"#"}"##, "#/$ref refers to itself"),
            (
                ##"{"properties":{"owner":{"$ref":"#p"}},"$defs":{"x":{"$anchor":"p","type":"string"}}}"##,
                "#p is a name"
            ),
            (##"{"items":{"$ref":"#/$defs/a"}}"##, "#/$defs/a is not in the document"),
            // RFC 6901 §4: a name has the same bytes.
            (
                ##"{"allOf":[{"$ref":"#/$defs/\##u{E9}"},{"$ref":"#/$defs/e\##u{301}"}],"$defs":{"\##u{E9}":{}}}"##,
                "is not in the document"
            ),
            // RFC 6901 §4: an index is 0, or digits without a leading zero.
            (##"{"anyOf":[{"type":"string"},{"$ref":"#/anyOf/00"}]}"##, "#/anyOf/00 is not in the document"),
            (##"{"anyOf":[{"type":"string"},{"$ref":"#/anyOf/+0"}]}"##, "#/anyOf/+0 is not in the document"),
            (##"{"items":{"$ref":"#/$defs/a%7E1b"},"$defs":{"a":{"b":{}}}}"##, "#/$defs/a%7E1b is not in the document"),
            (##"{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"}]}}}"##, "refers to itself"),
            (##"{"properties":[]}"##, "#/properties: the value of this keyword has another type"),
            (##"{"anyOf":{}}"##, "#/anyOf: expected a list of schemas"),
            (##"{"properties":{"a/b":1}}"##, "#/properties/a~1b: expected a schema"),
            (##"{"enum":1}"##, "#/enum: the value"),
        ])
    func faults(_ schema: String, _ reason: String) {
        let error = #expect(throws: NetworkError.self) { try Contract(schema: Data(schema.utf8)) }
        #expect(error?.code == .contractFault)
        #expect(error?.reason?.contains(reason) == true, "\(error?.reason ?? "")")
    }

    @Test("a contract is not made of a schema at a name")
    func anchor() {
        let schema = ##"{"$defs":{"x":{"$anchor":"p","type":"string"}}}"##
        let error = #expect(throws: NetworkError.self) { try Contract(schema: Data(schema.utf8), at: "#p") }
        #expect(error?.code == .contractFault)
    }

    @Test("hostile schemas are errors, or contracts of bounded size")
    func hostile() throws {
        let bomb = (0..<40).map {
            ##""d\##($0)":{"properties":{"a":{"$ref":"#/$defs/d\##($0 + 1)"},"b":{"$ref":"#/$defs/d\##($0 + 1)"}}}"##
        }
        let schema = ##"{"$ref":"#/$defs/d0","$defs":{\##(bomb.joined(separator: ",")),"d40":{"type":"string"}}}"##
        #expect(try lines(schema).count < 100_000)
        let choices = (0..<20).map { _ in ##"{"anyOf":[{"type":"string"},{"type":"null"},{"type":"object"}]}"## }
        #expect(failure { try lines(##"{"allOf":[\##(choices.joined(separator: ","))]}"##) } == .contractFault)
        let chain = (0..<5_000).map { ##""d\##($0)":{"$ref":"#/$defs/d\##($0 + 1)"}"## }.joined(separator: ",")
        #expect(failure { try lines(##"{"$ref":"#/$defs/d0","$defs":{\##(chain)}}"##) } == .contractFault)
        let deep = (0..<250).reduce("{}") { text, _ in ##"{"items":\##(text)}"## }
        #expect(failure { try lines(deep) } == .contractFault)
        let links = (0..<2_000).map { ##""d\##($0)":{"items":{"$ref":"#/$defs/d\##($0 + 1)"}}"## }.joined(
            separator: ",")
        #expect(failure { try lines(##"{"$ref":"#/$defs/d0","$defs":{\##(links),"d2000":{}}}"##) } == .contractFault)
    }

    @Test(
        "schemas of 64 levels are read, and deeper ones are errors",
        arguments: [
            (##"{"items":"##, "}"), (##"{"additionalProperties":"##, "}"), (##"{"properties":{"a":"##, "}}"),
            (##"{"allOf":["##, "]}"),
        ])
    func levels(_ start: String, _ end: String) throws {
        let schema = { (levels: Int) in (0..<levels).reduce("{}") { text, _ in start + text + end } }
        #expect(throws: Never.self) { try lines(schema(64)) }
        #expect(failure { try lines(schema(65)) } == .contractFault)
        // The levels below a reference count from it.
        let referring = { (levels: Int) in ##"{"$ref":"#/$defs/a","$defs":{"a":\##(schema(levels))}}"## }
        #expect(throws: Never.self) { try lines(referring(64)) }
        #expect(failure { try lines(referring(65)) } == .contractFault)
    }

    @Test("a schema that does not fit the stack of its thread is an error", arguments: [true, false])
    func smallStack(isNested: Bool) async {
        let links = (0..<90).map { ##""d\##($0)":{"allOf":[{"$ref":"#/$defs/d\##($0 + 1)"}]}"## }.joined(separator: ",")
        let schema =
            isNested
            ? (0..<64).reduce("{}") { text, _ in ##"{"items":\##(text)}"## }
            : ##"{"$ref":"#/$defs/d0","$defs":{\##(links),"d90":{}}}"##
        #expect(throws: Never.self) { try Contract(schema: Data(schema.utf8)) }
        // Optimized code needs less of it.
        for size in [96, 64, 48, 32, 24] {
            let result = await onThread(stack: size << 10) { try Contract(schema: Data(schema.utf8)).description }
            guard case .failure(let failure) = result else { continue }
            let error = failure as? NetworkError
            return #expect(error?.code == .contractFault && error?.reason?.contains("stack") == true)
        }
        Issue.record("no stack is too small")
    }

    @Test("a set of strings may have null, and 1,000 ignored keywords are listed")
    func ignoredCount() throws {
        #expect(try Contract(schema: Data(##"{"enum":["a",null]}"##.utf8)).ignoredKeywords == [])
        let unknown = (0..<1_001).map { "\"k\($0)\":1" }.joined(separator: ",")
        #expect(try Contract(schema: Data("{\(unknown)}".utf8)).ignoredKeywords.count == 1_000)
    }

    @Test("a short schema that combines alternatives without end is an error")
    func repeatedWork() {
        // Any two of these alternatives together are one of them again.
        let chain = (0..<40).map { last in
            ##"{"allOf":[\##((0...last).map { ##"{"$ref":"#/$defs/l\##($0)"}"## }.joined(separator: ","))]}"##
        }
        let leaves = (0..<40).map { ##""l\##($0)":{"type":"object","properties":{"m\##($0)":{}}}"## }
        let definitions =
            ##""$defs":{"x":{"anyOf":[\##(chain.joined(separator: ","))]},\##(leaves.joined(separator: ","))}"##
        let x = ##"{"$ref":"#/$defs/x"}"##
        let many = Array(repeating: x, count: 5_000).joined(separator: ",")
        #expect(failure { try lines(##"{"allOf":[\##(many)],\##(definitions)}"##) } == .contractFault)
        #expect(failure { try lines(##"{"anyOf":[\##(many)],\##(definitions)}"##) } == .contractFault)
        let members = (0..<5_000).map { ##""p\##($0)":{"anyOf":[\##(x),{"type":"null"}]}"## }.joined(separator: ",")
        #expect(failure { try lines(##"{"properties":{\##(members)},\##(definitions)}"##) } == .contractFault)
        let numbers = Array(repeating: "1", count: 50_000).joined(separator: ",")
        // Each pointer is a different text for the same schema.
        let pointers = (0..<200).map { bits in
            "enumerated".unicodeScalars.enumerated().map {
                bits >> $0 & 1 == 1 ? "%\(String($1.value, radix: 16))" : "\($1)"
            }.joined()
        }
        let references = pointers.map { ##"{"$ref":"#/$defs/\##($0)"}"## }.joined(separator: ",")
        let spelled = ##"{"allOf":[\##(references)],"$defs":{"enumerated":{"enum":[\##(numbers)]}}}"##
        #expect(failure { try lines(spelled) } == .contractFault)
    }

    @Test("a short schema whose contract would be a long text is an error")
    func longText() throws {
        let name = String(repeating: "n", count: 4_000)
        let levels = (0..<12).map { ##""d\##($0)":{"properties":{"\##(name)":{"$ref":"#/$defs/d\##($0 + 1)"}}}"## }
        let references = { (count: Int) in
            let members = (0..<count).map { ##""m\##($0)":{"$ref":"#/$defs/d11"}"## }.joined(separator: ",")
            return
                ##"{"$ref":"#/$defs/d0","$defs":{\##(levels.joined(separator: ",")),"d12":{"properties":{\##(members)}}}}"##
        }
        #expect(try lines(references(2)).last?.utf8.count ?? 0 > 80_000)
        #expect(failure { try lines(references(1_000)) } == .contractFault)
        let strings = (0..<1_000).map { "\"string\($0)\"" }.joined(separator: ",")
        let members = (0..<1_000).map { ##""m\##($0)":{"$ref":"#/$defs/set"}"## }.joined(separator: ",")
        let sets = ##"{"properties":{\##(members)},"$defs":{"set":{"enum":[\##(strings)]}}}"##
        #expect(failure { try lines(sets) } == .contractFault)
        #expect(failure { try lines(##"{"anyOf":[{"enum":[\##(strings)]},{"enum":["more"]}]}"##) } == .contractFault)
    }

    @Test("the deepest schema and most references fit on a small stack")
    func smallStack() async throws {
        let deep = (0..<62).reduce(##"{"type":"string"}"##) { text, level in
            level % 2 == 0
                ? ##"{"allOf":[\##(text),{"type":["string","null"]}]}"## : ##"{"anyOf":[{"type":"null"},\##(text)]}"##
        }
        let chain = (0..<180).map { ##""d\##($0)":{"$ref":"#/$defs/d\##($0 + 1)"}"## }.joined(separator: ",")
        let texts = await onThread {
            try [deep, ##"{"$ref":"#/$defs/d0","$defs":{\##(chain),"d180":{}}}"##].map {
                try Contract(schema: Data($0.utf8)).description
            }
        }
        #expect(try texts.get() == ["$: string | null\n", "$: any\n"])
    }

    // RFC 8259 §8.3: names are compared by code units.
    @Test("properties and required names are compared by their bytes")
    func exactNames() throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let properties = ##"{"\##(composed)":{"type":"string"},"\##(decomposed)":{"type":"integer"}}"##
        let both = try Contract(schema: Data(##"{"properties":\##(properties)}"##.utf8))
        #expect(both.differences(in: Data(#"{"\#(composed)":"a","\#(decomposed)":1}"#.utf8)) == [])
        #expect(both.differences(in: Data(#"{"\#(composed)":1,"\#(decomposed)":"a"}"#.utf8)).count == 2)
        let other = ##"{"properties":\##(properties),"required":["\##(decomposed)"]}"##
        let required = try Contract(schema: Data(other.utf8))
        #expect(required.differences(in: Data(#"{"\#(composed)":"a"}"#.utf8)).map(\.kind) == [.missingMember])
    }

    @Test("600 types that contain each other are a contract", arguments: [(200, 20), (600, 30)])
    func manyTypes(_ count: Int, _ members: Int) throws {
        let types = (0..<count).map { type in
            let members = (0..<members).map { member in
                ##""m\##(member)":{"$ref":"#/$defs/t\##((type * 7 + member * 3 + 1) % count)"}"##
            }
            return ##""t\##(type)":{"properties":{\##(members.joined(separator: ","))},"additionalProperties":false}"##
        }
        let schema = ##"{"$ref":"#/$defs/t0","$defs":{\##(types.joined(separator: ","))}}"##
        let contract = try Contract(schema: Data(schema.utf8))
        let answer = #"{"m0":{"m1":{"m2":{"m3":{"m4":{"m5":{"unknown":1}}}}}}}"#
        #expect(contract.differences(in: Data(answer.utf8)).map(\.kind) == [.unknownMember])
    }

    @Test("a difference has the name of its member, also if many members have its type")
    func sharedType() throws {
        let members = (0..<1_200).map { ##""m\##($0)":{"$ref":"#/$defs/text"}"## }.joined(separator: ",")
        let schema = ##"{"properties":{\##(members)},"$defs":{"text":{"type":"string"}}}"##
        let contract = try Contract(schema: Data(schema.utf8))
        let answer = Data(#"{"m998":1,"m999":2}"#.utf8)
        #expect(contract.differences(in: answer).map(\.path) == ["m998", "m999"])
    }

    // OpenAPI 3.1 documents describe each word of a set in this form.
    @Test("a set of 249 words may be a list of alternatives")
    func describedWords() throws {
        let words = (0..<249).map { ##"{"const":"w\##($0)","title":"The word \##($0)"}"## }.joined(separator: ",")
        let contract = try Contract(schema: Data(##"{"oneOf":[\##(words)]}"##.utf8))
        #expect(contract.differences(in: Data("\"w248\"".utf8)) == [])
        #expect(contract.differences(in: Data("\"w249\"".utf8)).map(\.kind) == [.value])
    }

    @Test("a required member without a property is like the additional ones")
    func requiredOnly() throws {
        let schema = { (others: String) in
            ##"{"type":"object","required":["a"],"additionalProperties":\##(others)}"##
        }
        #expect(try lines(schema(##"{"type":"number"}"##)) == ["$: object", "{}: number", "a: number"])
        #expect(try lines(schema("false")) == ["$: object", "a: never"])
    }

    @Test("a required member may have its property in another part of allOf")
    func requiredElsewhere() throws {
        let schema = { (part: String) in
            ##"{"type":"object","additionalProperties":false,"required":["id"],"allOf":[\##(part)]}"##
        }
        let described = schema(##"{"properties":{"id":{"type":"string"}}}"##)
        #expect(try lines(described) == ["$: object", "id: string"])
        #expect(try Contract(schema: Data(described.utf8)).differences(in: Data(#"{"id":"a"}"#.utf8)) == [])
        #expect(try lines(schema(##"{"properties":{"b":{}}}"##)) == ["$: object", "b?: any", "id: never"])
    }

    @Test("a file that ends with .json is a schema")
    func file() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("film.json")
            try Data(##"{"type":"integer"}"##.utf8).write(to: file)
            #expect(try Contract(contentsOf: file).description == "$: integer\n")
            try Data(##"{"type":"whole"}"##.utf8).write(to: file)
            let error = #expect(throws: NetworkError.self) { try Contract(contentsOf: file) }
            #expect(error?.reason?.contains("film.json: ") == true)
        }
    }
}
