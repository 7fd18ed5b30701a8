import Foundation
import Switchboard

/// The header fields of a message as the model of a cache reads them. It shares no code with the library.
struct ModelFields: Sendable {
    /// The lines of each field, by its name in lower case.
    private(set) var lines: [String: [String]] = [:]

    init(_ headers: HTTPHeaders) {
        for header in headers { lines[header.name.lowercased(), default: []].append(header.value) }
    }

    /// The first line of a field.
    subscript(_ name: String) -> String? { lines[name]?.first }

    /// Returns the members of a list over all lines of the field.
    func members(_ name: String) -> [String] {
        (lines[name] ?? []).flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// Returns whether `Cache-Control` has a directive.
    func has(_ directive: String) -> Bool { argument(directive) != nil }

    /// Returns the seconds of a directive: nil without it, infinite without an argument.
    func seconds(_ directive: String) -> Double? {
        argument(directive).map { $0.isEmpty ? .infinity : Double($0) ?? 0 }
    }

    private func argument(_ directive: String) -> String? {
        for member in members("cache-control") {
            let parts = member.split(separator: "=", maxSplits: 1)
            if parts[0].lowercased() == directive { return parts.count == 2 ? String(parts[1]) : "" }
        }
        return nil
    }

    /// Returns the time of a date field, in seconds since 1970. Nil when it is absent or no date.
    func time(_ name: String) -> Double? { self[name].flatMap(ModelDate.read) }

    /// Returns the fields with those of a 304 or a HEAD in their place (RFC 9111 §3.2), except those about the body.
    func updated(by others: ModelFields) -> ModelFields {
        var result = self
        for (name, values) in others.lines where name != "content-length" { result.lines[name] = values }
        return result
    }
}

/// The preferred form of dates (RFC 9110 §5.6.7).
enum ModelDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func length(_ month: Int, _ year: Int) -> Int {
        [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    static func text(_ time: Double) -> String {
        let seconds = Int(time.rounded(.down))
        var (day, year, month) = (seconds / 86_400, 1970, 0)
        let name = days[day % 7]
        while day >= (isLeap(year) ? 366 : 365) { (day, year) = (day - (isLeap(year) ? 366 : 365), year + 1) }
        while day >= length(month, year) { (day, month) = (day - length(month, year), month + 1) }
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let clock = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map(two).joined(separator: ":")
        return "\(name), \(two(day + 1)) \(months[month]) \(year) \(clock) GMT"
    }

    static func read(_ text: String) -> Double? {
        let parts = text.split { " ,:".contains($0) }.map(String.init)
        guard parts.count == 8, parts[7] == "GMT", let month = months.firstIndex(of: parts[2]) else { return nil }
        let numbers = [1, 3, 4, 5, 6].compactMap { Int(parts[$0]) }
        guard numbers.count == 5 else { return nil }
        var days = numbers[0] - 1
        for year in 1970..<max(1970, numbers[1]) { days += isLeap(year) ? 366 : 365 }
        for month in 0..<month { days += length(month, numbers[1]) }
        return Double(days * 86_400 + numbers[2] * 3600 + numbers[3] * 60 + numbers[4])
    }
}
