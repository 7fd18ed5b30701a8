import Foundation

/// A growing byte buffer: one allocation without the checks of an array. The owner frees it.
struct OutputBytes {
    private(set) var base: UnsafeMutablePointer<UInt8>
    private(set) var capacity: Int
    /// The number of bytes written, at most ``capacity``. Each function that writes calls ``reserve(_:)`` first.
    var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 64)
        base = .allocate(capacity: self.capacity)
    }

    func deallocate() {
        base.deallocate()
    }

    var end: UnsafeMutablePointer<UInt8> { base + count }
    var buffer: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: base, count: count) }

    /// Ensures capacity for `extra` more bytes.
    @inline(__always)
    mutating func reserve(_ extra: Int) {
        if capacity &- count < extra { grow(extra) }
    }

    @inline(never)
    private mutating func grow(_ extra: Int) {
        let wider = max(capacity * 2, count + extra)
        let new = UnsafeMutablePointer<UInt8>.allocate(capacity: wider)
        new.update(from: base, count: count)
        base.deallocate()
        base = new
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
    /// Passes the text as UTF-8 to `body`.
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return copy.withUTF8(body)
    }
}
