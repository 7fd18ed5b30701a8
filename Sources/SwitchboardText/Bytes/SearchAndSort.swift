import Foundation

extension Data {
    /// Returns the first occurrence of `bytes`, or nil, in linear time. `range(of:)` can take time proportional to the
    /// product of the lengths.
    package func firstRange(ofBytes bytes: Data) -> Range<Index>? {
        guard !bytes.isEmpty, bytes.count <= count else { return nil }
        // For each index, the length of the longest proper prefix that is also a suffix there: the failure function of
        // Knuth, Morris and Pratt.
        let bytes = Array(bytes)
        var failure = [0]
        for index in bytes.indices.dropFirst() {
            failure.append(Self.matchedLength(failure[index - 1], bytes, failure, bytes[index]))
        }
        var length = 0
        for index in indices {
            length = Self.matchedLength(length, bytes, failure, self[index])
            if length == bytes.count { return index + 1 - length..<index + 1 }
        }
        return nil
    }

    /// Returns the number of bytes that match after `next`, from the number that matched before.
    private static func matchedLength(_ length: Int, _ bytes: [UInt8], _ failure: [Int], _ next: UInt8) -> Int {
        var length = length
        while length > 0, bytes[length] != next { length = failure[length - 1] }
        return bytes[length] == next ? length + 1 : length
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the index of the first byte with this value at or after `start`, or nil. Uses `memchr`, which is faster than
    /// `firstIndex(of:)`.
    package func firstIndex(ofByte byte: UInt8, from start: Int = 0) -> Int? {
        guard start < count, let baseAddress, let found = memchr(baseAddress + start, Int32(byte), count - start) else {
            return nil
        }
        return baseAddress.distance(to: found)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns the index of the first byte with this value, or nil.
    package func firstIndex(ofByte byte: UInt8) -> Int? { UnsafeRawBufferPointer(self).firstIndex(ofByte: byte) }
}

extension [String] {
    /// The indices of the texts in ascending order. Equal texts keep their order.
    fileprivate var order: [Int] { indices.sorted { self[$0] < self[$1] } }
}

extension Array {
    /// Returns the elements sorted by name. Equal names keep their order. All element types share one sort of names,
    /// because a specialized sort for each type takes longer to compile.
    package func sorted(byName name: (Element) -> String) -> [Element] {
        map(name).order.map { self[$0] }
    }
}
