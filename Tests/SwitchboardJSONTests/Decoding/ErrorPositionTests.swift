import Foundation
import SwitchboardJSON
import SwitchboardTestSupport
import Testing

/// Compares the coding paths and positions of errors, asked for in random order, with those of the writer of the text.
struct ErrorPositionTests {
    /// A text, and the kind, path and offset of each value in it.
    private struct Written {
        struct Value {
            let isArray: Bool
            let isObject: Bool
            let path: String
            let offset: Int
        }

        private(set) var text = ""
        private(set) var values: [Value] = []
        private var random: SeededGenerator

        init(_ seed: UInt64) {
            random = SeededGenerator(seed: seed)
            write(path: "", depth: 0)
        }

        private mutating func write(path: String, depth: Int) {
            text += space()
            let kind = depth == 0 ? 5 : Int.random(in: 0..<(depth < 5 ? 7 : 4), using: &random)
            values.append(
                Value(isArray: kind == 4 || kind == 5, isObject: kind == 6, path: path, offset: text.utf8.count))
            // One container in a few has many children.
            let count =
                depth == 0 || Int.random(in: 0..<12, using: &random) == 0 ? 36 : Int.random(in: 0..<4, using: &random)
            switch kind {
            case 0: text += "true"
            case 1: text += "null"
            case 2: text += "\"é\\n😀\""
            case 3: text += "\"a longer text with spaces\""
            case 4, 5:
                text += "["
                for index in 0..<count {
                    text += index == 0 ? "" : ","
                    write(path: "\(path)[\(index)]", depth: depth + 1)
                }
                text += space() + "]"
            default:
                text += "{"
                for index in 0..<count {
                    let isLong = Int.random(in: 0..<4, using: &random) == 0
                    let name = isLong ? String(repeating: "long name ", count: 20) + "\(index)" : "né\(index)"
                    text += (index == 0 ? "" : ",") + space() + "\"\(name)\"" + space() + ":"
                    write(path: "\(path).\(name)", depth: depth + 1)
                }
                text += space() + "}"
            }
        }

        private mutating func space() -> String {
            ["", "", " ", "\n", "\n    ", "\t"][Int.random(in: 0..<6, using: &random)]
        }
    }

    private struct Keeper: Decodable {
        let decoder: any Decoder
        init(from decoder: any Decoder) { self.decoder = decoder }
    }

    /// Returns the decoders of a value and its children, in the order of the text.
    private func decoders(
        of decoder: any Decoder, _ values: inout ArraySlice<Written.Value>
    ) throws -> [any Decoder] {
        var decoders = [decoder]
        let value = try #require(values.first)
        values.removeFirst()
        if value.isArray {
            var array = try decoder.unkeyedContainer()
            while !array.isAtEnd { decoders += try self.decoders(of: array.superDecoder(), &values) }
        } else if value.isObject {
            let object = try decoder.container(keyedBy: JSONTree.Name.self)
            for key in object.allKeys { decoders += try self.decoders(of: object.superDecoder(forKey: key), &values) }
        }
        return decoders
    }

