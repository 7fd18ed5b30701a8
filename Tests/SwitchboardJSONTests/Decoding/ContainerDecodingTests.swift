import Foundation
import SwitchboardJSON
import SwitchboardTestSupport
import Testing

/// Compares the results of containers with those of the containers of `JSONDecoder`.
struct ContainerDecodingTests {
    struct Name: CodingKey {
        let stringValue: String
        let intValue: Int?
        init(_ name: String) { (stringValue, intValue) = (name, nil) }
        init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
        init?(intValue: Int) { (stringValue, self.intValue) = (String(intValue), intValue) }
    }

    /// Runs a script on a decoder and stores its notes.
    struct Script: Decodable {
        let notes: [String]

        init(from decoder: any Decoder) throws {
            let run = decoder.userInfo[Script.key] as? @Sendable (any Decoder, inout [String]) throws -> Void
            var notes: [String] = []
            try run?(decoder, &notes)
            self.notes = notes
        }

        static var key: CodingUserInfoKey { CodingUserInfoKey(rawValue: "script").unsafelyUnwrapped }
    }

    /// Expects that both decoders produce the same notes, or errors of the same case at the same path.
    private func compare(
        _ text: String, _ script: @escaping @Sendable (any Decoder, inout [String]) throws -> Void,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let theirs = JSONDecoder()
        theirs.userInfo[Script.key] = script
        var ours = FastJSONDecoder()
        ours.userInfo[Script.key] = script
        let expected = Result { try theirs.decode(Script.self, from: Data(text.utf8)).notes }.mapError { summary($0) }
        let found = Result { try ours.decode(Script.self, from: Data(text.utf8)).notes }.mapError { summary($0) }
        #expect(found == expected, sourceLocation: location)
    }

    @Test("an unkeyed container counts elements and stays put after a failure")
    func unkeyed() throws {
        try compare("[1,null,\"a\",{\"b\":[true]},[2],4]") { decoder, notes in
            var array = try decoder.unkeyedContainer()
            notes.append("\(String(describing: array.count)) \(array.currentIndex) \(array.isAtEnd)")
            notes.append("\(try array.decodeNil()) \((try? array.decode(String.self)) as Any) \(array.currentIndex)")
            notes.append("\(try array.decode(Int.self)) \(try array.decodeNil()) \(array.currentIndex)")
            notes.append("\(try array.decodeIfPresent(String.self) as Any)")
            let nested = try array.nestedContainer(keyedBy: Name.self)
            notes.append("\(text(nested.codingPath)) \(nested.allKeys.map(\.stringValue))")
            let inner = try nested.nestedUnkeyedContainer(forKey: Name("b"))
            notes.append(text(inner.codingPath))
            notes.append("\(try array.superDecoder().unkeyedContainer().count as Any) \(array.currentIndex)")
            notes.append(
                "\(try array.decode(Double.self)) \(array.isAtEnd) \(try array.decodeIfPresent(Int.self) as Any)")
        }
    }

    @Test("reading beyond the end of an array fails at the next index")
    func beyondTheEnd() throws {
        try compare("[[1]]") { decoder, _ in
            var outer = try decoder.unkeyedContainer()
            var inner = try outer.nestedUnkeyedContainer()
            _ = try inner.decode(Int.self)
            _ = try inner.decode(Int.self)
        }
    }

    @Test("a keyed container finds members repeatedly and in any order")
    func keyed() throws {
        try compare(#"{"b":1,"a":2,"long name number one":3,"long name number two":4,"":5,"é":6,"super":7}"#) {
            decoder, notes in
            let object = try decoder.container(keyedBy: Name.self)
            for name in [
                "a", "b", "a", "", "super", "long name number two", "long name number one", "é", "b", "none", "a",
            ] {
                notes.append(
                    "\(name) \(object.contains(Name(name))) \((try? object.decode(Int.self, forKey: Name(name))) as Any)"
                )
                notes.append("\(try object.decodeIfPresent(Int.self, forKey: Name(name)) as Any)")
            }
            notes.append("\(object.allKeys.map(\.stringValue).sorted())")
            notes.append("\(try object.superDecoder().singleValueContainer().decode(Int.self))")
            notes.append("\(try object.superDecoder(forKey: Name("none")).singleValueContainer().decodeNil())")
        }
    }

