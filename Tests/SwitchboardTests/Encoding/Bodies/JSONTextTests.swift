import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// The text of ``JSONBody``, read back by Foundation's parser or compared with Python's `json.dumps`.
struct JSONTextTests {
    private func text(_ value: some Encodable & Sendable) throws -> String {
        String(decoding: try JSONBody(value).encode(), as: UTF8.self)
    }

    // RFC 8259 §7: quotation mark, reverse solidus and U+0000 to U+001F must be escaped, and nothing else.
    @Test(
        "strings are escaped as RFC 8259 §7 demands",
        arguments: [
            ("a\"b", #""a\"b""#), ("a\\b", #""a\\b""#), ("a/b", #""a/b""#), ("\n\r\t", #""\n\r\t""#),
            ("\u{8}\u{C}", #""\b\f""#),
            ("\0", #""\u0000""#), ("\u{1F}", #""\u001f""#), ("\u{7F}", "\"\u{7F}\""), ("é🌎\u{2028}", "\"é🌎\u{2028}\""),
            ("", "\"\""),
        ])
    func escapes(value: String, expected: String) throws {
        #expect(try text(value) == expected)
        let parsed = try JSONSerialization.jsonObject(with: Data(text([value, value]).utf8)) as? [String]
        #expect(parsed == [value, value])
        let named = try JSONSerialization.jsonObject(with: Data(text([value: 1]).utf8)) as? [String: Int]
        #expect(named == [value: 1])
    }

    @Test("any text parses back to itself")
    func anyText() throws {
        var random = SeededGenerator(seed: 8259)
        let texts = (0..<5_000).map { _ in random.text(upTo: 12) }
        let parsed = try JSONSerialization.jsonObject(with: JSONBody(texts).encode()) as? [String]
        #expect(parsed == texts)
    }

    @Test(
        "integers keep every digit",
        arguments: [
            ("9223372036854775807", Int64.max), ("-9223372036854775808", .min),
            ("9007199254740993", 9_007_199_254_740_993), ("0", 0),
        ])
    func integers(expected: String, value: Int64) throws {
        #expect(try text(value) == expected)
        #expect(try String(decoding: JSONBody(["n": value]).encode(), as: UTF8.self) == "{\"n\":\(expected)}")
    }

    @Test("UInt64.max and decimals keep every digit; JSONEncoder keeps UInt64.max")
    func largeNumbers() throws {
        #expect(try text(UInt64.max) == "18446744073709551615")
        let decimal = try #require(Decimal(string: "12345678901234567890.123456789"))
        #expect(try text([decimal]) == "[12345678901234567890.123456789]")
        #expect(try text(["d": decimal]) == #"{"d":12345678901234567890.123456789}"#)
        let parameters: Parameters = ["n": UInt64.max, "i": Int64.min, "x": 0.1]
        let parsed =
            try JSONSerialization.jsonObject(with: JSONBody(parameters, encoder: JSONEncoder()).encode())
            as? NSDictionary
        #expect(parsed?["n"] as? UInt64 == .max && parsed?["i"] as? Int64 == .min && parsed?["x"] as? Double == 0.1)
    }

    @Test(
        "floating-point numbers read back to the same bits",
        arguments: [
            0.1, -0.5, 1e300, .leastNonzeroMagnitude, 1.7976931348623157e308, 123456789.123, 1e16, 1e-7, 2.0 / 3.0,
        ])
    func doubles(value: Double) throws {
        let parsed = try JSONDecoder().decode([Double].self, from: JSONBody([value]).encode())
        #expect(parsed == [value])
        #expect(try JSONSerialization.jsonObject(with: JSONBody([value]).encode()) as? [Double] == [value])
    }

    @Test("a whole Double has no fraction; a Float is written short")
    func shortNumbers() throws {
        #expect(try text([1.0, -2.0, 100.0]) == "[1,-2,100]")
        #expect(try text([Float(0.1)]) == "[0.1]")
    }

    @Test(
        "NaN and infinities are errors that name the key path, not null", .requirement("S4.4"),
        arguments: [
            Double.nan, .infinity, -.infinity,
        ])
    func notFinite(value: Double) {
        struct Reading: Encodable, Sendable {
            struct Inner: Encodable, Sendable { var celsius: Double }; var inner: [Inner]
        }
        struct Price: Encodable, Sendable { var amount: Decimal }
        let errors = [
            #expect(throws: NetworkError.self) { try JSONBody(Reading(inner: [.init(celsius: value)])).encode() },
            #expect(throws: NetworkError.self) { try JSONBody(value).encode() },
            #expect(throws: NetworkError.self) { try JSONBody(Float(value)).encode() },
            #expect(throws: NetworkError.self) { try JSONBody(Price(amount: .nan)).encode() },
            #expect(throws: NetworkError.self) { try JSONBody(["a": value]).encode() },
        ]
        #expect(errors.allSatisfy { $0?.code == .encodingFailed })
        #expect(errors[0]?.reason?.contains("inner[0].celsius") == true)
        #expect(errors[3]?.reason?.contains("amount") == true)
    }

    @Test("Codable values of every shape read back equal through JSONDecoder")
    func codableValues() throws {
        #expect(try JSONDecoder.iso8601.decode(Everything.self, from: JSONBody(Everything.sample).encode()) == .sample)
    }

    @Test("any number of members keep the order in which they are encoded", .requirement("S4.4"))
    func declaredOrder() throws {
        #expect(
            try text(Everything.sample).hasPrefix(
                #"{"text":"a\nb","flag":true,"small":-8,"big":18446744073709551615,"ratio":0.25,"#))
        struct Wide: Encodable, Sendable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Name.self)
                for index in (0..<40).reversed() { try container.encode(index, forKey: Name(stringValue: "k\(index)")) }
                try container.encode("again", forKey: Name(stringValue: "k30"))
            }
        }
        let members = (0..<40).reversed().map { $0 == 30 ? #""k30":"again""# : "\"k\($0)\":\($0)" }
        #expect(try text(Wide()) == "{" + members.joined(separator: ",") + "}")
    }

    @Test("containers of every kind match Foundation's JSONEncoder")
    func foundationAgrees() throws {
        let values: [any Encodable & Sendable] = [
            Child(), [Child()], ["child": Child()], [1: "a", 2: "b"], ["b": [nil, 1], "a": []] as [String: [Int?]],
            [[[]], [["x"]]] as [[[String]]], Everything.Shape.group([.dot], name: "g"), UInt8.max,
            Optional<Optional<Int>>.some(nil), ["k": nil] as [String: Int?],
        ]
        for value in values {
            let ours = try JSONSerialization.jsonObject(with: JSONBody(value).encode(), options: .fragmentsAllowed)
            let theirs = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value), options: .fragmentsAllowed)
            #expect((ours as? NSObject) == (theirs as? NSObject))
        }
    }

