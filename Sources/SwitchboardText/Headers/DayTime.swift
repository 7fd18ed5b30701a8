import Foundation

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
    package init?(utcYear year: Int, month: Int, day: Int, time: DayTime) {
        guard year >= 1, (1...12).contains(month), (1...Self.days(inMonth: month, of: year)).contains(day),
            (0...23).contains(time.hour), (0...59).contains(time.minute), (0...60).contains(time.second)
        else { return nil }
        let seconds = time.hour * 3_600 + time.minute * 60 + time.second
        self.init(timeIntervalSince1970: Double(Self.daysSince1970(year, month, day) * 86_400 + seconds))
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
