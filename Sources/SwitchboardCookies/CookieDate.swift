import Switchboard
import SwitchboardPlatform
import Foundation
import SwitchboardText

/// Parses the dates of cookies with the algorithm of [RFC 6265
/// §5.1.1](https://www.rfc-editor.org/rfc/rfc6265#section-5.1.1), which accepts almost any text with a time, a day, a
/// month and a year. It ignores time zones and reads every date as UTC.
enum CookieDate {
    /// Returns the date, or nil for text that is not a date.
    static func parse(_ text: String) -> Date? {
        var time: DayTime?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.utf8.split(whereSeparator: \.isDateDelimiter) {
            if time == nil, let found = Self.time(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = Self.month(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1_900 }
        if (0...69).contains(year) { year += 2_000 }
        guard year >= 1_601, time.second <= 59 else { return nil }
        return Date(utcYear: year, month: month, day: day, time: time)
    }

    /// Parses `h:m:s`, one or two digits each. Text without a leading digit may follow.
    private static func time(_ token: Substring.UTF8View) -> DayTime? {
        let parts = token.split(separator: .colon, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(parts[0], digits: 1...2, alone: true),
            let minute = number(parts[1], digits: 1...2, alone: true), let second = number(parts[2], digits: 1...2)
        else { return nil }
        return DayTime(hour: hour, minute: minute, second: second)
    }

    /// Returns the number at the start of a token, or nil for another count of digits. With `alone`, nothing may follow
    /// the digits.
    private static func number(
        _ token: Substring.UTF8View, digits: ClosedRange<Int>, alone: Bool = false
    ) -> Int? {
        let text = token.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard digits.contains(text.count), !alone || text.count == token.count else { return nil }
        return Int(String(decoding: text, as: UTF8.self))
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    private static func month(_ token: Substring.UTF8View) -> Int? {
        let start = token.prefix(3).map(\.lowercased)
        return months.firstIndex { $0.utf8.elementsEqual(start) }.map { $0 + 1 }
    }
}

extension UInt8 {
    /// Whether the byte is a `delimiter` of RFC 6265 §5.1.1.
    fileprivate var isDateDelimiter: Bool {
        switch self {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}
