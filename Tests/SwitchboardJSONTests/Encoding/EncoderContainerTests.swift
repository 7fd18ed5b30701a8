import Foundation
import SwitchboardJSON
import SwitchboardTestSupport
import Testing

/// Uses containers in every order that Swift allows. The texts equal those of the core's `JSONBody` or of Foundation.
struct EncoderContainerTests {
    @Test("nested containers and super encoders are written where requested")
    func child() throws {
        let expected =
            #"{"name":"n","numbers":[1,null,{"nested":true},["x","y"],{"id":1}],"nested":{"nothing":null},"#
            + #""super":{"id":1},"parent":{"id":1}}"#
        #expect(try fastText(Child()) == expected)
        let sorted = try fastText(["child": [Child()]]) {
            $0.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        }
        #expect(try sorted == foundationText(["child": [Child()]]))
        let pretty = try fastText([Child()]) { $0.outputFormatting = [.sortedKeys, .prettyPrinted] }
        #expect(try pretty == foundationText([Child()]) { $0.outputFormatting = [.sortedKeys, .prettyPrinted] })
    }

    @Test("interleaved containers keep their members in order")
    func interleaved() throws {
        let value = Encoding { encoder in
            var outer = encoder.container(keyedBy: AnyKey.self)
            var list = outer.nestedUnkeyedContainer(forKey: AnyKey("list"))
            var object = outer.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("object"))
            let parent = outer.superEncoder()
            for index in 0..<3 {
                try list.encode(index)
                try object.encode([index], forKey: AnyKey("k\(index)"))
                try outer.encode("v", forKey: AnyKey("o\(index)"))
                var inner = list.nestedUnkeyedContainer()
                try object.encode(["a": index], forKey: AnyKey("d\(index)"))
                try inner.encode("late")
            }
            #expect(list.count == 6)
            var last = parent.singleValueContainer()
            try last.encode("end")
        }
        let expected =
            #"{"list":[0,["late"],1,["late"],2,["late"]],"#
            + #""object":{"k0":[0],"d0":{"a":0},"k1":[1],"d1":{"a":1},"k2":[2],"d2":{"a":2}},"super":"end","#
            + #""o0":"v","o1":"v","o2":"v"}"#
        #expect(try fastText(value) == expected)
        #expect(try fastText([value, value]) == "[\(expected),\(expected)]")
    }

    @Test("an error in a nested container has its index, also if more follow")
    func interleavedPath() {
        let value = Encoding { encoder in
            var list = encoder.unkeyedContainer()
            try list.encode(0)
            var inner = list.nestedUnkeyedContainer()
            try list.encode(2)
            try inner.encode(Double.nan)
        }
        let error = #expect(throws: EncodingError.self) { try fastText(value) }
        if case .invalidValue(_, let context)? = error { #expect(context.codingPath.map(\.intValue) == [1, 0]) }
    }

    @Test("encodeIfPresent with nil keeps the earlier value of its key")
    func nilAfterValue() throws {
        let value = Encoding { encoder in
            var object = encoder.container(keyedBy: AnyKey.self)
            try object.encode("x", forKey: AnyKey("a"))
            try object.encodeIfPresent(nil as String?, forKey: AnyKey("a"))
            try object.encode([1], forKey: AnyKey("b"))
            try object.encodeIfPresent(nil as [Int]?, forKey: AnyKey("b"))
            try object.encode(1, forKey: AnyKey("c"))
            try object.encodeIfPresent(nil as Double?, forKey: AnyKey("c"))
            try object.encode(2, forKey: AnyKey("c"))
            try object.encode(1, forKey: AnyKey("d"))
            try object.encode(nil as Int?, forKey: AnyKey("d"))
        }
        #expect(try fastText(value) == #"{"a":"x","b":[1],"c":2,"d":null}"#)
        #expect(try foundationText(value) { $0.outputFormatting = .sortedKeys } == fastText(value))
    }

    @Test("containers of one encoder share one object or array")
    func sharedObject() throws {
        let value = Encoding { encoder in
            var first = encoder.container(keyedBy: AnyKey.self)
            try first.encode(1, forKey: AnyKey("a"))
            var second = encoder.container(keyedBy: AnyKey.self)
            try second.encode(2, forKey: AnyKey("b"))
            try first.encode(3, forKey: AnyKey("c"))
            try ["d": 4].encode(to: encoder)
        }
        #expect(try fastText(value) == #"{"a":1,"b":2,"c":3,"d":4}"#)
        let list = Encoding { encoder in
            var first = encoder.unkeyedContainer()
            try first.encode(1)
            var second = encoder.unkeyedContainer()
            try second.encode(2)
            #expect(first.count == 2)
        }
        #expect(try fastText(list) == foundationText(list))
    }

    @Test("a nested container requested twice is one container, as in Foundation")
    func nestedTwice() throws {
        let value = Encoding { encoder in
            var outer = encoder.container(keyedBy: AnyKey.self)
            var one = outer.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("a"))
            try one.encode(1, forKey: AnyKey("x"))
            try outer.encode(0, forKey: AnyKey("b"))
            var two = outer.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("a"))
            try two.encode(2, forKey: AnyKey("y"))
            var list = outer.nestedUnkeyedContainer(forKey: AnyKey("c"))
            try list.encode(1)
            var same = outer.nestedUnkeyedContainer(forKey: AnyKey("c"))
            try same.encode(2)
        }
        #expect(try fastText(value) == #"{"a":{"x":1,"y":2},"b":0,"c":[1,2]}"#)
        #expect(try fastText(value) == foundationText(value))
    }

    private struct Film: Encodable {
        var id = 7, tags = ["x": [1], "\"": []], note: String?, parts = [Child()]
        /// Writes a member of a nested container after a member of the object, so that its text moves.
        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: AnyKey.self)
            var late = object.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("late"))
            try object.encode(id, forKey: AnyKey("id"))
            try late.encode(id, forKey: AnyKey("x"))
            try object.encode(tags, forKey: AnyKey("tags"))
            try object.encode(parts, forKey: AnyKey("parts"))
        }
    }

    private struct Mixed: Encodable {
        func encode(to encoder: any Encoder) throws {
            var array = encoder.unkeyedContainer()
            var late = array.nestedUnkeyedContainer()
            try array.encode([1, 2])
            try late.encode("a,]\"")
            var last = array.nestedContainer(keyedBy: AnyKey.self)
            try late.encode("b")
            try last.encode(Film(), forKey: AnyKey("film"))
        }
    }

    private struct Nothing: Encodable {}

    @Test("a nested container continues a value of its key, as in Foundation", arguments: [false, true])
    func continued(isPretty: Bool) throws {
        let value = Encoding { encoder in
            var outer = encoder.container(keyedBy: AnyKey.self)
            try outer.encode(Film(), forKey: AnyKey("a"))
            try outer.encode([1, 2], forKey: AnyKey("list"))
            try outer.encode(Mixed(), forKey: AnyKey("mixed"))
            try outer.encode(Nothing(), forKey: AnyKey("empty"))
            try outer.encode([Int](), forKey: AnyKey("none"))
            try outer.encode(["k": 1], forKey: AnyKey("map"))
            for number in 0..<70 { try outer.encode(number, forKey: AnyKey("n\(number)")) }
            for round in 0..<3 {
                var film = outer.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("a"))
                try film.encode(round, forKey: AnyKey("round\(round)"))
                try film.encode(8, forKey: AnyKey("id"))
                var tags = film.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("tags"))
                try tags.encode(round, forKey: AnyKey("t\(round)"))
                var list = outer.nestedUnkeyedContainer(forKey: AnyKey("list"))
                try list.encode(round)
                #expect(list.count == 3 + round)
                var mixed = outer.nestedUnkeyedContainer(forKey: AnyKey("mixed"))
                try mixed.encode(round)
                #expect(mixed.count == 4 + round)
                var empty = outer.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("empty"))
                try empty.encode(round, forKey: AnyKey("e\(round)"))
                var none = outer.nestedUnkeyedContainer(forKey: AnyKey("none"))
                try none.encode(round)
                var map = outer.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("map"))
                try map.encode(round, forKey: AnyKey("m"))
                if round == 1 { try outer.encode(Film(), forKey: AnyKey("a")) }
            }
        }
        let formatting: JSONEncoder.OutputFormatting = isPretty ? [.sortedKeys, .prettyPrinted] : .sortedKeys
        let text = try fastText([value, value]) { $0.outputFormatting = .init(rawValue: formatting.rawValue) }
        #expect(try text == foundationText([value, value]) { $0.outputFormatting = formatting })
        let unsorted = try fastText(value) { $0.outputFormatting = isPretty ? .prettyPrinted : [] }
        #expect(
            try JSONSerialization.jsonObject(with: Data(unsorted.utf8)) as? NSDictionary
                == JSONSerialization.jsonObject(with: Data(foundationText(value).utf8)) as? NSDictionary)
    }

    @Test("a failed member leaves the names of a large object as they were")
    func failedMembers() throws {
        let value = Encoding { encoder in
            var object = encoder.container(keyedBy: AnyKey.self)
            for number in 0..<100 {
                try? object.encode(Double.infinity, forKey: AnyKey("bad\(number)"))
                try object.encode(number, forKey: AnyKey("n\(number % 80)"))
                try? object.encode([Double.nan], forKey: AnyKey("n\(number % 80)"))
            }
        }
        #expect(try foundationText(value) == fastText(value) { $0.outputFormatting = .sortedKeys })
    }

    @Test("the last value of a repeated name replaces the first in its position")
    func repeated() throws {
        let value = Encoding { encoder in
            var outer = encoder.container(keyedBy: AnyKey.self)
            var nested = outer.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("a"))
            try nested.encode(1, forKey: AnyKey("gone"))
            var kept = outer.nestedUnkeyedContainer(forKey: AnyKey("b"))
            try outer.encode([[1, 2]], forKey: AnyKey("c"))
            try outer.encode("plain", forKey: AnyKey("a"))
            var again = outer.nestedUnkeyedContainer(forKey: AnyKey("c"))
            try again.encode("new")
            try kept.encode("kept")
        }
        #expect(try fastText(value) == #"{"a":"plain","b":["kept"],"c":[[1,2],"new"]}"#)
        let pretty =
            "{\n  \"a\" : \"plain\",\n  \"b\" : [\n    \"kept\"\n  ],\n  \"c\" : [\n    [\n      1,\n      2\n    ],\n    \"new\"\n  ]\n}"
        #expect(try fastText(value) { $0.outputFormatting = .prettyPrinted } == pretty)
        #expect(try foundationText(value) == fastText(value))
        #expect(try fastText([value]) == #"[{"a":"plain","b":["kept"],"c":[[1,2],"new"]}]"#)
    }

    @Test("each repeated name counts once, whatever the number of members", arguments: [2, 10, 40, 64, 65, 100, 200])
    func manyRepeats(count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count))
        let names = (0..<count).map { _ in "name \(Int.random(in: 0..<count, using: &random))" }
        let value = Encoding { encoder in
            var object = encoder.container(keyedBy: AnyKey.self)
            for (number, name) in names.enumerated() { try object.encode(number, forKey: AnyKey(name)) }
        }
        var unique: [String] = []
        for name in names where !unique.contains(name) { unique.append(name) }
        let members = unique.map { name in "\"\(name)\":\(names.lastIndex(of: name) ?? -1)" }
        #expect(try fastText(value) == "{\(members.joined(separator: ","))}")
    }

    @Test("sorting an object moves its nested containers")
    func sortedContainers() throws {
        let value = Encoding { encoder in
            var outer = encoder.container(keyedBy: AnyKey.self)
            for name in ["m", "z", "a", "\"", "é", "b/"] {
                var nested = outer.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey(name))
                for inner in ["y", "x"] {
                    var list = nested.nestedUnkeyedContainer(forKey: AnyKey(inner))
                    try list.encode(name)
                    try list.encode(Child())
                }
                try outer.encode(Child(), forKey: AnyKey(name + "2"))
            }
        }
        for formatting in [[.sortedKeys], [.sortedKeys, .prettyPrinted]] as [FastJSONEncoder.OutputFormatting] {
            let text = try fastText([value, value]) { $0.outputFormatting = formatting }
            let expected = try foundationText([value, value]) {
                $0.outputFormatting = JSONEncoder.OutputFormatting(rawValue: formatting.rawValue)
            }
            #expect(text == expected)
        }
    }

    @Test("a dictionary with Int keys is sorted by name, with its containers")
    func otherKeys() throws {
        enum Shape: Encodable { case dot, line(to: Int), pair(Int, Int) }
        let shapes: [Int: Shape] = [2: .line(to: 5), 10: .dot, 1: .pair(1, 2)]
        #expect(try fastText(shapes) == #"{"1":{"pair":{"_0":1,"_1":2}},"10":{"dot":{}},"2":{"line":{"to":5}}}"#)
        struct Wrapper: Encodable {
            var values: [Int: String]
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(values)
            }
        }
        let many = Dictionary(uniqueKeysWithValues: (0..<40).map { ($0, "v\($0)") })
        let members = many.map { (String($0.key), $0.value) }.sorted { $0.0 < $1.0 }.map { "\"\($0.0)\":\"\($0.1)\"" }
        #expect(try fastText([Wrapper(values: many)]) == "[{" + members.joined(separator: ",") + "}]")
        enum Kind: String, Encodable { case one }
        #expect(try fastText([Kind.one: 1]) == #"["one",1]"#)
        #expect(try fastText([[1.5: "x"]]) == #"[[1.5,"x"]]"#)
    }

    @Test("a container that is used while it encodes another value throws")
    func lateMembers() throws {
        let uses: [(KeyedEncodingContainer<AnyKey>) throws -> Void] = [
            {
                var late = $0
                try late.encode("late", forKey: AnyKey("b"))
            },
            {
                var late = $0
                try late.encode([2], forKey: AnyKey("b"))
            },
            {
                var late = $0
                _ = late.nestedUnkeyedContainer(forKey: AnyKey("b"))
            },
        ]
        for use in uses {
            let value = Encoding { encoder in
                var outer = encoder.container(keyedBy: AnyKey.self)
                let copy = outer
                let inner = Encoding { encoder in
                    var list = encoder.unkeyedContainer()
                    try list.encode(1)
                    try use(copy)
                }
                try outer.encode(inner, forKey: AnyKey("inner"))
            }
            let error = #expect(throws: EncodingError.self) { try fastText(["k": [value]]) }
            guard case .invalidValue(_, let context)? = error else { continue }
            #expect(context.codingPath.map(\.stringValue) == ["k", "Index 0", "b"])
            #expect(context.debugDescription == "a container was used while one of its values was being encoded")
        }
        let list = Encoding { encoder in
            var outer = encoder.unkeyedContainer()
            let copy = outer
            try outer.encode(
                Encoding { encoder in
                    var late = copy
                    try? late.encode("late")
                    #expect(late.count == 1)
                    try 1.encode(to: encoder)
                })
        }
        #expect(try fastText(list) == "[1]")
    }

    @Test("a value whose error is caught leaves no text")
    func caughtErrors() throws {
        struct Refusal: Error {}
        let bad = Encoding { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode([1, 2], forKey: AnyKey("partly"))
            var nested = container.nestedUnkeyedContainer(forKey: AnyKey("nested"))
            try nested.encode(1)
            var list = container.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("more"))
            try list.encode(Encoding { _ in throw Refusal() }, forKey: AnyKey("x"))
        }
        let value = Encoding { encoder in
            var outer = encoder.container(keyedBy: AnyKey.self)
            try? outer.encode(bad, forKey: AnyKey("a"))
            try outer.encode(1, forKey: AnyKey("b"))
            try? outer.encode(bad, forKey: AnyKey("b"))
            try? outer.encode(Double.nan, forKey: AnyKey("c"))
            try? outer.encode([1, Double.nan], forKey: AnyKey("c"))
            try? outer.encode(["x": Decimal.nan], forKey: AnyKey("c"))
            var list = outer.nestedUnkeyedContainer(forKey: AnyKey("list"))
            try? list.encode(bad)
            try list.encode(1)
            try? list.encode(Float.infinity)
            try? list.encode(Double.infinity)
            try? list.encode([bad])
            try list.encode(2)
            #expect(list.count == 2)
            try outer.encode(
                Encoding { encoder in
                    var single = encoder.singleValueContainer()
                    try? single.encode(bad)
                    try? single.encode(Double.nan)
                    try single.encode("recovered")
                }, forKey: AnyKey("d"))
        }
        let expected = #"{"b":1,"list":[1,2],"d":"recovered"}"#
        #expect(try fastText(value) == expected)
        #expect(try fastText(["k": [value, value]]) == "{\"k\":[\(expected),\(expected)]}")
    }

    @Test("a failed member of a large object leaves no name")
    func failedMemberOfMany() throws {
        let value = Encoding { encoder in
            var outer = encoder.container(keyedBy: AnyKey.self)
            for index in 0..<70 { try outer.encode(index, forKey: AnyKey("k\(index)")) }
            try? outer.encode([Double.nan], forKey: AnyKey("x"))
            for index in 70..<80 { try outer.encode(index, forKey: AnyKey("k\(index)")) }
            try outer.encode("x", forKey: AnyKey("x"))
            try outer.encode("y", forKey: AnyKey("k79"))
        }
        let members = (0..<80).map { $0 == 79 ? "\"k79\":\"y\"" : "\"k\($0)\":\($0)" }
        #expect(try fastText(value) == "{" + members.joined(separator: ",") + ",\"x\":\"x\"}")
    }

    @Test("a value that changes its kind keeps the last one, as in JSONBody")
    func changedKind() throws {
        let value = Encoding { encoder in
            var list = encoder.unkeyedContainer()
            try list.encode([1])
            _ = list.nestedUnkeyedContainer()
            var object = encoder.container(keyedBy: AnyKey.self)
            try object.encode(1, forKey: AnyKey("a"))
        }
        #expect(try fastText([value]) == #"[{"a":1}]"#)
        let single = Encoding { encoder in
            var object = encoder.container(keyedBy: AnyKey.self)
            try object.encode(1, forKey: AnyKey("a"))
            var container = encoder.singleValueContainer()
            try container.encode(1)
            try container.encode("two")
        }
        #expect(try fastText(["k": single]) == #"{"k":"two"}"#)
    }

    @Test("a container used after its value throws and leaves the text intact")
    func staleContainers() throws {
        final class Box {
            var keyed: KeyedEncodingContainer<AnyKey>?; var list: (any UnkeyedEncodingContainer)?;
            var encoder: (any Encoder)?
        }
        let box = Box()
        let first = Encoding { encoder in
            box.encoder = encoder
            box.keyed = encoder.container(keyedBy: AnyKey.self)
            try box.keyed?.encode(1, forKey: AnyKey("a"))
        }
        let second = Encoding { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            #expect(throws: EncodingError.self) { try box.keyed?.encode(2, forKey: AnyKey("b")) }
            #expect(throws: EncodingError.self) { try box.keyed?.encode([2], forKey: AnyKey("b")) }
            var single = box.encoder?.singleValueContainer()
            #expect(throws: EncodingError.self) { try single?.encode(1) }
            var nested = box.keyed?.nestedUnkeyedContainer(forKey: AnyKey("c"))
            try nested?.encode(1)
            var other = box.encoder?.unkeyedContainer()
            try other?.encode(1)
            try container.encode(3, forKey: AnyKey("c"))
        }
        #expect(try fastText([first, second]) == #"[{"a":1},{"c":3}]"#)
        #expect(throws: EncodingError.self) { try box.keyed?.encode(2, forKey: AnyKey("b")) }
        #expect(box.keyed?.codingPath.isEmpty == true)
    }
}

