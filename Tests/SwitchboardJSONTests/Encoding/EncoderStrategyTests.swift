import Foundation
import SwitchboardJSON
import SwitchboardTestSupport
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
        var random = SeededGenerator(seed: 12)
        for _ in 0..<200 {
            let names = Set((0..<Int.random(in: 0..<90, using: &random)).map { _ in random.jsonText(upTo: 6) })
                .shuffled(
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

struct EncoderDateTests {
    // RFC 3339 §5.6, §5.8.
    @Test(
        "a date is RFC 3339 text, with milliseconds unless they are zero",
        arguments: [
            (0, "2001-01-01T00:00:00Z"), (-978_307_200, "1970-01-01T00:00:00Z"), (0.25, "2001-01-01T00:00:00.250Z"),
            (-0.5, "2000-12-31T23:59:59.500Z"), (0.000_4, "2001-01-01T00:00:00Z"),
            (0.000_6, "2001-01-01T00:00:00.001Z"),
            (0.999_6, "2001-01-01T00:00:01Z"), (-0.000_4, "2001-01-01T00:00:00Z"), (94_608_000, "2004-01-01T00:00:00Z"),
            (99_705_600, "2004-02-29T00:00:00Z"), (-26_784_001, "2000-02-25T23:59:59Z"),
            (252_423_993_599, "9999-12-31T23:59:59Z"), (0.123, "2001-01-01T00:00:00.123Z"),
        ] as [(Double, String)])
    func text(seconds: Double, expected: String) throws {
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        #expect(try fastText(date) { $0.dateEncodingStrategy = .iso8601WithMilliseconds } == "\"\(expected)\"")
    }

    @Test("a date that is rounded beyond the year 9999 is an error")
    func afterYear9999() throws {
        let date = Date(timeIntervalSinceReferenceDate: 252_423_993_599.999_6)
        #expect(throws: EncodingError.self) {
            try fastText(date) { $0.dateEncodingStrategy = .iso8601WithMilliseconds }
        }
    }

    /// Formats a date as the core's `URLEncodedFormEncoder.DateEncoding.iso8601` does.
    private func reference(_ date: Date) -> String {
        let milliseconds = (date.timeIntervalSinceReferenceDate * 1000).rounded()
        let hasFraction = milliseconds.truncatingRemainder(dividingBy: 1000) != 0
        let rounded = Date(timeIntervalSinceReferenceDate: (milliseconds + 0.5) / 1000)
        return rounded.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction))
    }

    @Test("dates of all years are written as by Foundation's format styles")
    func allYears() throws {
        var random = SeededGenerator(seed: 3339)
        var seconds: [Double] = [
            -13_197_600_000, -13_197_600_000.5, -13_197_600_001, -13_197_599_999.999, -62_135_596_800,
        ]
        seconds += (0..<3_000).map { _ in Double.random(in: -63_113_904_000..<252_423_993_599, using: &random) }
        seconds += (0..<1_000).map { _ in Double(Int.random(in: -20_000_000_000..<252_423_993_599, using: &random)) }
        seconds += (0..<1_000).map { _ in Double(Int.random(in: -2_000_000_000..<2_000_000_000, using: &random)) / 1000
        }
        seconds += (-1_300..<1_300).map { Double($0) * 86_400 * 28 - 0.001 }
        let dates = seconds.map(Date.init(timeIntervalSinceReferenceDate:))
        let fine = try fastText(dates) { $0.dateEncodingStrategy = .iso8601WithMilliseconds }
        #expect(fine == "[" + dates.map { "\"\(reference($0))\"" }.joined(separator: ",") + "]")
        let whole = try fastText(dates) { $0.dateEncodingStrategy = .iso8601 }
        #expect(try whole == foundationText(dates) { $0.dateEncodingStrategy = .iso8601 })
    }

    @Test("the default format is that of JSONEncoder, and a decoder reads it")
    func standard() throws {
        let dates = [Date(timeIntervalSince1970: 1), Date(timeIntervalSinceReferenceDate: 0.25)]
        #expect(try FastJSONEncoder().encode(dates) == JSONEncoder().encode(dates))
        #expect(try FastJSONDecoder().decode([Date].self, from: FastJSONEncoder().encode(dates)) == dates)
    }
}
