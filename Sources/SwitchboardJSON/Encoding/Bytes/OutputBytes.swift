import Foundation

/// A growing byte buffer: one allocation without the checks of an array. The owner frees it.
///
/// `realloc` often extends a large buffer without a copy.
struct OutputBytes {
    private(set) var base: UnsafeMutablePointer<UInt8>
    private(set) var capacity: Int
    /// The number of bytes written, at most ``capacity``. Each function that writes calls ``reserve(_:)`` first.
    var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 64)
        base = Self.resized(nil, self.capacity)
    }

    func deallocate() {
        free(base)
    }

    private static func resized(_ bytes: UnsafeMutablePointer<UInt8>?, _ capacity: Int) -> UnsafeMutablePointer<UInt8> {
        guard let memory = realloc(bytes, capacity) else {
            preconditionFailure("no memory for \(capacity) bytes of JSON")
        }
        return memory.assumingMemoryBound(to: UInt8.self)
    }

    /// Returns the bytes, without a copy when they are many. The buffer is empty afterward.
    mutating func takeData() -> Data {
        guard count >= 4_096 else { return Data(buffer) }
        defer { self = OutputBytes(capacity: 0) }
        return Data(bytesNoCopy: Self.resized(base, count), count: count, deallocator: .free)
    }

    var end: UnsafeMutablePointer<UInt8> { base + count }
    var buffer: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: base, count: count) }

    @inline(__always)
    mutating func reserve(_ extra: Int) {
        if capacity &- count < extra { grow(extra) }
    }

    @inline(never)
    private mutating func grow(_ extra: Int) {
        let wider = max(capacity * 2, count + extra)
        base = Self.resized(base, wider)
        capacity = wider
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        base[count] = byte
        count &+= 1
    }

    @inline(__always)
    mutating func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count)
        end.update(from: start, count: bytes.count)
        count &+= bytes.count
    }

    /// Appends text that needs no escapes.
    @inline(__always)
    mutating func append(plain text: String) {
        text.withBytes { append($0) }
    }

    /// Appends a line break and two spaces per level.
    @inline(never)
    mutating func appendLine(depth: Int) {
        reserve(1 + 2 * depth)
        base[count] = 0x0A
        (end + 1).update(repeating: 0x20, count: 2 * depth)
        count += 1 + 2 * depth
    }
}

extension String {
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return copy.withUTF8(body)
    }
}

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
