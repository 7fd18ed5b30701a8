import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

struct DateEncodingTests {
    private func text(_ encoding: URLEncodedFormEncoder.DateEncoding, _ date: Date) throws -> String? {
        let form = try URLEncodedFormEncoder(dateEncoding: encoding).encode(["d": date] as Parameters)
        return FormBody.decode(form).first?.value
    }

    // Expected: python3, datetime.fromtimestamp(seconds, UTC).isoformat(timespec=...).
    @Test(
        "ISO 8601 has milliseconds only when they are not zero",
        arguments: [
            (0.0, "1970-01-01T00:00:00Z"), (978_307_200, "2001-01-01T00:00:00Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"),
            (1_700_000_000.5, "2023-11-14T22:13:20.500Z"), (1_700_000_000.123, "2023-11-14T22:13:20.123Z"),
            (-0.5, "1969-12-31T23:59:59.500Z"), (-12_212_553_600, "1583-01-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
        ])
    func iso8601(seconds: Double, expected: String) throws {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(try text(.iso8601, date) == expected)
        #expect(String(decoding: try JSONBody(["d": date]).encode(), as: UTF8.self) == #"{"d":"\#(expected)"}"#)
        #expect(String(decoding: try JSONBody([date]).encode(), as: UTF8.self) == #"["\#(expected)"]"#)
    }

    @Test(
        "fractions round to the nearest millisecond, carrying into seconds",
        arguments: [
            (0.9996, "2001-01-01T00:00:01Z"), (0.0004, "2001-01-01T00:00:00Z"), (0.1239, "2001-01-01T00:00:00.124Z"),
            (0.1231, "2001-01-01T00:00:00.123Z"), (-0.0004, "2001-01-01T00:00:00Z"), (59.9999, "2001-01-01T00:01:00Z"),
        ])
    func rounding(seconds: Double, expected: String) throws {
        #expect(try text(.iso8601, Date(timeIntervalSinceReferenceDate: seconds)) == expected)
    }

    @Test("a millisecond survives at any time of this century")
    func everyMillisecond() throws {
        var random = SeededGenerator(seed: 8601)
        var wrong: [Int: String] = [:]
        for _ in 0..<2_000 {
            let milliseconds = Int.random(in: 0..<4_102_444_800_000, using: &random)
            let written = try #require(try text(.iso8601, Date(timeIntervalSince1970: Double(milliseconds) / 1000)))
            let fraction = written.contains(".") ? Int(written.suffix(4).dropLast()) : 0
            if fraction != milliseconds % 1000 { wrong[milliseconds] = written }
        }
        #expect(wrong.isEmpty)
    }

    @Test("dates become seconds or milliseconds, since 1970 or since 2001")
    func numbers() throws {
        let date = Date(timeIntervalSince1970: 978_307_201.5)  // 2001-01-01T00:00:01.5Z
        #expect(try text(.secondsSince1970, date) == "978307201.5")
        #expect(try text(.millisecondsSince1970, date) == "978307201500")
        #expect(try text(.deferredToDate, date) == "1.5")
        var draft = NetworkRequest(.post, nil)
        try JSONParameterEncoder(dateEncoding: .secondsSince1970).encode(["d": date], into: &draft)
        #expect(String(decoding: try draft.body.encode(), as: UTF8.self) == #"{"d":978307201.5}"#)
    }

    @Test("dates become a formatter's text or a custom text")
    func texts() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "dd/MM/yyyy HH:mm"
        #expect(try text(.formatted(formatter), Date(timeIntervalSince1970: 0)) == "01/01/1970 00:00")
        #expect(try text(.custom { _ in "a&b" }, Date()) == "a&b")
    }

    @Test(
        "a date that is not finite or needs a fifth year digit is refused",
        arguments: [
            Double.nan, .infinity, -.infinity, 1e300, -1e300, 1e12, -1e12, 252_423_993_599.999_6,
        ])
    func impossible(seconds: Double) {
        let parameters: Parameters = ["when": Date(timeIntervalSinceReferenceDate: seconds)]
        let errors = [
            #expect(throws: NetworkError.self) { try URLEncodedFormEncoder().encode(parameters) },
            #expect(throws: NetworkError.self) { try JSONBody(parameters).encode() },
        ]
        #expect(errors.map { $0?.code } == [.encodingFailed, .encodingFailed])
        #expect(errors.first??.reason?.contains("when") == true)
    }

    @Test("a finite date whose milliseconds are infinite is refused")
    func infiniteMilliseconds() {
        let parameters: Parameters = ["since": Date(timeIntervalSinceReferenceDate: 1e306)]
        let errors = [
            #expect(throws: NetworkError.self) {
                try URLEncodedFormEncoder(dateEncoding: .millisecondsSince1970).encode(parameters)
            },
            #expect(throws: NetworkError.self) {
                var request = NetworkRequest(.post, nil)
                try JSONParameterEncoder(dateEncoding: .millisecondsSince1970).encode(parameters, into: &request)
            },
        ]
        #expect(errors.map { $0?.code } == [.encodingFailed, .encodingFailed])
        #expect(errors.allSatisfy { $0?.reason?.contains("since") == true })
    }

    @Test("a custom encoding's error is encodingFailed and names the parameter")
    func customThrows() {
        struct Refusal: Error {}
        let encoder = URLEncodedFormEncoder(dateEncoding: .custom { _ in throw Refusal() })
        let error = #expect(throws: NetworkError.self) { try encoder.encode(["when": Date()] as Parameters) }
        #expect(error?.code == .encodingFailed)
        #expect(error?.reason?.contains("when") == true)
        #expect(error?.underlying is Refusal)
    }
}