/// A base class with a synthesized `encode(to:)`. Its subclass passes super encoders to it.
private class Parent: Encodable {
    let id = 1
}

private final class Child: Parent {
    private enum Key: CodingKey { case name, numbers, nested, nothing, parent }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode("n", forKey: .name)
        var numbers = container.nestedUnkeyedContainer(forKey: .numbers)
        try numbers.encode(1)
        try numbers.encodeNil()
        var inner = numbers.nestedContainer(keyedBy: Key.self)
        try inner.encode(true, forKey: .nested)
        var deeper = numbers.nestedUnkeyedContainer()
        try deeper.encode(contentsOf: ["x", "y"])
        var nested = container.nestedContainer(keyedBy: Key.self, forKey: .nested)
        try nested.encodeNil(forKey: .nothing)
        try super.encode(to: container.superEncoder())
        try super.encode(to: container.superEncoder(forKey: .parent))
        try super.encode(to: numbers.superEncoder())
    }
}

/// Checks that an encoding call releases all its objects when it ends.
struct EncoderLifetimeTests {
    private final class Tracked: Sendable {}

    @Test("an encoding call releases all objects, even after an error")
    func noLeaks() throws {
        weak var object: Tracked?
        func encode() throws {
            let tracked = Tracked()
            object = tracked
            let value = Encoding { encoder in
                var outer = encoder.container(keyedBy: AnyKey.self)
                for name in ["a", "b", "a"] {
                    var one = outer.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey(name))
                    var two = one.nestedUnkeyedContainer(forKey: AnyKey("x"))
                    try one.encode(1, forKey: AnyKey("y"))
                    let parent = outer.superEncoder()
                    try two.encode(2)
                    try outer.encode(3, forKey: AnyKey(name == "b" ? "a" : "c"))
                    try [4].encode(to: parent)
                }
                try? outer.encode(
                    Encoding { encoder in
                        var list = encoder.unkeyedContainer()
                        var inner = list.nestedUnkeyedContainer()
                        try list.encode(1)
                        _ = inner.nestedUnkeyedContainer()
                        try inner.encode(Double.nan)
                    }, forKey: AnyKey("bad"))
            }
            var encoder = FastJSONEncoder()
            let key = try #require(CodingUserInfoKey(rawValue: "tracked"))
            encoder.userInfo[key] = tracked
            _ = try encoder.encode([value, value])
            #expect(throws: EncodingError.self) { try encoder.encode([AnyValue(value), AnyValue(Double.nan)]) }
        }
        try encode()
        #expect(object == nil)
    }
}
