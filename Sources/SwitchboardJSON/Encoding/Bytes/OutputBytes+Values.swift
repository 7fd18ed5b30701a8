import Foundation

extension OutputBytes {
    /// Appends a UUID as its `uuidString` in quotation marks.
    mutating func append(_ value: UUID) {
        reserve(38)
        append(UInt8(ascii: "\""))
        withUnsafeBytes(of: value.uuid) { bytes in
            for (index, byte) in bytes.enumerated() {
                if index == 4 || index == 6 || index == 8 || index == 10 { append(UInt8(ascii: "-")) }
                append(Self.hexDigit(byte >> 4))
                append(Self.hexDigit(byte & 15))
            }
        }
        append(UInt8(ascii: "\""))
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    /// Appends Base64 (RFC 4648 §4) in quotation marks.
    mutating func appendBase64(_ data: Data, escapesSlashes: Bool) {
        // Base64 text may contain slashes.
        append(data.base64EncodedString(), escapesSlashes: escapesSlashes)
    }

    /// Appends a timestamp (RFC 3339 §5.6) in quotation marks, with `milliseconds` unless they are nil.
    ///
    /// The seconds count from 1970 and must lie in the years 1 to 9999 of the Gregorian calendar.
    mutating func appendDate(seconds: Int64, milliseconds: Int?) {
        var days = seconds / 86_400
        var rest = Int(seconds % 86_400)
        if rest < 0 {
            rest += 86_400
            days -= 1
        }
        // Days since March 1 of the year 0, so that a leap day ends its year. 146,097 days are 400 years.
        let shifted = Int(days) + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let year = era * 400 + yearOfEra + (month < 10 ? 0 : 1)
        append(UInt8(ascii: "\""))
        append(year, width: 4)
        appendPart("-", month < 10 ? month + 3 : month - 9)
        appendPart("-", dayOfYear - (153 * month + 2) / 5 + 1)
        appendPart("T", rest / 3_600)
        appendPart(":", rest / 60 % 60)
        appendPart(":", rest % 60)
        if let milliseconds {
            append(UInt8(ascii: "."))
            append(milliseconds, width: 3)
        }
        append("Z\"")
    }

    private mutating func appendPart(_ separator: StaticString, _ value: Int) {
        append(separator)
        append(value, width: 2)
    }
}