    @Test("the super decoder of a missing member is null at the member's path")
    func missingSuper() throws {
        for document in [#"{"a":1}"#, #"[0, {"b": [{}]}]"#] {
            for wanted in 0..<5 {
                try compare(document) { decoder, notes in
                    var object = try? decoder.container(keyedBy: Name.self)
                    if object == nil {
                        var array = try decoder.unkeyedContainer()
                        _ = try array.decode(Int.self)
                        var inner = try array.nestedContainer(keyedBy: Name.self)
                            .nestedUnkeyedContainer(forKey: Name("b"))
                        object = try inner.nestedContainer(keyedBy: Name.self)
                    }
                    let parent = try #require(try object?.superDecoder())
                    let member = try #require(try object?.superDecoder(forKey: Name("none")))
                    let key = member.codingPath.last.map { "\(type(of: $0))" }
                    notes.append("\(text(parent.codingPath)) \(text(member.codingPath)) \(key as Any)")
                    notes.append("\(try member.singleValueContainer().decodeNil())")
                    switch wanted {
                    case 0: _ = try parent.singleValueContainer().decode(Int.self)
                    case 1: _ = try parent.container(keyedBy: Name.self)
                    case 2: _ = try member.unkeyedContainer()
                    case 3: _ = try member.singleValueContainer().decode([String].self)
                    default: _ = try member.singleValueContainer().decode(String.self)
                    }
                }
            }
        }
    }

    @Test("a null member is present, decodes as nil and fails as a value")
    func null() throws {
        try compare(#"{"a":null}"#) { decoder, notes in
            let object = try decoder.container(keyedBy: Name.self)
            notes.append("\(object.contains(Name("a"))) \(try object.decodeNil(forKey: Name("a")))")
            notes.append("\(try object.decodeIfPresent(Int.self, forKey: Name("a")) as Any)")
            _ = try object.decode(Int.self, forKey: Name("a"))
        }
    }

    @Test(
        "a wrong kind, a null and a missing member fail as in JSONDecoder",
        arguments: [
            "1", "\"a\"", "true", "null", "[]", "{}", "[{}]", #"{"a":[{"b":1}]}"#, #"{"a":[0,{"b":{"c":null}}]}"#,
        ])
    func failures(text: String) throws {
        func check<T: Decodable & Equatable>(_ type: T.Type) {
            let expected = Result { try JSONDecoder().decode(type, from: Data(text.utf8)) }.mapError { summary($0) }
            let found = Result { try FastJSONDecoder().decode(type, from: Data(text.utf8)) }.mapError { summary($0) }
            #expect(found == expected)
        }
        check(Int.self)
        check(String.self)
        check(Bool.self)
        check(Float.self)
        check(Date.self)
        check(Data.self)
        check([Int].self)
        check([String: Int].self)
        check([[String: Bool]].self)
        check([String: [[String: Int]]].self)
        check([Int: Int].self)
        check(Int?.self)
        check([Int?].self)
        check([[Bool]].self)
        check([[[String: Pair]]].self)
        check([Pair].self)
        check(Pair.self)
    }

    /// A value that is an array in the text.
    private struct Pair: Decodable, Equatable {
        let first: Int
        let others: [[Float]]

