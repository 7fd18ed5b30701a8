import Foundation

extension OutputState {
    @inline(__always)
    mutating func append(_ text: String) {
        bytes.append(text, escapesSlashes: escapesSlashes)
    }

    @inline(__always)
    mutating func append(_ value: some SignedInteger & FixedWidthInteger) {
        if value.bitWidth > 64 { return bytes.append(plain: String(value)) }
        bytes.append(Int64(truncatingIfNeeded: value))
    }

    @inline(__always)
    mutating func append(_ value: some UnsignedInteger & FixedWidthInteger) {
        if value.bitWidth > 64 { return bytes.append(plain: String(value)) }
        bytes.append(UInt64(truncatingIfNeeded: value))
    }

    @inline(__always)
    mutating func append(_ value: Bool) {
        if value { bytes.append("true") } else { bytes.append("false") }
    }

    @inline(__always)
    mutating func appendNil() {
        bytes.append("null")
    }
}

extension OutputWriter {
    /// Writes a value without members. `kind` identifies its type, so each bit cast is to the same type.
    func writeScalar<Value: Encodable>(_ value: Value, kind: OutputKind, key: () -> (any CodingKey)?) throws {
        switch kind {
        case .string: state.pointee.append(unsafeBitCast(value, to: String.self))
        case .bool: state.pointee.append(unsafeBitCast(value, to: Bool.self))
        case .double: try write(unsafeBitCast(value, to: Double.self), key: key)
        case .float: try write(unsafeBitCast(value, to: Float.self), key: key)
        case .date: try write(unsafeBitCast(value, to: Date.self), key: key)
        case .data:
            let text = unsafeBitCast(value, to: Data.self).base64EncodedString()
            state.pointee.bytes.append(text, escapesSlashes: state.pointee.escapesSlashes)
        case .uuid: state.pointee.bytes.append(unsafeBitCast(value, to: UUID.self))
        case .url, .decimal: try writeByCast(value, key: key)
        default: writeInteger(value, kind: kind)
        }
    }

    private func writeByCast<Value: Encodable>(_ value: Value, key: () -> (any CodingKey)?) throws {
        if let url = value as? URL {
            state.pointee.append(url.absoluteString)
        } else if let number = value as? Decimal {
            guard !number.isNaN else { throw invalid(value, key: key, "\(number) is not a finite number") }
            state.pointee.bytes.append(plain: number.description)
        }
    }

    private func writeInteger<Value: Encodable>(_ value: Value, kind: OutputKind) {
        switch kind {
        case .int: state.pointee.append(unsafeBitCast(value, to: Int.self))
        case .int8: state.pointee.append(unsafeBitCast(value, to: Int8.self))
        case .int16: state.pointee.append(unsafeBitCast(value, to: Int16.self))
        case .int32: state.pointee.append(unsafeBitCast(value, to: Int32.self))
        case .int64: state.pointee.append(unsafeBitCast(value, to: Int64.self))
        case .uint: state.pointee.append(unsafeBitCast(value, to: UInt.self))
        case .uint8: state.pointee.append(unsafeBitCast(value, to: UInt8.self))
        case .uint16: state.pointee.append(unsafeBitCast(value, to: UInt16.self))
        case .uint32: state.pointee.append(unsafeBitCast(value, to: UInt32.self))
        default: state.pointee.append(unsafeBitCast(value, to: UInt64.self))
        }
    }

    @inline(__always)
    func write(_ value: Double, key: () -> (any CodingKey)?) throws {
        guard value.isFinite else { return state.pointee.append(try text(ofNonFinite: value, key: key)) }
        state.pointee.bytes.append(value)
    }

    func write(_ value: Float, key: () -> (any CodingKey)?) throws {
        guard value.isFinite else { return state.pointee.append(try text(ofNonFinite: value, key: key)) }
        state.pointee.bytes.append(value)
    }

    private func write(_ date: Date, key: () -> (any CodingKey)?) throws {
        let seconds = date.timeIntervalSinceReferenceDate
        switch settings.dateStrategy {
        case .iso8601WithMilliseconds:
            guard seconds.isFinite else { throw noDate(seconds, key: key) }
            let milliseconds = (seconds * 1000).rounded()
            guard date >= .distantPast, milliseconds < Self.endOfYear9999 * 1000 else {
                throw invalid(date, key: key, "its year is not between 1 and 9999")
            }
            write(milliseconds: milliseconds, isGregorian: seconds >= Self.startOfGregorian)
        case .iso8601:
            guard seconds.isFinite else { throw noDate(seconds, key: key) }
            if seconds >= Self.startOfGregorian, seconds < Self.endOfYear9999 {
                state.pointee.bytes.appendDate(
                    seconds: Int64(seconds.rounded(.down)) + Self.referenceDate, milliseconds: nil)
            } else {
                state.pointee.append(date.formatted(.iso8601))
            }
        case .deferredToDate, .custom: try write(seconds, key: key)
        case .secondsSince1970: try writeFinite(date.timeIntervalSince1970, key: key)
        case .millisecondsSince1970: try writeFinite(1000 * date.timeIntervalSince1970, key: key)
        case .formatted(let formatter):
            guard seconds.isFinite else { throw noDate(seconds, key: key) }
            state.pointee.append(formatter.string(from: date))
        }
    }

    /// Returns an error with the number of seconds, because Foundation traps when it describes such a date.
    private func noDate(_ seconds: Double, key: () -> (any CodingKey)?) -> EncodingError {
        invalid(seconds, key: key, "it is not a finite date")
    }

    private func writeFinite(_ value: Double, key: () -> (any CodingKey)?) throws {
        guard value.isFinite else { throw invalid(value, key: key, "\(value) is not a finite number") }
        state.pointee.bytes.append(value)
    }

    /// Writes a date as text, from its milliseconds since 2001.
    private func write(milliseconds: Double, isGregorian: Bool) {
        guard isGregorian else {
            // Foundation uses the Julian calendar for these dates.
            let hasFraction = milliseconds.truncatingRemainder(dividingBy: 1000) != 0
            let date = Date(timeIntervalSinceReferenceDate: (milliseconds + 0.5) / 1000)
            return state.pointee.append(
                date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction)))
        }
        let whole = (milliseconds / 1000).rounded(.down)
        let fraction = Int(milliseconds - whole * 1000)
        state.pointee.bytes.appendDate(
            seconds: Int64(whole) + Self.referenceDate, milliseconds: fraction == 0 ? nil : fraction)
    }

    private static var referenceDate: Int64 { 978_307_200 }
    /// October 15, 1582, in seconds since 2001.
    private static var startOfGregorian: Double { -13_197_600_000 }
    private static var endOfYear9999: Double { 252_423_993_600 }
}
