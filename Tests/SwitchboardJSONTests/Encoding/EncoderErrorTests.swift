import Foundation
import SwitchboardJSON
import SwitchboardTestSupport
import Testing

struct EncoderErrorTests {
    private struct Reading: Encodable {
        struct Inner: Encodable {
            var celsius: Double, range: [Double] = [], exact: Decimal? = nil, single: Float? = nil
        }
        var inner: [Inner]
    }

    private func path(_ value: some Encodable, _ change: (inout FastJSONEncoder) -> Void = { _ in }) -> [String]? {
        let error = #expect(throws: EncodingError.self) { try fastText(value, change) }
        guard case .invalidValue(_, let context)? = error else { return nil }
        return context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
    }

    @Test("NaN and infinities throw an error with their path", arguments: [Double.nan, .infinity, -.infinity])
    func notFinite(value: Double) {
        #expect(path(Reading(inner: [.init(celsius: 0), .init(celsius: value)])) == ["inner", "[1]", "celsius"])
        #expect(path(Reading(inner: [.init(celsius: 0, range: [1, value])])) == ["inner", "[0]", "range", "[1]"])
        #expect(path(Reading(inner: [.init(celsius: 0, exact: .nan)])) == ["inner", "[0]", "exact"])
        #expect(path(Reading(inner: [.init(celsius: 0, single: Float(value))])) == ["inner", "[0]", "single"])
        #expect(path(value) == [])
        #expect(path(["a": ["b": value]]) == ["a", "b"])
        #expect(path([[1: value]]) == ["[0]", "[1]"])
        #expect(path([value as Double?]) == ["[0]"])
        #expect(path(Date(timeIntervalSinceReferenceDate: value)) == [])
        #expect(path([Date(timeIntervalSince1970: value)]) { $0.dateEncodingStrategy = .secondsSince1970 } == ["[0]"])
        #expect(path([Date(timeIntervalSince1970: value)]) { $0.dateEncodingStrategy = .iso8601 } == ["[0]"])
    }

    @Test("an error has the value, the type's coding keys and the core's message")
    func context() {
        let error = #expect(throws: EncodingError.self) { try fastText(Reading(inner: [.init(celsius: .nan)])) }
        guard case .invalidValue(let value, let context)? = error else { return }
        #expect((value as? Double)?.isNaN == true)
        #expect(context.debugDescription == "nan is not a finite number")
        #expect("\(context.codingPath.last.map { "\(type(of: $0))" } ?? "")" == "CodingKeys")
    }

