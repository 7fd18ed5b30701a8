import Foundation
import SwitchboardJSON
import Testing

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

    /// Formats a date as the core's `DateEncoding.iso8601` does.
    private func reference(_ date: Date) -> String {
        let milliseconds = (date.timeIntervalSinceReferenceDate * 1000).rounded()
        let hasFraction = milliseconds.truncatingRemainder(dividingBy: 1000) != 0
        let rounded = Date(timeIntervalSinceReferenceDate: (milliseconds + 0.5) / 1000)
        return rounded.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction))
    }

    @Test("dates of all years are written as by Foundation's format styles")
    func allYears() throws {
        var random = SeededRandom(3339)
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
