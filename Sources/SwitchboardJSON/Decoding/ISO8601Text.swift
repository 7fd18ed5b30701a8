import Foundation

/// Parses a date and time with a time zone (ISO 8601, [RFC 3339](https://www.rfc-editor.org/rfc/rfc3339)).
enum ISO8601Text {
    /// Reads `yyyy-MM-ddTHH:mm:ss`, an optional fraction, and `Z`, `±HH`, `±HHmm` or `±HH:mm`. Nil for anything else.
    ///
    /// `T` and `Z` may be lower case. Days before 1582-10-15 follow the Julian calendar, as in Foundation. Second 60 is
    /// the first of the next minute.
    static func date(_ text: UnsafeBufferPointer<UInt8>) -> Date? {
        guard text.count >= 20, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10] | 0x20 == UInt8(ascii: "t"), text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":")
        else { return nil }
        let century = two(text, 0)
        let yearOfCentury = two(text, 2)
        let (month, day) = (two(text, 5), two(text, 8))
        let (hour, minute, second) = (two(text, 11), two(text, 14), two(text, 17))
        guard century < 100, yearOfCentury < 100, hour < 24, minute < 60, second <= 60,
            let days = days(century * 100 + yearOfCentury, month, day)
        else { return nil }
        var index = 19
        var fraction = 0.0
        if text[index] == UInt8(ascii: ".") {
            guard let end = readFraction(text, &fraction) else { return nil }
            index = end
        }
        guard let offset = offset(text, index) else { return nil }
        // A `Double` represents all of this exactly, even where an `Int` has 32 bits.
        let midnight = Double(days) * 86_400 - 978_307_200
        let seconds = midnight + Double(hour * 3_600 + minute * 60 + second - offset)
        return Date(timeIntervalSinceReferenceDate: seconds + fraction)
    }

    /// Returns the value of two digits, or at least 100 when one is not a digit.
    @inline(__always)
    private static func two(_ text: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int {
        let (tens, ones) = (text[index] &- UInt8(ascii: "0"), text[index + 1] &- UInt8(ascii: "0"))
        return tens < 10 && ones < 10 ? Int(tens) * 10 + Int(ones) : 1_000
    }

    /// Returns the days since 1970-01-01, or nil when the date does not exist.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int? {
        let isJulian = year < 1582 || year == 1582 && (month < 10 || month == 10 && day < 15)
        guard month >= 1, month <= 12, day >= 1, day <= 31 else { return nil }
        let isLeap = year % 4 == 0 && (isJulian || year % 100 != 0 || year % 400 == 0)
        if month == 2 {
            guard day <= (isLeap ? 29 : 28) else { return nil }
        } else if day == 31, month == 4 || month == 6 || month == 9 || month == 11 {
            return nil
        }
        // The year begins in March, so that the leap day is its last day.
        let marchYear = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = 365 * marchYear + (marchYear >> 2) + dayOfYear - 719_468
        return isJulian ? days - 2 : days - marchYear / 100 + marchYear / 400
    }

    /// Reads the digits after the point at index 19. Returns the index after them, or nil without a digit.
    private static func readFraction(_ text: UnsafeBufferPointer<UInt8>, _ fraction: inout Double) -> Int? {
        var index = 20
        var value = 0.0
        var scale = 1.0
        while index < text.count, text[index] &- UInt8(ascii: "0") < 10 {
            // A `Double` represents 15 digits exactly.
            if scale < 1e15 {
                value = value * 10 + Double(text[index] &- UInt8(ascii: "0"))
                scale *= 10
            }
            index += 1
        }
        fraction = value / scale
        return index > 20 ? index : nil
    }

    /// Returns the time zone's offset in seconds east of UTC, or nil when the rest of the text is not a time zone.
    private static func offset(_ text: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int? {
        let rest = text.count - index
        guard rest >= 1 else { return nil }
        let sign = text[index]
        if sign | 0x20 == UInt8(ascii: "z") { return rest == 1 ? 0 : nil }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), rest >= 3 else { return nil }
        let hours = two(text, index + 1)
        var minutes = 0
        switch rest {
        case 3: break
        case 5: minutes = two(text, index + 3)
        case 6 where text[index + 3] == UInt8(ascii: ":"): minutes = two(text, index + 4)
        default: return nil
        }
        guard hours < 24, minutes < 60 else { return nil }
        let seconds = hours * 3_600 + minutes * 60
        return sign == UInt8(ascii: "-") ? -seconds : seconds
    }
}
