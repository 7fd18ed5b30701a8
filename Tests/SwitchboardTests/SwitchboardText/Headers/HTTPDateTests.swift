import Foundation
import Testing

@testable import Switchboard
import SwitchboardText

/// RFC 9110 §5.6.7. Times are those of `date -u -d TEXT +%s`.
struct HTTPDateTests {
    private static let now = Date(timeIntervalSince1970: 1_767_225_600)  // 2026-01-01

    @Test(
        "parses the three forms of dates in any case (RFC 9110 §5.6.7)",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Wed Nov 16 08:49:37 1994", 784_975_777),
            ("THU, 18 AUG 2050 02:01:18 gMT", 2_544_400_878), ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            // A leap second counts as the next second (RFC 9110 §5.6.7 allows 60).
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ] as [(String, TimeInterval)])
    func forms(text: String, seconds: TimeInterval) {
        #expect(HTTPDate.parse(text, now: Self.now) == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        "writes the first form, in whole seconds from 1970 to 9999",
        arguments: [
            (784_111_777.9, "Sun, 06 Nov 1994 08:49:37 GMT"), (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (-1, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (.nan, "Thu, 01 Jan 1970 00:00:00 GMT"), (1e300, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] as [(TimeInterval, String)])
    func text(seconds: TimeInterval, text: String) {
        #expect(HTTPDate.text(Date(timeIntervalSince1970: seconds)) == text)
    }

    @Test(
        "any other text parses to nil",
        arguments: [
            "", "0", "-1", "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 2050 02:01:18 AEST",
            "Thu, 18 Aug 2050 02:01:18 +0000", "Thu, 18 Aug 2050 02:01:18", "Thu, 18 Aug 50 02:01:18 GMT",
            "Thu 18 Aug 2050 02:01:18 GMT", "Thu, 18  Aug  2050 02:01:18 GMT", "Thu, 18-Aug-2050 02:01:18 GMT",
            "Thu, 18 Aug 2050 02.01.18 GMT", "Thu, 18 Aug 2050 2:01:18 GMT", "Thu, 8 Aug 2050 02:01:18 GMT",
            " Thu, 18 Aug 2050 02:01:18 GMT", "Thu, 18 Aug 2050 02:01:18 GMT ", "18 Aug 2050 02:01:18 GMT",
            "Thu,18 Aug 2050 02:01:18 GMT", "Thu, 18 Aug 2050 24:00:00 GMT", "Thu, 18 Aug 2050 23:60:00 GMT",
            "Thu, 18 Aug 2050 23:59:61 GMT", "Thu, 31 Apr 2050 02:01:18 GMT", "Wed, 29 Feb 2023 02:01:18 GMT",
            "Thu, 00 Aug 2050 02:01:18 GMT", "Thu, 18 Agu 2050 02:01:18 GMT", "Thursday, 18 Aug 2050 02:01:18 GMT",
            "Thu, 18-Aug-50 02:01:18 GMT", "Thursday, 18-Aug-2050 02:01:18 GMT", "Thu Aug 18 02:01:18 50",
            "Thu Aug 8 02:01:18 2050", "Thu Aug 18 02:01:18 2050 GMT", "Xyz, 18 Aug 2050 02:01:18 GMT",
            "Thu, 18 Aug 02050 02:01:18 GMT", "Thu, 18 Aug ２０５０ 02:01:18 GMT", "Thu, +8 Aug 2050 02:01:18 GMT",
            "Thu, 18 Aug 0000 02:01:18 GMT",
        ])
    func others(text: String) {
        #expect(HTTPDate.parse(text, now: Self.now) == nil)
    }

    @Test(
        "a two-digit year is at most 50 years ahead (RFC 9110 §5.6.7)",
        arguments: [
            (1_767_225_600, "Thursday, 18-Aug-50 02:01:18 GMT", 2_544_400_878),  // 2026: 2050
            (1_767_225_600, "Wednesday, 01-Jan-76 00:00:00 GMT", 3_345_062_400),  // 50 years to the second: 2076
            (1_767_225_600, "Thursday, 01-Jan-76 00:00:01 GMT", 189_302_401),  // a second more: 1976
            (1_767_225_600, "Friday, 31-Dec-99 23:59:59 GMT", 946_684_799),  // 1999
            (4_070_908_800, "Thursday, 01-Jan-05 00:00:00 GMT", 4_260_211_200),  // 2099: 2105
            (-2_208_988_800, "Sunday, 06-Nov-94 08:49:37 GMT", -2_371_561_823),  // 1900: 1894
        ] as [(TimeInterval, String, TimeInterval)])
    func centuries(now: TimeInterval, text: String, seconds: TimeInterval) {
        #expect(HTTPDate.parse(text, now: Date(timeIntervalSince1970: now)) == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        "a clock of any value does not trap",
        arguments: [-Double.infinity, .infinity, .nan, 1e300, -1e300, 1e12, -1e12])
    func strangeClocks(now: TimeInterval) {
        _ = HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT", now: Date(timeIntervalSince1970: now))
    }
}
