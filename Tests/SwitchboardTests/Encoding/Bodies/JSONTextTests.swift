import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// The text of ``JSONBody``, read back by Foundation's parser or compared with Python's `json.dumps`.
struct JSONTextTests {
    private func text(_ value: some Encodable & Sendable) throws -> String {
        String(decoding: try JSONBody(value).encode(), as: UTF8.self)
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

    @Test("another encoder gets every digit of a number, and a double as a double", .requirement("S1.4"))
    func foreignEncoders() throws {
        let decimal = try #require(Decimal(string: "12345678901234567.89"))
        let integer = ParameterValue.number("170141183460469231731687303715884105727")
        let numbers: ParameterValue = [decimal, integer, 0.1]
        #expect(
            String(decoding: try JSONBody(numbers, encoder: JSONEncoder()).encode(), as: UTF8.self)
                == "[12345678901234567.89,170141183460469231731687303715884105727,0.1]")
        // A property list has a dictionary for a `Decimal`.
        let sum = 0.1 + 0.2
        let list = try PropertyListEncoder().encode(["sum": sum] as Parameters)
        #expect(try PropertyListDecoder().decode([String: Double].self, from: list) == ["sum": sum])
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
