import Foundation
import SwitchboardJSON
import SwitchboardTestSupport
import Testing

struct StrategyTests {
    private func iso(_ text: String) -> Date? {
        var decoder = FastJSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try? decoder.decode(Date.self, from: Data("\"\(text)\"".utf8))
    }

    @Test(
        "an ISO 8601 date decodes as Foundation parses it",
        arguments: [
            "2024-01-02T03:04:05Z", "2024-02-29T23:59:59Z", "2000-02-29T00:00:00Z", "1970-01-01T00:00:00Z",
            "1969-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "1500-02-29T12:00:00Z", "1582-10-04T00:00:00Z",
            "1582-10-15T00:00:00Z", "1583-01-01T00:00:00Z", "1900-02-28T00:00:00Z", "9999-12-31T23:59:59Z",
            "2024-01-02T03:04:05+01:00", "2024-01-02T03:04:05-0730", "2024-01-02T03:04:05+14", "2016-12-31T23:59:60Z",
        ])
    func dates(text: String) throws {
        #expect(try iso(text) == Date.ISO8601FormatStyle().parse(text))
        // The same text with escapes.
        #expect(try iso(text.replacingOccurrences(of: "-", with: "\\u002d")) == Date.ISO8601FormatStyle().parse(text))
    }

    @Test("random dates of 2,000 years decode as in Foundation's calendar")
    func days() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2_000 {
            let date = Date(
                timeIntervalSince1970: Double(Int.random(in: -62_000_000_000...7_000_000_000, using: &random)))
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
            let text = String(
                format: "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0,
                parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0)
            #expect(iso(text) == date, "\(text)")
        }
    }

    @Test(
        "a fraction of a second is kept", arguments: ["5.5Z", "5.123Z", "5.999999+01:00", "5.123456789-0730", "5.000Z"])
    func fractions(seconds: String) throws {
        let text = "2024-01-02T03:04:0" + seconds
        let expected = try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)
        let found = try #require(iso(text))
        #expect(abs(found.timeIntervalSince(expected)) < 1e-6)
    }

    @Test(
        "the T and Z of a date may be lower case (RFC 3339 §5.6)",
        arguments: [
            "2024-01-02T03:04:05z", "2024-01-02t03:04:05Z", "2024-01-02t03:04:05.0z", "2024-01-02t04:04:05+01:00",
        ])
    func lowerCase(text: String) {
        #expect(iso(text) == Date(timeIntervalSince1970: 1_704_164_645))
    }

    @Test(
        "a date that does not exist or is not ISO 8601 throws",
        arguments: [
            "", "2024-02-30T00:00:00Z", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2024-04-31T00:00:00Z",
            "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z", "2024-01-00T00:00:00Z", "2024-01-01T24:00:00Z",
            "2024-01-01T00:60:00Z", "2024-01-01T00:00:61Z", "2024-01-01T00:00:00", "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00:00.5", "2024-01-01T00:00:00Zx", "2024-01-01 00:00:00Z", "2024-01-01T00:00:00+1",
            "2024-01-01T00:00:00+24:00", "2024-01-01T00:00:00+00:60", "2024-01-01T00:00:00+00:0", "2024-1-1T00:00:00Z",
            "24-01-01T00:00:00Z   ", "2024-01-0aT00:00:00Z", "2024-01-01T00:00:00GMT",
        ])
    func noDates(text: String) {
        #expect(iso(text) == nil)
    }

    @Test("each date strategy reads dates in its format")
    func dateStrategies() throws {
        func decode(_ text: String, _ strategy: FastJSONDecoder.DateDecodingStrategy) -> Date? {
            var decoder = FastJSONDecoder()
            decoder.dateDecodingStrategy = strategy
            return try? decoder.decode([String: Date].self, from: Data("{\"a\":\(text)}".utf8))["a"]
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "dd.MM.yyyy"
        #expect(decode("12.5", .deferredToDate) == Date(timeIntervalSinceReferenceDate: 12.5))
        #expect(decode("12.5", .secondsSince1970) == Date(timeIntervalSince1970: 12.5))
        #expect(decode("12500", .millisecondsSince1970) == Date(timeIntervalSince1970: 12.5))
        #expect(decode("12.5", .iso8601OrDeferred) == Date(timeIntervalSinceReferenceDate: 12.5))
        #expect(decode("\"2001-01-01T00:00:12Z\"", .iso8601OrDeferred) == Date(timeIntervalSinceReferenceDate: 12))
        #expect(decode("\"02.01.2001\"", .formatted(formatter)) == Date(timeIntervalSinceReferenceDate: 86_400))
        #expect(decode("\"2001-01-02\"", .formatted(formatter)) == nil)
        #expect(
            decode("[7]", .custom { Date(timeIntervalSince1970: try [Double](from: $0)[0]) })
                == Date(timeIntervalSince1970: 7))
        #expect(decode("12.5", .iso8601) == nil)
        #expect(decode("null", .iso8601) == nil)
    }

    @Test("data decodes from Base64, an array of bytes or a closure")
    func dataStrategies() throws {
        func decode(_ text: String, _ strategy: FastJSONDecoder.DataDecodingStrategy) -> Data? {
            var decoder = FastJSONDecoder()
            decoder.dataDecodingStrategy = strategy
            return try? decoder.decode([Data].self, from: Data("[\(text)]".utf8)).first
        }
        #expect(decode("\"AQL/\"", .base64) == Data([1, 2, 255]))
        #expect(decode("\"AQ==\"", .base64) == Data([1]))
        #expect(decode("\"AQ\"", .base64) == nil)
        #expect(decode("\"A Q==\"", .base64) == nil)
        #expect(decode("[1,2,255]", .deferredToData) == Data([1, 2, 255]))
        #expect(decode("[256]", .deferredToData) == nil)
        #expect(decode("\"hi\"", .custom { Data(try String(from: $0).utf8) }) == Data("hi".utf8))
    }

    @Test("strings for infinity and NaN decode only with their strategy")
    func nonConformingFloats() throws {
        var decoder = FastJSONDecoder()
        let text = Data(#"["inf","-inf","nan",1]"#.utf8)
        #expect(throws: DecodingError.self) { try decoder.decode([Double].self, from: text) }
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        #expect(try decoder.decode([Double].self, from: text).description == "[inf, -inf, nan, 1.0]")
        #expect(try decoder.decode([Float].self, from: text).description == "[inf, -inf, nan, 1.0]")
        #expect(throws: DecodingError.self) { try decoder.decode([Double].self, from: Data(#"["x"]"#.utf8)) }
        #expect(throws: DecodingError.self) { try decoder.decode([Double].self, from: Data("[1e400]".utf8)) }
    }

    struct Names: Decodable, Equatable {
        let names: [String]

        init(from decoder: any Decoder) throws {
            names = try decoder.container(keyedBy: ContainerDecodingTests.Name.self).allKeys.map(\.stringValue)
        }
    }

    @Test(
        "a snake-case name is converted as by JSONDecoder",
        arguments: [
            "foo_bar", "_", "__", "", "_a", "a_", "a_b_c", "FOO_BAR", "Foo_Bar", "foo__bar", "__foo_bar__", "fooBar",
            "FOO",
            "a_3d_x2y", "foo-bar_baz-qux", "foo_b.c", "x_o'neil", "a_b c", "_a_B_", "a_ß", "é_été", "foo_1bar",
            "a_\\u0062",
            "\\u005fa_b", "日本_語",
        ])
    func snakeCase(name: String) throws {
        let theirs = JSONDecoder()
        theirs.keyDecodingStrategy = .convertFromSnakeCase
        var ours = FastJSONDecoder()
        ours.keyDecodingStrategy = .convertFromSnakeCase
        let text = Data("{\"\(name)\":1}".utf8)
        #expect(try ours.decode(Names.self, from: text) == theirs.decode(Names.self, from: text))
        #expect(try ours.decode([String: Int].self, from: text) == theirs.decode([String: Int].self, from: text))
    }

    struct Person: Decodable, Equatable {
        var firstName: String
        var lastName: String?
        var scores: [String: [Inner]]

        struct Inner: Decodable, Equatable {
            var highScore: Int
        }
    }

    @Test("key strategies convert names of objects but not of dictionaries")
    func keyStrategies() throws {
        let text = Data(
            #"{"scores":{"a_b":[{"high_score":1}]},"first_name":"A","firstName":"B","last_name":null}"#.utf8)
        let custom: @Sendable ([any CodingKey]) -> any CodingKey = { path in
            path.last?.stringValue == "first_name" && path.count == 1
                ? ContainerDecodingTests.Name("firstName")
                : ContainerDecodingTests.Name(
                    path.last?.stringValue == "high_score" && path.count == 4 ? "highScore" : "-")
        }
        let theirs = JSONDecoder()
        var ours = FastJSONDecoder()
        theirs.keyDecodingStrategy = .convertFromSnakeCase
        ours.keyDecodingStrategy = .convertFromSnakeCase
        let expected = Person(firstName: "A", lastName: nil, scores: ["a_b": [.init(highScore: 1)]])
        #expect(try theirs.decode(Person.self, from: text) == expected)
        #expect(try ours.decode(Person.self, from: text) == expected)
        theirs.keyDecodingStrategy = .custom { custom($0.last?.stringValue == "scores" ? [] : $0) }
        ours.keyDecodingStrategy = .custom {
            $0.last?.stringValue == "scores" ? ContainerDecodingTests.Name("scores") : custom($0)
        }
        #expect(try ours.decode(Person.self, from: text) == expected)
    }

    @Test("an error has the path with converted names and the position")
    func errorPath() throws {
        var decoder = FastJSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let text = "{\"first_name\":\"A\",\n \"scores\":{\"a_b\":[{\"high_score\":1},{\"high_score\":\"x\"}]}}"
        let error = #expect(throws: DecodingError.self) { try decoder.decode(Person.self, from: Data(text.utf8)) }
        guard case .typeMismatch(_, let context) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let path: [any CodingKey] = context.codingPath
        #expect(path.map(\.stringValue) == ["scores", "a_b", "Index 1", "highScore"])
        #expect(
            context.debugDescription
                == "Expected to decode Int but found a string instead, at line 2, column 50 (byte 68).")
    }
}
