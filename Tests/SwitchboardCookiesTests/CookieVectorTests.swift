import Foundation
import Testing

@testable import Switchboard
import SwitchboardTestSupport
@testable import SwitchboardCookies

@Suite(.timeLimit(.minutes(10)))
struct CookieVectorTests {
    /// The path of the report, set by `scripts/oracles/cookies`. Nil otherwise.
    private let report = ProcessInfo.processInfo.environment["SWITCHBOARD_COOKIES"]

    @Test("stores and sends cookies as RFC 6265 specifies", arguments: CookieVector.rfc6265)
    func standard(vector: CookieVector) async throws {
        #expect(try await vector.run() == vector.expected)
    }

    @Test("the 222 vectors of http-state pass, but for known deviations", .vectors("http-state/parser.json"))
    func vectors() async throws {
        let vectors = try CookieVector.all()
        #expect(vectors.count == 222)
        #expect(Set(vectors.map(\.test)).count == 222)
        var failed: [String: String] = [:]
        for vector in vectors {
            let sent = try await vector.run()
            guard sent != vector.expected else { continue }
            failed[vector.test] = "expected \(vector.expected ?? "none"), sent \(sent ?? "none")"
        }
        var lines = ["\(vectors.count - failed.count) of \(vectors.count) passed"]
        for (test, what) in failed.sorted(by: { $0.key < $1.key }) {
            lines.append("\(test): \(CookieVector.deviations[test] ?? "NOT KNOWN: \(what)")")
        }
        for test in CookieVector.deviations.keys.sorted() where failed[test] == nil {
            lines.append("\(test): a known deviation, but it passes")
        }
        if let report { try lines.joined(separator: "\n").write(toFile: report, atomically: true, encoding: .utf8) }
        #expect(Set(failed.keys) == Set(CookieVector.deviations.keys), "\(lines.joined(separator: "\n"))")
    }

    private struct DateVector: Decodable {
        let test: String
        let expected: String?
    }

    @Test(
        "parses the 70 dates of http-state", .vectors("http-state/examples.json"),
        .vectors("http-state/bsd-examples.json"), arguments: [("examples", 15), ("bsd-examples", 55)])
    func dates(file: String, count: Int) throws {
        let vectors = try JSONDecoder().decode([DateVector].self, from: CookieVector.file(file))
        #expect(vectors.count == count)
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        for vector in vectors {
            let shown = CookieDate.parse(vector.test).map(formatter.string)
            #expect(shown == vector.expected, "\(vector.test)")
        }
    }

    @Test(
        "impossible dates are nil (RFC 6265 §5.1.1)",
        arguments: [
            "29 Feb 2011 00:00:00", "31 Apr 2012 00:00:00", "0 Jan 2012 00:00:00", "1 Jan 1600 00:00:00",
            "1 Jan 2012 24:00:00", "1 Jan 2012 00:60:00", "1 Jan 2012 00:00:60", "1 2012 00:00:00", "Jan 2012 00:00:00",
            "1 Jan 00:00:00", "1 Jan 2012", "", "99999999999999999999 Jan 2012 00:00:00", "1 Jan 2012 000:00:00",
        ])
    func noDates(text: String) {
        #expect(CookieDate.parse(text) == nil)
    }

    @Test(
        "parses leap days, the epoch and two-digit years (RFC 6265 §5.1.1)",
        arguments: [
            // Seconds by `date -u -d ... +%s`.
            ("29 Feb 2012 12:00:00", 1_330_516_800), ("29 Feb 2000 00:00:00", 951_782_400), ("1 Jan 1970 00:00:00", 0),
            ("31 Dec 1969 23:59:59", -1), ("1 Jan 70 00:00:01", 1), ("1 Jan 69 00:00:00", 3_124_224_000),
            ("31 Dec 9999 23:59:59", 253_402_300_799), ("1 Jan 1601 00:00:00", -11_644_473_600),
            ("1 mar 2012 1:2:3x", 1_330_563_723),
            // The three forms of RFC 9110 §5.6.7, and other orders and delimiters.
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("1994 8:49:37 november 6th", 784_111_777),
            (#"6;Nov!1994"08:49:37"#, 784_111_777), ("6 Nov 1994 08:49:37 PST 7 Dec 1995 1:1:1", 784_111_777),
        ])
    func someDates(text: String, seconds: Int) {
        #expect(CookieDate.parse(text) == Date(timeIntervalSince1970: Double(seconds)))
    }
}
