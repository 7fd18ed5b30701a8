import Foundation
import Switchboard
import Testing

/// Every JSON text can be written as a literal. The expected texts are JSON by RFC 8259.
struct ParameterLiteralTests {
    private struct Point: Encodable, Sendable { var x = 1, y: Int? }
    private static let (name, id, rate, isNew) = ("x", 7, 1.5, true)
    private static let (some, none): (Int?, String?) = (3, nil)
    private static let (tags, day) = (["a", "b"], Date(timeIntervalSince1970: 0))

    private func json(_ parameters: Parameters) throws -> String {
        String(decoding: try JSONBody(parameters).encode(), as: UTF8.self)
    }

    @Test("nested mixed objects and arrays compile as literals and are encoded")
    func nested() throws {
        #expect(try json(["o": ["a": 1, "b": "x"]]) == #"{"o":{"a":1,"b":"x"}}"#)
        #expect(
            try json(["z": [1, "x", nil, true, 1.5, [], [:]], "a": nil])
                == #"{"z":[1,"x",null,true,1.5,[],{}],"a":null}"#)
        #expect(
            try json(["o": ["a": nil, "b": ["c": ["d": [["e": nil, "f": "x"], 2]]]]])
                == #"{"o":{"a":null,"b":{"c":{"d":[{"e":null,"f":"x"},2]}}}}"#)
    }

    @Test("literals take variables at every depth")
    func variables() throws {
        let flat: Parameters = [
            "id": Self.id, "name": Self.name, "rate": Self.rate, "new": Self.isNew, "some": Self.some,
            "none": Self.none,
            "tags": Self.tags, "day": Self.day, "point": Point(),
        ]
        let members = #""name":"x","new":true,"none":null,"point":{"x":1},"rate":1.5,"some":3,"tags":["a","b"]"#
        #expect(
            try json(flat)
                == #"{"id":7,"name":"x","rate":1.5,"new":true,"some":3,"none":null,"tags":["a","b"],"#
                + #""day":"1970-01-01T00:00:00Z","point":{"x":1}}"#)
        let nested: Parameters = [
            "o": [
                "id": Self.id, "name": Self.name, "rate": Self.rate, "new": Self.isNew, "some": Self.some,
                "none": Self.none, "tags": Self.tags, "day": Self.day, "point": Point(), "nil": nil,
            ]
        ]
        #expect(
            try json(nested) == #"{"o":{"day":"1970-01-01T00:00:00Z","id":7,"#
                + members.replacingOccurrences(of: #""none""#, with: #""nil":null,"none""#) + "}}")
    }

    @Test("literals keep their order, nested ones with `as Parameters`")
    func order() throws {
        #expect(try json(["z": 1, "a": 2, "m": 3]) == #"{"z":1,"a":2,"m":3}"#)
        #expect(try json(["o": ["z": 1, "a": "x"] as Parameters]) == #"{"o":{"z":1,"a":"x"}}"#)
        let value: ParameterValue = ["z": Self.id, "a": [nil, Self.name]]
        #expect(try json(["o": value]) == #"{"o":{"z":7,"a":[null,"x"]}}"#)
        #expect(try URLEncodedFormEncoder().encode(["b": 1, "a": 2, "b": 3] as Parameters) == "b=1&a=2&b=3")
    }

    @Test(
        "a literal of any JSON text is a body",
        arguments: [
            (JSONBody([1, "x", nil, ["a": 1, "b": "x"], [true, 2.5]]), #"[1,"x",null,{"a":1,"b":"x"},[true,2.5]]"#),
            (JSONBody([["a": 1, "b": nil]]), #"[{"a":1,"b":null}]"#),
            (JSONBody(["a": ["b": [nil]]]), #"{"a":{"b":[null]}}"#),
            (JSONBody(nil as ParameterValue), "null"), (JSONBody("a\(id)"), #""a7""#), (JSONBody(-1.5), "-1.5"),
            (JSONBody([id, name, nil]), #"[7,"x",null]"#),
        ])
    func bodies(body: JSONBody, expected: String) throws {
        #expect(String(decoding: try body.encode(), as: UTF8.self) == expected)
    }

    @Test("Parameters(_:) converts [String: String], [String: Any] and Encodable")
    func dictionaries() throws {
        let strings = ["b": "2", "a": "1"]
        #expect(try json(Parameters(strings)) == #"{"a":"1","b":"2"}"#)
        let anything: [String: Any] = ["b": [1, "x"] as [Any], "a": ["k": NSNull()] as [String: Any], "c": Self.day]
        #expect(try json(Parameters(anything)) == #"{"a":{"k":null},"b":[1,"x"],"c":"1970-01-01T00:00:00Z"}"#)
        let optionals: [String: Any?] = ["b": 1, "a": nil]
        #expect(try json(Parameters(optionals as [String: Any])) == #"{"a":null,"b":1}"#)
        #expect(try json(Parameters(Point(x: 5, y: 6))) == #"{"x":5,"y":6}"#)
        #expect(try json(Parameters(["a": Point()] as [String: Point])) == #"{"a":{"x":1}}"#)
    }

    @Test("an unencodable value in [String: Any] throws, with its key and type")
    func refusedDictionary() {
        final class Opaque {}
        let values: [([String: Any], String)] = [
            (["ok": 1, "thing": Opaque()], #""thing" is a Opaque"#),
            (["o": ["k": [1, Opaque()] as [Any]] as [String: Any]], #""o[k][]" is a Opaque"#),
            (["n": Double.nan], #""n" is nan"#),
        ]
        for (dictionary, words) in values {
            let error = #expect(throws: NetworkError.self) { try Parameters(dictionary) }
            #expect(error?.code == .encodingFailed)
            #expect(error?.reason?.contains(words) == true, "\(error?.reason ?? "")")
        }
        #expect(throws: NetworkError.self) { try Parameters([1, 2]) }
        #expect(throws: NetworkError.self) { try Parameters(5) }
    }

    @Test("values are read, compared and set as literals and as variables")
    func reading() throws {
        var parameters: Parameters = ["a": 1, "b": ["x", nil]]
        #expect(parameters["a"] == 1 && parameters["b"] == ["x", nil] && parameters["c"] == nil)
        parameters["a"] = Self.id
        parameters["n"] = Self.none
        parameters.add("t", Self.tags)
        parameters.add("o", ["k": 1, "l": "x"])
        parameters["v"] = ParameterValue(Point(x: 2))
        #expect(try json(parameters) == #"{"a":7,"b":["x",null],"t":["a","b"],"o":{"k":1,"l":"x"},"v":{"x":2}}"#)
        #expect(parameters == parameters && parameters != ["a": 1])
    }

    @Test(
        "text that is not a number is refused and never becomes JSON",
        arguments: ["1,\"a\":2", "", "01", "1.", "NaN", "-", "1e"])
    func numbers(text: String) {
        let parameters: Parameters = ["n": ParameterValue.number(text)]
        #expect(throws: NetworkError.self) { try JSONBody(parameters).encode() }
        #expect(throws: (any Error).self) { try JSONEncoder().encode(parameters) }
        for number in ["0", "-0.5", "1e+20", "12", "1.5E-7"] {
            #expect(throws: Never.self) { try JSONBody(["n": ParameterValue.number(number)]).encode() }
        }
    }
}
