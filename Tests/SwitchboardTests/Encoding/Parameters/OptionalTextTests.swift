import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// Compares the texts of random trees of values, some wrapped in optionals, with a model.
struct OptionalTextTests {
    @Test("3,000 random trees encode without Optional( and read back unchanged", .requirement("S1.4"))
    func noOptionalAnywhere() throws {
        var random = SeededGenerator(seed: 14)
        for _ in 0..<3_000 {
            let members = (0..<Int.random(in: 0...4, using: &random)).map { ("p\($0)", Tree(depth: 3, using: &random)) }
            let parameters = Parameters(members.map { (name: $0.0, value: $0.1.value(using: &random)) })
            let pairs = members.flatMap { $0.1.pairs(named: $0.0) }

            let task = HTTPTask.requestParameters(urlParameters: parameters)
            let url = try #require(try RequestBuilder().makeRequest(for: EndPointFixture(task: task)).url)
                .absoluteString
            let form = String(decoding: try FormBody(parameters).encode(), as: UTF8.self)
            let json = String(decoding: try JSONBody(parameters).encode(), as: UTF8.self)
            for text in [url, form, json] { try #require(!text.contains("Optional")) }

            try #require(
                URLComponents(string: url)?.queryItems?.map { [$0.name, $0.value] } ?? [] == pairs.map { [$0.0, $0.1] })
            try #require(FormBody.decode(form).map { [$0.name, $0.value] } == pairs.map { [$0.0, $0.1] })
            let object = NSDictionary(dictionary: Dictionary(uniqueKeysWithValues: members.map { ($0.0, $0.1.json) }))
            try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? NSDictionary == object)
        }
    }
}

/// A value without its Swift type.
private indirect enum Tree {
    case null
    case bool(Bool)
    case int(Int)
    case text(String)
    case array([Tree])
    case object([String: Tree])

    init(depth: Int, using random: inout SeededGenerator) {
        switch Int.random(in: 0..<(depth > 0 ? 6 : 4), using: &random) {
        case 0: self = .null
        case 1: self = .bool(Bool.random(using: &random))
        case 2: self = .int(Int.random(in: -1000...1000, using: &random))
        case 3: self = .text(random.text(upTo: 5))
        case 4:
            self = .array(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in Tree(depth: depth - 1, using: &random) })
        default:
            let members = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                (random.word(), Tree(depth: depth - 1, using: &random))
            }
            self = .object(Dictionary(members) { $1 })
        }
    }

    /// Returns the tree as a Swift value, with parts wrapped in optionals at random.
    func value(using random: inout SeededGenerator) -> any Sendable {
        switch self {
        case .null: nothing(using: &random)
        case .bool(let value): wrapped(value, using: &random)
        case .int(let value): wrapped(value, using: &random)
        case .text(let value): wrapped(value, using: &random)
        case .array(let trees):
            if random.oneIn(2) {
                wrapped(trees.map { $0.value(using: &random) }, using: &random)
            } else {
                wrapped(trees.map { Optional($0.value(using: &random)) }, using: &random)
            }
        case .object(let members):
            if random.oneIn(2) {
                wrapped(members.mapValues { $0.value(using: &random) }, using: &random)
            } else {
                wrapped(members.mapValues { Optional($0.value(using: &random)) }, using: &random)
            }
        }
    }

    private func nothing(using random: inout SeededGenerator) -> any Sendable {
        if random.oneIn(3) { return NSNull() }
        return random.oneIn(2) ? nil as [String: Int]? : Int??.some(nil)
    }

    private func wrapped<Value: Sendable>(_ value: Value, using random: inout SeededGenerator) -> any Sendable {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: Optional(value)
        case 1: Optional<Value?>.some(.some(value))
        case 2: Optional<any Sendable>.some(value)
        default: value
        }
    }

    /// Returns the documented form: nil omitted, `a[]`, and `o[k]` with sorted names.
    func pairs(named name: String) -> [(String, String)] {
        switch self {
        case .null: []
        case .bool(let value): [(name, value ? "true" : "false")]
        case .int(let value): [(name, String(value))]
        case .text(let value): [(name, value)]
        case .array(let trees): trees.flatMap { $0.pairs(named: name + "[]") }
        case .object(let members):
            members.sorted { $0.key < $1.key }.flatMap { $0.value.pairs(named: "\(name)[\($0.key)]") }
        }
    }

    var json: Any {
        switch self {
        case .null: NSNull()
        case .bool(let value): NSNumber(value: value)
        case .int(let value): NSNumber(value: value)
        case .text(let value): value
        case .array(let trees): trees.map(\.json)
        case .object(let members): members.mapValues(\.json)
        }
    }
}