        init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            first = try values.decode(Int.self)
            others = try values.decode([[Float]].self)
        }
    }

    @Test(
        "a failure inside arrays of arrays has the path of its element",
        arguments: [
            "[[true,false],[true,1]]", "[[true],null]", "[[],[[]]]", "[[true],{}]", "[1,[[2.5]]]", "[1,[[2],[null]]]",
            "[[1,[[2,3]]],[4,[]]]", "[[1,[[2,\"3\"]]]]", "[[1,[[2]]],[4]]",
            "[[[{\"a\":[1,[[]]]}]],[[{\"a\":[1,[0]]}]]]",
        ])
    func nestedArrays(text: String) throws {
        try failures(text: text)
    }

    @Test("an array of over a megabyte is read, and fails at its element")
    func largeElements() throws {
        struct Wide: Codable, Equatable {
            var (a, b, c, d) = (0.5, 0.5, 0.5, 0.5)
            var (e, f, g, h) = ("e", "f", "g", "h")
        }
        var wide = Array(repeating: Wide(), count: (1 << 20) / MemoryLayout<Wide>.stride + 3)
        wide[wide.count - 2].a = 1
        wide[wide.count - 1].h = "last"
        let text = try JSONEncoder().encode(wide)
        #expect(try FastJSONDecoder().decode([Wide].self, from: text) == wide)
        let broken = String(decoding: text, as: UTF8.self).replacing("\"last\"", with: "0")
        let error = #expect(throws: DecodingError.self) {
            try FastJSONDecoder().decode([Wide].self, from: Data(broken.utf8))
        }
        #expect(error.map { summary($0).text } == "mismatch String [\(wide.count - 1)].h")
    }

    @Test("names that differ only in an escape are equal, and the first counts", arguments: [1, 7, 8, 9, 16, 20])
    func repeatedByEscape(length: Int) throws {
        let name = String("abcdefghijklmnopqrst".prefix(length))
        let escaped = "\\u0061" + name.dropFirst()
        for names in [[escaped, name], [name, escaped]] {
            let text = Data(#"{"x": 0, "\#(names[0])": 1, "\#(names[1])": 2}"#.utf8)
            let found = try FastJSONDecoder().decode([String: Int].self, from: text)
            #expect(found == ["x": 0, name: 1])
            #expect(try found == JSONDecoder().decode([String: Int].self, from: text))
        }
    }

    @Test("names that the key strategy makes equal count as repeated")
    func repeatedByStrategy() throws {
        struct Film: Decodable { let firstName: Int }
        var decoder = FastJSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        for text in [#"{"first_name": 1, "x": 0, "firstName": 2}"#, #"{"firstName": 1, "first_name": 2, "x": 0}"#] {
            #expect(try decoder.decode(Film.self, from: Data(text.utf8)).firstName == 1)
        }
    }

    @Test("the first of several members with one name counts", arguments: [2, 40, 700])
    func repeatedNames(count: Int) throws {
        let others = (0..<count).map { "\"n\($0)\":\($0)" }.joined(separator: ",")
        let text = "{\"a\":1,\(others),\"\\u0061\":2,\"b\":3,\"a\":4}"
        #expect(try FastJSONDecoder().decode([String: Int].self, from: Data(text.utf8))["a"] == 1)
        try compare(text) { decoder, notes in
            let object = try decoder.container(keyedBy: Name.self)
            for name in ["b", "a", "a", "n1", "a", "n0", "b", "none"] {
                notes.append("\(try object.decodeIfPresent(Int.self, forKey: Name(name)) as Any)")
            }
            notes.append("\(object.allKeys.count)")
        }
    }

    @Test("members of a large object are found in reverse order", arguments: [64, 65, 512, 513, 5_000])
    func largeObjects(count: Int) throws {
        let text = "{" + (0..<count).map { "\"name \($0)\":[\($0)]" }.joined(separator: ",") + "}"
        try compare(text) { decoder, notes in
            let object = try decoder.container(keyedBy: Name.self)
            for number in (-1...count).reversed() {
                notes.append("\(try object.decodeIfPresent([Int].self, forKey: Name("name \(number)")) as Any)")
            }
        }
    }

    @Test("members are found in any order of text and look-ups", arguments: seededCases(40))
    func orders(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let names = (0..<Int.random(in: 2...12, using: &random)).map { String(repeating: "n", count: $0 % 5) + "\($0)" }
        // Each object may lack or repeat members, and contains an object that is read while it is.
        let texts = (0..<20).map { number in
            let order = number % 3 == 0 ? names.shuffled(using: &random) : names
            let members = order.dropLast(number % 7 == 0 ? 1 : 0) + (number % 11 == 0 ? [names[0]] : [])
            return "{" + members.map { "\"\($0)\":[\(number),{\"n1\":1,\"0\":2}]" }.joined(separator: ",") + "}"
        }
        let lookups = (0..<3).map { _ in (names + ["none", names[0]]).shuffled(using: &random) }
        try compare("[\(texts.joined(separator: ","))]") { decoder, notes in
            var objects = try decoder.unkeyedContainer()
            while !objects.isAtEnd {
                let object = try objects.nestedContainer(keyedBy: Name.self)
                for name in lookups[objects.currentIndex % 5 == 0 ? 1 : objects.currentIndex / 8] {
                    guard object.contains(Name(name)) else { continue }
                    var values = try object.nestedUnkeyedContainer(forKey: Name(name))
                    notes.append("\(name) \(try values.decode(Int.self))")
                    let inner = try values.nestedContainer(keyedBy: Name.self)
                    if name.hasSuffix("1") { notes.append("\(try inner.decode(Int.self, forKey: Name("0")))") }
                }
            }
        }
    }

    @Test("names with equal beginnings and ends are distinguished", arguments: [20, 100, 500])
    func similarNames(count: Int) throws {
        let names = (0..<count).map { "beginning \($0 + 1_000) the very end" }
        let text = "{" + (names + [names[0]]).enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ",") + "}"
        try compare(text) { decoder, notes in
            let object = try decoder.container(keyedBy: Name.self)
            for name in names.reversed() + names + ["beginning 999 the very end"] {
                notes.append("\(try object.decodeIfPresent(Int.self, forKey: Name(name)) as Any)")
            }
            notes.append("\(object.allKeys.count)")
        }
    }

    @Test("allKeys has both Unicode forms of a name beside a repeated name")
    func formsInAllKeys() throws {
        struct Names: Decodable {
            let bytes: [[UInt8]]

            init(from decoder: any Decoder) throws {
                bytes = try decoder.container(keyedBy: Name.self).allKeys.map { Array($0.stringValue.utf8) }
            }
        }
        let text = "{\"\u{E9}\":1,\"e\u{301}\":2,\"a\":3,\"a\":4}"
        let names = try FastJSONDecoder().decode(Names.self, from: Data(text.utf8))
        #expect(names.bytes == [[0xC3, 0xA9], [0x65, 0xCC, 0x81], [0x61]])
    }

    @Test("names with escapes are found by their unescaped text")
    func escapedNames() throws {
        try compare(#"{"\u0061":1,"b\n":2,"\ud83d\ude00":3,"plain":4}"#) { decoder, notes in
            let object = try decoder.container(keyedBy: Name.self)
            for name in ["a", "b\n", "😀", "plain", "\\u0061"] {
                notes.append("\(try object.decodeIfPresent(Int.self, forKey: Name(name)) as Any)")
            }
            _ = try object.decode(Bool.self, forKey: Name("😀"))
        }
    }

    @Test("a stored decoder still reads after the decode has ended")
    func keptDecoder() throws {
        struct Keeper: Decodable {
            let decoder: any Decoder
            init(from decoder: any Decoder) { self.decoder = decoder }
        }
        let keepers = try FastJSONDecoder().decode([Keeper].self, from: Data(#"[{"a":[1,2]},{"a":[3]}]"#.utf8))
        let values = try keepers.map {
            try $0.decoder.container(keyedBy: Name.self).decode([Int].self, forKey: Name("a"))
        }
        #expect(values == [[1, 2], [3]])
        #expect(text(keepers[1].decoder.codingPath) == "[1]")
    }

    @Test("one decoder serves concurrent tasks")
    func concurrency() async throws {
        let decoder = FastJSONDecoder()
        let text = Data(("[" + (0..<500).map { "{\"a\":\($0),\"a\":0}" }.joined(separator: ",") + "]").utf8)
        let sums = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try decoder.decode([[String: Int]].self, from: text).reduce(0) { $0 + ($1["a"] ?? 0) }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sums == Array(repeating: 124_750, count: 8))
    }
}

/// Returns the steps of a path: names, and indices in brackets.
func text(_ path: [any CodingKey]) -> String {
    path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
}

/// The parts of an error that both decoders share: the case, the type and the path.
struct ErrorSummary: Error, Equatable {
    let text: String
}

func summary(_ error: any Error) -> ErrorSummary {
    switch error {
    case DecodingError.typeMismatch(let type, let context):
        ErrorSummary(text: "mismatch \(type) \(text(context.codingPath))")
    case DecodingError.valueNotFound(let type, let context):
        ErrorSummary(text: "no value \(type) \(text(context.codingPath))")
    case DecodingError.keyNotFound(let key, let context):
        ErrorSummary(text: "no key \(key.stringValue) \(text(context.codingPath))")
    // Foundation's error has no path for numbers that do not fit.
    case DecodingError.dataCorrupted: ErrorSummary(text: "corrupted")
    default: ErrorSummary(text: "\(error)")
    }
}
