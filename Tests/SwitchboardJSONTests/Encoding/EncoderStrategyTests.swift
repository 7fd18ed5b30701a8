import Foundation
import SwitchboardJSON
import Testing

/// Compares each strategy's bytes with those of `JSONEncoder`. Members are sorted, because Foundation keeps no order.
struct EncoderStrategyTests {
    private struct Sample: Encodable {
        struct Inner: Encodable {
            var createdAt: Date?, rawBytes: Data, URLPath = "a/b", map = ["someKey": 1, "other": 2]
        }
        enum Shape: Encodable { case dotPoint, lineTo(xAxis: Double, _: Int) }
        var firstName = "a/\"b\"\n"
        var createdAt: Date
        var rawBytes = Data([1, 2, 250])
        var innerValues: [Inner]
        var shapes: [Shape] = [.dotPoint, .lineTo(xAxis: 0.5, 3)]
        var byNumber = [3: "c", 1: "a"]
        var none: Int?
        var emptyList: [Int] = [], emptyMap: [String: Int] = [:]
        var matrix: [[Double]] = [[], [1.5, 2]]
        var texts = ["x", "/"], numbers = [1, 2]

        init(_ date: Date) {
            createdAt = date
            innerValues = [Inner(createdAt: date, rawBytes: Data()), Inner(createdAt: nil, rawBytes: Data([9]))]
        }
    }

    private static let dates: [Date] = [0, 5, 0.25, -0.5, 1_700_000_000.123456, -1e9, 1e10].map(
        Date.init(timeIntervalSince1970:))

    private func same(
        _ value: some Encodable, _ ours: (inout FastJSONEncoder) -> Void, _ theirs: (JSONEncoder) -> Void,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let text = try fastText(value) {
            $0.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            $0.dateEncodingStrategy = .deferredToDate
            ours(&$0)
        }
        #expect(try text == foundationText(value, theirs), sourceLocation: location)
    }

    @Test("date strategies produce Foundation's bytes", arguments: dates)
    func dateStrategies(date: Date) throws {
        let sample = Sample(date)
        try same(sample, { _ in }, { _ in })
        try same(sample, { $0.dateEncodingStrategy = .iso8601 }, { $0.dateEncodingStrategy = .iso8601 })
        try same(
            sample, { $0.dateEncodingStrategy = .secondsSince1970 }, { $0.dateEncodingStrategy = .secondsSince1970 })
        try same(
            sample, { $0.dateEncodingStrategy = .millisecondsSince1970 },
            { $0.dateEncodingStrategy = .millisecondsSince1970 })
        let custom: @Sendable (Date, any Encoder) throws -> Void = { date, encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(date.timeIntervalSince1970, forKey: AnyKey("unixTime"))
        }
        try same(sample, { $0.dateEncodingStrategy = .custom(custom) }, { $0.dateEncodingStrategy = .custom(custom) })
        let empty: @Sendable (Date, any Encoder) throws -> Void = { _, _ in }
        try same(sample, { $0.dateEncodingStrategy = .custom(empty) }, { $0.dateEncodingStrategy = .custom(empty) })
    }

