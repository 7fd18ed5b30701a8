import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardText

/// A parsed `Set-Cookie` field, before the check that its server may set it ([RFC 6265
/// §5.2](https://www.rfc-editor.org/rfc/rfc6265#section-5.2)).
struct SetCookie {
    /// The largest sizes in bytes: of name and value together, and of an attribute's value. A larger cookie is
    /// rejected, and a larger attribute is ignored (RFC 6265bis §5.6).
    static let maximumSize = 4_096, maximumAttribute = 1_024

    let name: String
    let value: String
    var expires: Date?
    /// The lifetime in seconds. Zero or less removes the cookie.
    var maximumAge: Int?
    /// The domain in lower case, without a leading dot or brackets. Nil for the host alone.
    var domain: String?
    /// The path, or nil for the directory of the URL.
    var path: String?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite: StoredCookie.SameSite?

    /// Parses a field. Nil for text without a name (RFC 6265 §5.2) or with control characters (RFC 6265bis §5.6).
    init?(_ text: String) {
        guard !text.utf8.contains(where: \.breaksFieldValue) else { return nil }
        let parts = text.utf8.split(separator: .semicolon, omittingEmptySubsequences: false)
        guard let pair = parts.first, let equals = pair.firstIndex(of: .equals) else { return nil }
        let name = pair[..<equals].trimmedOfBlanks
        let value = pair[pair.index(after: equals)...].trimmedOfBlanks
        guard !name.isEmpty, name.count + value.count <= Self.maximumSize else { return nil }
        self.name = String(decoding: name, as: UTF8.self)
        self.value = String(decoding: value, as: UTF8.self)
        for part in parts.dropFirst() { apply(part) }
    }

    /// Applies an attribute. The last of several equal ones wins. A date or a number that cannot be parsed is ignored.
    /// A path without a leading slash, or an unknown `SameSite`, means the default.
    private mutating func apply(_ part: Substring.UTF8View) {
        let equals = part.firstIndex(of: .equals)
        let name = part[..<(equals ?? part.endIndex)].trimmedOfBlanks
        let value = equals.map { part[part.index(after: $0)...].trimmedOfBlanks } ?? part[part.endIndex...]
        guard value.count <= Self.maximumAttribute else { return }
        let text = String(decoding: value, as: UTF8.self)
        if name.equalsLowercase("expires") {
            if let date = CookieDate.parse(text) { expires = date }
        } else if name.equalsLowercase("max-age") {
            if let seconds = Self.seconds(value) { maximumAge = seconds }
        } else if name.equalsLowercase("domain") {
            guard !text.isEmpty else { return }
            // A lone dot leaves no domain (RFC 6265 §5.2.3).
            let bare = value.first == .dot ? value.dropFirst() : value
            domain = bare.isEmpty ? nil : String(decoding: bare, as: UTF8.self).lowercased().withoutAddressBrackets
        } else if name.equalsLowercase("path") {
            path = text.utf8.first == .slash ? text : nil
        } else if name.equalsLowercase("secure") {
            isSecure = true
        } else if name.equalsLowercase("httponly") {
            isHTTPOnly = true
        } else if name.equalsLowercase("samesite") {
            sameSite = StoredCookie.SameSite(rawValue: text.lowercased())
        }
    }

    /// Parses digits, with an optional minus before them. A negative number becomes 0, and a number that does not fit
    /// becomes the largest `Int`.
    private static func seconds(_ text: Substring.UTF8View) -> Int? {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        guard !isNegative else { return 0 }
        return Int(String(decoding: digits, as: UTF8.self)) ?? .max
    }
}

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
        guard parts.count == 3, let hour = number(parts[0], digits: 1...2, isWhole: true),
            let minute = number(parts[1], digits: 1...2, isWhole: true), let second = number(parts[2], digits: 1...2)
        else { return nil }
        return DayTime(hour: hour, minute: minute, second: second)
    }

    /// Returns the number at the start of a token, or nil for another count of digits. With `isWhole`, nothing may
    /// follow the digits.
    private static func number(
        _ token: Substring.UTF8View, digits: ClosedRange<Int>, isWhole: Bool = false
    ) -> Int? {
        let text = token.prefix(while: \.isDigit)
        guard digits.contains(text.count), !isWhole || text.count == token.count else { return nil }
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