    @Test("paths include nested containers and super encoders, as in Foundation")
    func nestedPaths() throws {
        final class Paths: @unchecked Sendable { var all: [String] = [] }
        let paths = Paths()
        func note(_ keys: [any CodingKey]) {
            paths.all.append(keys.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: "/"))
        }
        let value = Encoding { encoder in
            var outer = encoder.container(keyedBy: AnyKey.self)
            note(outer.codingPath)
            var nested = outer.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("n"))
            note(nested.codingPath)
            var list = nested.nestedUnkeyedContainer(forKey: AnyKey("l"))
            try list.encode(0)
            note(list.codingPath)
            var deep = list.nestedContainer(keyedBy: AnyKey.self)
            note(deep.codingPath)
            try deep.encode(
                Encoding {
                    note($0.codingPath); try 1.encode(to: $0)
                }, forKey: AnyKey("d"))
            let parent = outer.superEncoder()
            note(parent.codingPath)
            // The enclosing containers have been written to since these three were created.
            note(deep.codingPath)
            note(list.codingPath)
            note(nested.codingPath)
            var single = parent.singleValueContainer()
            try single.encode(
                Encoding {
                    note($0.codingPath); try [2].encode(to: $0)
                })
            try outer.encode([AnyValue(1), AnyValue(Encoding { note($0.codingPath) })], forKey: AnyKey("o"))
        }
        _ = try fastText(["top": [value]])
        let ours = paths.all
        paths.all = []
        _ = try foundationText(["top": [value]])
        #expect(ours[4] == "top/[0]/n/l/[1]/d")
        // Foundation omits the keys of nested containers in the path of a value inside one.
        #expect(ours.count == 11 && ours[..<4] == paths.all[..<4] && ours[5...] == paths.all[5...])
    }

    @Test("a date before year 1 or after year 9999 throws")
    func years() {
        for date in [Date(timeIntervalSinceReferenceDate: 252_423_993_600), .distantPast.addingTimeInterval(-1)] {
            #expect(path([date]) { $0.dateEncodingStrategy = .iso8601WithMilliseconds } == ["[0]"])
        }
    }

    private struct Nest: Encodable {
        var depth: Int
        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            if depth > 1 { try container.encode(Nest(depth: depth - 1)) } else { try container.encode(1) }
        }
    }

    private struct Single: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode([Nest(depth: 2)])
        }
    }

    @Test("nesting up to the limit is written, and one more level throws")
    func depth() throws {
        for limit in [1, 2, 128] {
            let text = try fastText(Nest(depth: limit)) { $0.maximumDepth = limit }
            #expect(text == String(repeating: "[", count: limit) + "1" + String(repeating: "]", count: limit))
            #expect(throws: EncodingError.self) { try fastText(Nest(depth: limit + 1)) { $0.maximumDepth = limit } }
        }
        #expect(FastJSONEncoder().maximumDepth == 128)
        #expect(try fastText(Single()) { $0.maximumDepth = .max } == "[[[1]]]")
        #expect(try fastText(1) { $0.maximumDepth = 0 } == "1")
        #expect(throws: EncodingError.self) { try fastText([1]) { $0.maximumDepth = 0 } }
        #expect(throws: EncodingError.self) { try fastText([1]) { $0.maximumDepth = -5 } }
    }

    private indirect enum Tree: Encodable {
        case leaf
        case branch(name: String, [String: Tree?])
    }

    @Test("a value near the depth limit fits the stack of a small thread")
    func smallStack() async throws {
        var tree = Tree.leaf
        for _ in 0..<40 { tree = .branch(name: "n", ["a": tree]) }
        let deep = tree
        #expect(try await onThread { try FastJSONEncoder().encode([deep]).count }.get() > 0)
    }

    @Test("a value that contains itself throws in containers of every kind")
    func endless() {
        struct Endless: Encodable {
            var way: Int
            func encode(to encoder: any Encoder) throws {
                switch way {
                case 0:
                    var container = encoder.unkeyedContainer()
                    try container.encode(self)
                case 1:
                    var container = encoder.container(keyedBy: AnyKey.self)
                    try container.encode(self, forKey: AnyKey("a"))
                case 2:
                    var container = encoder.singleValueContainer()
                    try container.encode(self)
                default:
                    var container = encoder.container(keyedBy: AnyKey.self)
                    try container.encode(["b": self], forKey: AnyKey("a"))
                }
            }
        }
        for way in 0..<4 { #expect(throws: EncodingError.self) { try fastText(Endless(way: way)) } }
    }

    @Test("nested containers and super encoders beyond the limit throw at the end")
    func deepContainers() throws {
        func chain(_ count: Int) -> Encoding {
            Encoding { encoder in
                var container = encoder.unkeyedContainer()
                for _ in 1..<count {
                    var next = container.nestedUnkeyedContainer()
                    swap(&next, &container)
                }
            }
        }
        let expected = String(repeating: "[", count: 128) + String(repeating: "]", count: 128)
        #expect(try fastText(chain(128)) == expected)
        #expect(throws: EncodingError.self) { try fastText(chain(129)) }
        #expect(throws: EncodingError.self) { try fastText(chain(100_000)) }
        let supers = Encoding { encoder in
            var encoder = encoder
            for _ in 0..<100_000 {
                var container = encoder.container(keyedBy: AnyKey.self)
                encoder = container.superEncoder()
            }
        }
        #expect(throws: EncodingError.self) { try fastText(supers) }
    }

    @Test("an error thrown by a value is rethrown unchanged")
    func ownErrors() {
        struct Refusal: Error {}
        let stubborn = Encoding { _ in throw Refusal() }
        #expect(throws: Refusal.self) { try fastText(stubborn) }
        #expect(throws: Refusal.self) { try fastText(["a": [stubborn]]) }
    }
}