    @Test("the formatted strategy writes the formatter's text")
    func formatted() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "dd/MM/yyyy"
        #expect(
            try fastText([Date(timeIntervalSince1970: 0)]) { $0.dateEncodingStrategy = .formatted(formatter) }
                == #"["01/01/1970"]"#)
    }

    @Test("data strategies produce Foundation's bytes")
    func dataStrategies() throws {
        let sample = Sample(Date(timeIntervalSince1970: 1))
        try same(sample, { $0.dataEncodingStrategy = .deferredToData }, { $0.dataEncodingStrategy = .deferredToData })
        let custom: @Sendable (Data, any Encoder) throws -> Void = { data, encoder in
            var container = encoder.unkeyedContainer()
            for byte in data { try container.encode(String(byte, radix: 16)) }
        }
        try same(sample, { $0.dataEncodingStrategy = .custom(custom) }, { $0.dataEncodingStrategy = .custom(custom) })
        for count in 0...70 {
            let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) })
            try same(data, { _ in }, { _ in })
        }
    }

    @Test("key strategies produce Foundation's bytes")
    func keyStrategies() throws {
        let sample = Sample(Date(timeIntervalSince1970: 1))
        try same(
            sample, { $0.keyEncodingStrategy = .convertToSnakeCase }, { $0.keyEncodingStrategy = .convertToSnakeCase })
        let custom: @Sendable ([any CodingKey]) -> any CodingKey = { path in
            AnyKey(path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ">"))
        }
        try same(sample, { $0.keyEncodingStrategy = .custom(custom) }, { $0.keyEncodingStrategy = .custom(custom) })
        let one: @Sendable ([any CodingKey]) -> any CodingKey = { _ in AnyKey("same") }
        struct Pair: Encodable { var a = 1, b = 2 }
        try same([Pair()], { $0.keyEncodingStrategy = .custom(one) }, { $0.keyEncodingStrategy = .custom(one) })
    }

    @Test(
        "names are converted to snake case as by Foundation",
        arguments: [
            "oneTwoThree", "myURLProperty", "_oneTwoThree_", "a", "", "A", "AB", "ABc", "aB", "URL", "myURL", "a1B2c3",
            "already_snake", "__x__", "éÉclair", "HTTPServer2Name", "x_Y", "aBCdEF", "日本Go", "ǅungla", "with space And",
            "SIMD2x", "iOSApp", "_", "aÀb", "a🌎B", "1A1a",
        ])
    func snakeCase(name: String) throws {
        let value = Encoding { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(1, forKey: AnyKey(name))
        }
        try same(
            value, { $0.keyEncodingStrategy = .convertToSnakeCase }, { $0.keyEncodingStrategy = .convertToSnakeCase })
    }

    @Test("infinity and NaN become the strings of the strategy")
    func nonConforming() throws {
        let values: [Double] = [.infinity, -.infinity, .nan, 1.5]
        let floats: [Float] = [.infinity, -.infinity, .nan, 1.5]
        struct One: Encodable { var x = Double.infinity, y = -Float.infinity, z: Double? = .nan }
        let ours: (inout FastJSONEncoder) -> Void = {
            $0.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: "+inf", negativeInfinity: "-inf", nan: "n\"an")
        }
        let theirs: (JSONEncoder) -> Void = {
            $0.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: "+inf", negativeInfinity: "-inf", nan: "n\"an")
        }
        try same(One(), ours, theirs)
        #expect(try fastText(values, ours) == #"["+inf","-inf","n\"an",1.5]"#)
        #expect(try fastText(floats, ours) == #"["+inf","-inf","n\"an",1.5]"#)
    }

    @Test("pretty printing and escaped slashes produce Foundation's bytes")
    func formatting() throws {
        let sample = Sample(Date(timeIntervalSince1970: 1))
        try same(
            sample, { $0.outputFormatting = [.prettyPrinted, .sortedKeys] },
            { $0.outputFormatting = [.prettyPrinted, .sortedKeys] })
        try same(sample, { $0.outputFormatting = [.sortedKeys] }, { $0.outputFormatting = [.sortedKeys] })
        try same(
            sample, { $0.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes] },
            { $0.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes] })
        for value in [AnyValue([] as [Int]), AnyValue([:] as [String: Int]), AnyValue([[[Int]]]([[]])), AnyValue(5)] {
            try same(value, { $0.outputFormatting = .prettyPrinted }, { $0.outputFormatting = .prettyPrinted })
        }
    }

    @Test("sorted names have Foundation's order for any characters")
    func sortedNames() throws {
        var random = SeededRandom(12)
        for _ in 0..<200 {
            let names = Set((0..<Int.random(in: 0..<90, using: &random)).map { _ in random.text(upTo: 6) }).shuffled(
                using: &random)
            let value = Encoding { encoder in
                var container = encoder.container(keyedBy: AnyKey.self)
                for name in names { try container.encode(name, forKey: AnyKey(name)) }
            }
            try same(value, { _ in }, { _ in })
            try same(Dictionary(uniqueKeysWithValues: names.map { ($0, [$0]) }), { _ in }, { _ in })
        }
    }

    @Test("an encoder has userInfo and the coding path of its value")
    func userInfo() throws {
        let key = try #require(CodingUserInfoKey(rawValue: "unit"))
        let value = Encoding { encoder in
            var container = encoder.singleValueContainer()
            let path = encoder.codingPath.map(\.stringValue).joined(separator: "/")
            try container.encode("\(encoder.userInfo[key] ?? "none") at \(path)")
        }
        #expect(
            try fastText(["a": [value, value]]) { $0.userInfo[key] = "km" }
                == #"{"a":["km at a/Index 0","km at a/Index 1"]}"#)
        #expect(try foundationText(["a": [value]]) { $0.userInfo[key] = "km" } == #"{"a":["km at a/Index 0"]}"#)
    }
}
