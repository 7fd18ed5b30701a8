import Foundation

/// Parses and writes the dates of header fields ([RFC 9110 §5.6.7](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7)).
///
/// Each of the three formats is matched exactly, but without case, as a cache should ([RFC 9111
/// §4.2](https://www.rfc-editor.org/rfc/rfc9111#section-4.2)). The day of the week must be a valid name, and is not
/// compared with the date.
package enum HTTPDate {
    /// Parses a date.
    ///
    /// - Parameters:
    ///   - text: The field's value.
    ///   - now: The reference time for a year of two digits. The year becomes the latest one for which the date is at
    ///     most 50 years ahead.
    /// - Returns: The date, or nil when the text matches none of the three formats or names an invalid day.
    package static func parse(_ text: String, now: Date = Date()) -> Date? {
        let text = text.utf8.map(\.lowercased)
        return fixdate(text) ?? rfc850(text, now) ?? asctime(text)
    }

    /// Returns a time as `Sun, 06 Nov 1994 08:49:37 GMT`, without the fraction of its second. A time before 1970 or
    /// after 9999 becomes the nearest one within. So does a time after January 2038 on watches whose `time_t` has 32 bits.
    package static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSince1970
        var time = time_t(clamping: Int64(seconds.isNaN ? 0 : max(0, min(seconds, 253_402_300_799))))
        var parts = tm()
        gmtime_r(&time, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (day, month) = (shortDays[(Int(parts.tm_wday) + 6) % 7], months[Int(parts.tm_mon)])
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(two).joined(separator: ":")
        return "\(day.capitalized), \(two(parts.tm_mday)) \(month.capitalized) \(parts.tm_year + 1_900) \(clock) GMT"
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func fixdate(_ text: [UInt8]) -> Date? {
        var scanner = DateScanner(rest: text[...])
        guard scanner.name(of: shortDays) != nil, scanner.skip(", "), let day = scanner.number(2), scanner.skip(" "),
            let month = scanner.name(of: months), scanner.skip(" "), let year = scanner.number(4), scanner.skip(" "),
            let time = scanner.time(), scanner.skip(" gmt"), scanner.rest.isEmpty
        else { return nil }
        return Date(utcYear: year, month: month, day: day, time: time)
    }

    /// Parses `Sunday, 06-Nov-94 08:49:37 GMT`.
    private static func rfc850(_ text: [UInt8], _ now: Date) -> Date? {
        var scanner = DateScanner(rest: text[...])
        guard scanner.name(of: longDays) != nil, scanner.skip(", "), let day = scanner.number(2), scanner.skip("-"),
            let month = scanner.name(of: months), scanner.skip("-"), let digits = scanner.number(2), scanner.skip(" "),
            let time = scanner.time(), scanner.skip(" gmt"), scanner.rest.isEmpty
        else { return nil }
        // The last year that may be within 50 years, whatever the day of the year.
        let average = 31_556_952.0
        let seconds = max(-6e10, min(now.timeIntervalSince1970, 2.5e11))
        let last = (seconds.isNaN ? 1_970 : 1_970 + Int(seconds / average)) + 51
        let year = last - (((last - digits) % 100) + 100) % 100
        for year in [year, year - 100] {
            // 50 years earlier. In a year without the leap day, that is the day after.
            guard let before = Date(utcYear: year - 50, month: month, day: min(day, 28), time: time) else { continue }
            if before.addingTimeInterval(Double(day - min(day, 28)) * 86_400) <= now {
                return Date(utcYear: year, month: month, day: day, time: time)
            }
        }
        return nil
    }

    /// Parses `Sun Nov  6 08:49:37 1994`.
    private static func asctime(_ text: [UInt8]) -> Date? {
        var scanner = DateScanner(rest: text[...])
        guard scanner.name(of: shortDays) != nil, scanner.skip(" "), let month = scanner.name(of: months),
            scanner.skip(" "), let day = scanner.skip(" ") ? scanner.number(1) : scanner.number(2), scanner.skip(" "),
            let time = scanner.time(), scanner.skip(" "), let year = scanner.number(4), scanner.rest.isEmpty
        else { return nil }
        return Date(utcYear: year, month: month, day: day, time: time)
    }

    private static let shortDays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    private static let longDays = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
}

/// Scans the parts of a lower-case date.
private struct DateScanner {
    var rest: ArraySlice<UInt8>

    mutating func skip(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    /// Scans one of the names, and returns its position, counted from 1.
    mutating func name(of names: [String]) -> Int? {
        names.firstIndex { skip($0) }.map { $0 + 1 }
    }

    /// Scans a number with exactly `count` digits.
    mutating func number(_ count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(\.isDigit) else { return nil }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    mutating func time() -> DayTime? {
        guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2) else {
            return nil
        }
        return DayTime(hour: hour, minute: minute, second: second)
    }
}

/// A time of day in the dates of header fields and cookies.
package struct DayTime {
    package var hour: Int
    package var minute: Int
    /// The second. 60 is a leap second.
    package var second: Int

    package init(hour: Int, minute: Int, second: Int) {
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }
}

extension Date {
    /// Creates a time in UTC, in the proleptic Gregorian calendar. Nil if no such day or time exists.
    ///
    /// `timegm` cannot count the days: on Apple's systems it fails for years before 1900, and on watches with a `time_t`
    /// of 32 bits for those after 2037.
    package init?(utcYear year: Int, month: Int, day: Int, time: DayTime) {
        guard (1...9_999).contains(year), (1...12).contains(month),
            (1...Self.days(inMonth: month, of: year)).contains(day), (0...23).contains(time.hour),
            (0...59).contains(time.minute), (0...60).contains(time.second)
        else { return nil }
        let seconds = time.hour * 3_600 + time.minute * 60 + time.second
        self.init(timeIntervalSince1970: Double(Self.daysSince1970(year, month, day)) * 86_400 + Double(seconds))
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the number of days, for years after 0. It counts years from March, so that the leap day is the last one.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let century = year / 100
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return 365 * year + year / 4 - century + century / 4 + dayOfYear - 719_468
    }
}
