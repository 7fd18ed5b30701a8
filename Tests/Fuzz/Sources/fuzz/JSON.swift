import Foundation
@testable import SwitchboardJSON

extension Target {
    static let json = [jsonText, jsonRecord, jsonEncode, jsonElements]

    private static let jsonText = Target("json") { bytes in
        let data = Data(bytes)
        let ours = Result { try FastJSONDecoder().decode(Tree.self, from: data) }
        if let value = ours.value {
            // Foundation takes a text that begins so for UTF-16 or UTF-32.
            if data.prefix(4).contains(0) { return }
            let theirs = Result { try JSONDecoder().decode(Tree.self, from: data) }
            guard let other = theirs.value else {
                let plain = Result { try JSONDecoder().decode(Tree.self, from: data.withoutExponents) }
                return check(plain.value != nil, "decoded \(value), JSONDecoder \(theirs)")
            }
            check(value.isSame(as: other), "decoded \(value), JSONDecoder \(other)")
        } else {
            // JSONDecoder traps if a text ends with the bracket of its 513th level.
            let theirs = Result { try JSONDecoder().decode(Tree.self, from: data + [0x20]) }
            // JSONDecoder does not check what no type reads, such as the second member of a name.
            let isValid = (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
            check(theirs.value == nil || !isValid || data.isRefused, "refused \(theirs): \(ours)")
        }
    } read: {
        _ = try? FastJSONDecoder().decode(Tree.self, from: $0)
    }

    private static let jsonRecord = Target("json-record") { bytes in
        let data = Data(bytes)
        let ours = Result { try FastJSONDecoder.record.decode(Record.self, from: data) }
        guard !data.prefix(4).contains(0) else { return }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .secondsSince1970
        // JSONDecoder traps if a text ends with the bracket of its 513th level.
        let theirs = Result { try decoder.decode(Record.self, from: data + [0x20]) }
        switch (ours, theirs) {
        case (.success(let value), .success(let other)):
            check(value == other, "decoded \(value), JSONDecoder \(other)")
        case (.success(let value), .failure):
            let plain = Result { try decoder.decode(Record.self, from: data.withoutExponents) }
            check(plain.value != nil, "decoded \(value), JSONDecoder \(theirs)")
        case (.failure, .success(let other)):
            let isValid = (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
            check(!isValid || data.isRefused, "refused \(other): \(ours)")
        case (.failure, .failure): break
        }
    } read: {
        _ = try? FastJSONDecoder.record.decode(Record.self, from: $0)
    }

    private static let jsonEncode = Target("json-encode") { bytes in
        var choices = Choices(bytes)
        let tree = Tree(&choices, depth: 0)
        let encoder = FastJSONEncoder()
        let data = Result { try encoder.encode(tree) }
        let expected = Result { try JSONEncoder().encode(tree) }
        check((data.value == nil) == (expected.value == nil), "encoded \(data), JSONEncoder \(expected)")
        guard let data = data.value else { return }
        let again = Result { try FastJSONDecoder().decode(Tree.self, from: data) }
        let other = Result { try JSONDecoder().decode(Tree.self, from: data) }
        check(again.value.map(tree.isSame) == true, "\(tree) became \(again)")
        check(other.value.map(tree.isSame) == true, "\(tree) became \(other)")
    } read: { bytes in
        var choices = Choices(bytes)
        _ = try? FastJSONEncoder().encode(Tree(&choices, depth: 0))
    }

    private static let jsonElements = Target("json-elements") { bytes in
        let data = Data(bytes)
        let path = data.count % 2 == 0 ? [] : ["a"]
        var reader = JSONElementReader(Tree.self, decoder: FastJSONDecoder(), at: path)
        var elements: [Tree] = []
        let result = Result {
            for chunk in data.chunks {
                try chunk.withUnsafeBytes { try reader.read($0) { elements.append($0) } }
            }
            try reader.finish()
        }
        let whole = data.dropFirst()
        let expected: [Tree]? =
            path.isEmpty
            ? try? FastJSONDecoder().decode([Tree].self, from: Data(whole))
            : (try? FastJSONDecoder().decode([String: Tree].self, from: Data(whole)))?["a"]?.elements
        guard let expected else {
            // The reader does not look at the values of other members, nor at a second member of the name.
            let isValid = (try? JSONSerialization.jsonObject(with: whole, options: .fragmentsAllowed)) != nil
            check(result.value == nil || path == ["a"] && isValid, "read \(elements), but the whole is not valid")
            return
        }
        check(result.value != nil, "\(result), but the whole is \(expected)")
        check(
            elements.count == expected.count && zip(elements, expected).allSatisfy { $0.isSame(as: $1) },
            "read \(elements), but the whole is \(expected)")
    } read: { bytes in
        var reader = JSONElementReader(Tree.self, decoder: FastJSONDecoder(), at: ["a"])
        try? reader.read(bytes) { _ in }
        try? reader.finish()
    }
}

extension FastJSONDecoder {
    fileprivate static let record = {
        var decoder = FastJSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .secondsSince1970
        return decoder
    }()
}

extension Data {
    /// The text with other numbers in place of those with an exponent. Foundation refuses some of them, such as 0e1.
    fileprivate var withoutExponents: Data {
        let text = String(decoding: self, as: UTF8.self)
        let number = /(^|[\[,:\s])-?(?:0|[1-9]\d*)(?:\.\d+)?[eE][+-]?\d+/
        return Data(text.replacing(number) { "\($0.output.1)1" }.utf8)
    }

    /// Whether the decoder may refuse the text although Foundation's parser reads it: UTF-16 and UTF-32, invalid UTF-8,
    /// deep nesting, commas at the end of a list, and numbers that become 0 in a `Double`.
    fileprivate var isRefused: Bool {
        let text = String(decoding: filter { $0 > 0x20 }, as: UTF8.self)
        return contains(0) || String(data: self, encoding: .utf8) == nil || text.contains(",]") || text.contains(",}")
            || filter { $0 == 0x5B || $0 == 0x7B }.count > 500 || text.contains(/[eE]-\d{3}/)
    }
}

/// Any JSON.
indirect enum Tree: Codable {
    case null, bool(Bool), whole(Int64), number(Double), text(String), array([Tree]), object([String: Tree])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let whole = try? container.decode(Int64.self) {
            self = .whole(whole)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let array = try? container.decode([Tree].self) {
            self = .array(array)
        } else {
            self = .object(try container.decode([String: Tree].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let bool): try container.encode(bool)
        case .whole(let whole): try container.encode(whole)
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .array(let array): try container.encode(array)
        case .object(let object): try container.encode(object)
        }
    }

    init(_ choices: inout Choices, depth: Int) {
        switch choices.number(below: depth < 4 ? 8 : 6) {
        case 0: self = .null
        case 1: self = .bool(choices.number(below: 2) == 0)
        case 2: self = .whole(Int64(truncatingIfNeeded: choices.word()))
        case 3: self = .number(Double(bitPattern: choices.word()))
        case 4: self = .number(Double(choices.number(below: 256)) / 8)
        case 5: self = .text(choices.text())
        case 6: self = .array((0..<choices.number(below: 5)).map { _ in Tree(&choices, depth: depth + 1) })
        default:
            var object: [String: Tree] = [:]
            for _ in 0..<choices.number(below: 5) { object[choices.text()] = Tree(&choices, depth: depth + 1) }
            self = .object(object)
        }
    }

    var elements: [Tree]? { if case .array(let elements) = self { elements } else { nil } }

    private var number: Double? {
        switch self {
        case .whole(let whole): Double(whole)
        case .number(let number): number
        default: nil
        }
    }

    /// Whether the values are equal. A whole `Double` may be read as an integer, and texts are compared by their bytes.
    func isSame(as other: Tree) -> Bool {
        switch (self, other) {
        case (.null, .null): return true
        case (.bool(let one), .bool(let two)): return one == two
        case (.whole(let one), .whole(let two)): return one == two
        case (.text(let one), .text(let two)): return one.utf8.elementsEqual(two.utf8)
        case (.array(let one), .array(let two)):
            return one.count == two.count && zip(one, two).allSatisfy { $0.isSame(as: $1) }
        case (.object(let one), .object(let two)):
            return one.count == two.count && one.allSatisfy { name, value in two[name].map(value.isSame) ?? false }
        default:
            guard let one = number, let two = other.number else { return false }
            // JSONDecoder reads 18446376473704770.9 as an integer.
            return one == two || abs(one - two) <= one.magnitude.ulp
        }
    }
}

private struct Record: Decodable, Equatable {
    struct Item: Decodable, Equatable {
        var url: URL?
        var smallNumber: Int8
        var bigNumber: UInt64?
    }

    enum Kind: String, Decodable { case plain, fancy }

    var firstName: String
    var createdAt: Date?
    var payload: Data?
    var amount: Decimal?
    var ratio: Float?
    var isOn: Bool?
    var kind: Kind?
    var items: [Item]?
    var byName: [String: Int]?
    var byNumber: [Int: String]?
    var next: [Record]?
}