    @Test("nil members are omitted, with and without a JSONEncoder")
    func absentMembers() throws {
        struct User: Encodable, Sendable { var id = 1, name: String? }
        let parameters: Parameters = ["user": User()]
        #expect(String(decoding: try JSONBody(parameters).encode(), as: UTF8.self) == #"{"user":{"id":1}}"#)
        #expect(
            String(decoding: try JSONBody(parameters, encoder: JSONEncoder()).encode(), as: UTF8.self)
                == #"{"user":{"id":1}}"#)
    }
}

/// A class that encodes its parent's members the way the compiler does.
private class Parent: Encodable, @unchecked Sendable {
    let id = 1
}

private final class Child: Parent, @unchecked Sendable {
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

private struct Name: CodingKey {
    let stringValue: String
    let intValue: Int? = nil
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension JSONDecoder {
    fileprivate static var iso8601: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}

/// A value with every kind of container and scalar.
private struct Everything: Codable, Equatable, Sendable {
    enum Kind: String, Codable, Sendable { case one, two }
    indirect enum Shape: Codable, Equatable, Sendable { case dot, group([Shape], name: String) }
    struct Inner: Codable, Equatable, Sendable { var matrix: [[Int]], map: [String: Double?], none: Int? }

    var text = "a\nb"
    var flag = true
    var small: Int8 = -8
    var big = UInt64.max
    var ratio: Float = 0.25
    var kind = Kind.two
    var when = Date(timeIntervalSince1970: 1_700_000_000)
    var bytes = Data([0, 255, 62, 63])
    var link = URL(text: "https://h/a?b=c")
    var id = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!
    var amount = Decimal(string: "0.10")!
    var inner = Inner(matrix: [[], [1], [2, 3]], map: ["x": 1.5, "y": nil], none: nil)
    var shape = Shape.group([.dot, .group([], name: "in")], name: "out")
    var byNumber = [3: "c", 1: "a"]
    var pair: [Kind: Int] = [.one: 1]
    var unit = CGPoint(x: 1, y: 2.5)

    static let sample = Everything()
}