    @Test("errors in any order have the path and position of their value", arguments: seededCases(1))
    func randomOrder(seed: UInt64) throws {
        let written = Written(seed)
        let root = try FastJSONDecoder().decode(Keeper.self, from: Data(written.text.utf8)).decoder
        var rest = written.values[...]
        let decoders = try decoders(of: root, &rest)
        try #require(decoders.count == written.values.count && rest.isEmpty)
        let places = places(in: written.text)
        var random = SeededGenerator(seed: seed)
        for index in decoders.indices.shuffled(using: &random) + decoders.indices.reversed() {
            let value = written.values[index]
            let error = #expect(throws: DecodingError.self) {
                try decoders[index].singleValueContainer().decode(Int.self)
            }
            let context = try #require(error.flatMap(context))
            try #require(text(context.codingPath) == value.path)
            try #require(
                context.debugDescription.hasSuffix("at \(places[value.offset] ?? "?") (byte \(value.offset))."))
            try #require(text(decoders[index].codingPath) == value.path)
        }
    }

    /// Returns the line and column of each byte that begins a Unicode scalar, in one pass over the scalars.
    private func places(in text: String) -> [Int: String] {
        var places: [Int: String] = [:]
        var (offset, line, column) = (0, 1, 1)
        for scalar in text.unicodeScalars {
            places[offset] = "line \(line), column \(column)"
            offset += scalar.utf8.count
            (line, column) = scalar == "\n" ? (line + 1, 1) : (line, column + 1)
        }
        return places
    }

    private func context(_ error: DecodingError) -> DecodingError.Context? {
        switch error {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            context
        @unknown default: nil
        }
    }

    private struct Page: Decodable {
        struct Film: Decodable {
            enum CodingKeys: Int, CodingKey { case id = 5, tags }
            enum KindKeys: Int, CodingKey { case kind = 9 }
            enum Kind: String, Decodable { case short }

            init(from decoder: any Decoder) throws {
                let kind = try decoder.container(keyedBy: KindKeys.self)
                let object = try decoder.container(keyedBy: CodingKeys.self)
                _ = try kind.decodeIfPresent(Bool.self, forKey: .kind)
                _ = try object.decode(Int.self, forKey: .id)
                _ = try object.decodeIfPresent([String: Int].self, forKey: .tags)
                _ = try object.superDecoder()
            }
        }

        enum CodingKeys: Int, CodingKey { case films = 3, byName }

        var films: [Film]?
        var byName: [String: Film]?
    }

    @Test(
        "the path of an error has the type's own keys, as in JSONDecoder",
        arguments: [
            #"{"films":[{"id":1},{"id":"x"}]}"#, #"{"byName":{"a":{"id":null}}}"#, #"{"films":[{"id":1,"kind":7}]}"#,
            #"{"films":[{"id":1,"tags":{"x":1,"7":true}}]}"#, #"{"films":[{}]}"#, #"{"films":{}}"#, #"{"byName":[]}"#,
        ])
    func ownKeys(text: String) throws {
        func steps(_ decode: () throws -> Page) throws -> [String] {
            let error = #expect(throws: DecodingError.self) { _ = try decode() }
            return try #require(error.flatMap(context)).codingPath.map { key in
                // The type of an element's key is the decoder's own.
                let type = key.stringValue.hasPrefix("Index") ? "" : "\(Swift.type(of: key))"
                return "\(type) \(key.stringValue) \(key.intValue as Any)"
            }
        }
        let data = Data(text.utf8)
        let found = try steps { try FastJSONDecoder().decode(Page.self, from: data) }
        #expect(try found == steps { try JSONDecoder().decode(Page.self, from: data) })
        #expect(!found.isEmpty)
    }

    @Test("each of more than 100 types of keys is found in a path")
    func manyKeyTypes() throws {
        var type: any Decodable.Type = Int.self
        for _ in 0..<100 { type = nested(type) }
        let text = String(repeating: #"{"v":"#, count: 100) + "true" + String(repeating: "}", count: 100)
        func names(_ decode: (any Decodable.Type) throws -> Any) throws -> [String] {
            let error = #expect(throws: DecodingError.self) { _ = try decode(type) }
            return try #require(error.flatMap(context)).codingPath.map { String(reflecting: Swift.type(of: $0)) }
        }
        let found = try names { try FastJSONDecoder().decode($0, from: Data(text.utf8)) }
        #expect(try found == names { try JSONDecoder().decode($0, from: Data(text.utf8)) })
        #expect(Set(found).count == 100)
    }

    private func nested<Value: Decodable>(_ type: Value.Type) -> any Decodable.Type { Nested<Value>.self }
}

/// A type whose keys have a type for each `Value`.
private struct Nested<Value: Decodable>: Decodable {
    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        _ = try decoder.container(keyedBy: Key.self).decode(Value.self, forKey: Key(stringValue: "v"))
    }
}
