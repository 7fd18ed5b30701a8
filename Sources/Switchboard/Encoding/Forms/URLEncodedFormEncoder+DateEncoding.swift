import Foundation

extension URLEncodedFormEncoder {
    /// A format for a `Date` in a query, a form or a JSON document.
    public struct DateEncoding: Sendable {
        private let convert: @Sendable (Date) throws -> ParameterValue

        /// ISO 8601 text, the default: `2001-01-01T00:00:00Z`, with milliseconds only if they are not zero ([RFC 3339
        /// §5.6](https://www.rfc-editor.org/rfc/rfc3339#section-5.6)). Encoding fails for a year before 1 or after
        /// 9999.
        public static let iso8601 = DateEncoding { date in
            guard date >= .distantPast, date.milliseconds < Date.endOfYear9999 else {
                throw invalid(date, "its year is not between 1 and 9999")
            }
            return .string(date.iso8601Text)
        }
        /// Seconds since 1970, as a number.
        public static let secondsSince1970 = DateEncoding { try number($0.timeIntervalSince1970, of: $0) }
        /// Milliseconds since 1970, as a number.
        public static let millisecondsSince1970 = DateEncoding { try number($0.timeIntervalSince1970 * 1000, of: $0) }
        /// Seconds since 2001, as a number. `Date` encodes itself in this form.
        public static let deferredToDate = DateEncoding { try number($0.timeIntervalSinceReferenceDate, of: $0) }

        /// Returns a format that uses a formatter's text.
        public static func formatted(_ formatter: DateFormatter) -> DateEncoding {
            DateEncoding { .string(formatter.string(from: $0)) }
        }

        /// Returns a custom format. `encode` makes the text of each date.
        public static func custom(_ encode: @escaping @Sendable (Date) throws -> String) -> DateEncoding {
            DateEncoding { .string(try encode($0)) }
        }

        private static func number(_ number: Double, of date: Date) throws -> ParameterValue {
            guard let value = ParameterValue.number(finite: number) else {
                throw invalid(date, "its number is not finite")
            }
            return value
        }

        /// Returns an error with the date, or with the number of seconds of an infinite date, because Foundation traps
        /// when it describes one.
        private static func invalid(_ date: Date, _ rule: String) -> EncodingError {
            let seconds = date.timeIntervalSinceReferenceDate
            return .invalidValue(
                seconds.isFinite ? date as Any : seconds,
                EncodingError.Context(codingPath: [], debugDescription: rule))
        }

        func encode(_ date: Date) throws -> String {
            switch try value(date) {
            case .string(let text), .number(let text): text
            default: ""
            }
        }

        func value(_ date: Date) throws -> ParameterValue {
            guard date.timeIntervalSinceReferenceDate.isFinite else {
                throw Self.invalid(date, "it is not a finite date")
            }
            return try convert(date)
        }
    }
}

extension Date {
    /// In milliseconds since 2001.
    fileprivate static let endOfYear9999 = 252_423_993_600_000.0
    fileprivate var milliseconds: Double { (timeIntervalSinceReferenceDate * 1000).rounded() }

    fileprivate var iso8601Text: String {
        let milliseconds = milliseconds
        let hasFraction = milliseconds.truncatingRemainder(dividingBy: 1000) != 0
        // The formatter truncates, and most milliseconds have no exact binary form. Half a millisecond more keeps the
        // text exact.
        let date = Date(timeIntervalSinceReferenceDate: (milliseconds + 0.5) / 1000)
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction))
    }
}
