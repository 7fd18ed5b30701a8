import Switchboard
import SwitchboardText

/// Reads the numbers and texts of a stored response's head.
struct CacheHeadReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    /// Whether the head had everything that was read.
    private(set) var isSound = true

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func number() -> UInt64 {
        guard bytes.count - offset >= 8 else {
            isSound = false
            return 0
        }
        defer { offset += 8 }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Reads a number of seconds. Nil for the one that stands for none.
    mutating func seconds() -> Double? {
        let seconds = Double(bitPattern: number())
        return seconds.isNaN ? nil : seconds
    }

    /// Reads a text. Returns the known one if they are equal, because that needs no memory.
    mutating func text(like known: String? = nil) -> String {
        let count = number()
        guard count <= bytes.count - offset else {
            isSound = false
            return ""
        }
        defer { offset += Int(count) }
        let text = UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + Int(count))])
        if let known, known.hasBytes(of: text) { return known }
        guard text.count < 16 else { return String(decoding: text, as: UTF8.self) }
        // Needs no heap memory for a short text, and half of the time.
        return String(unsafeUninitializedCapacity: text.count) { room in
            UnsafeMutableRawBufferPointer(room).copyMemory(from: text)
            return text.count
        }
    }

    /// Reads the number of texts, which is at most what the rest can contain.
    private mutating func count() -> Int {
        let count = number()
        guard count <= (bytes.count - offset) / 8 else {
            isSound = false
            return 0
        }
        return Int(count)
    }

    mutating func texts() -> [String] {
        let count = count()
        guard count > 0 else { return [] }
        return (0..<count).map { _ in text() }
    }

    mutating func fields() -> HTTPHeaders {
        let fields = (0..<(count() / 2)).map { _ in HTTPHeader(name: text(), trimmedValue: text()) }
        // The sender of a field validates it. Validation here would cost as much as reading all of the head.
        return HTTPHeaders(fields, isSuspect: true)
    }

    /// Reads the numbers behind the texts, which begin at a multiple of eight.
    mutating func lastNumbers() -> [Int] {
        offset = (offset + 7) / 8 * 8
        var numbers: [Int] = []
        while offset < bytes.count, isSound { numbers.append(Int(truncatingIfNeeded: number())) }
        return numbers
    }
}
