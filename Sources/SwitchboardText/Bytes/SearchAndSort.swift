import Foundation

extension Data {
    /// Returns the first occurrence of `bytes`, or nil, in linear time. `range(of:)` needs the product of both lengths for
    /// repetitive bytes.
    package func firstRange(ofBytes bytes: Data) -> Range<Index>? {
        guard !bytes.isEmpty, bytes.count <= count else { return nil }
        // The length of the longest beginning of `bytes` that also ends before each index (Knuth, Morris and Pratt).
        let bytes = Array(bytes)
        var borders = [0]
        for index in bytes.indices.dropFirst() {
            borders.append(Self.border(borders[index - 1], bytes, borders, bytes[index]))
        }
        var length = 0
        for index in indices {
            length = Self.border(length, bytes, borders, self[index])
            if length == bytes.count { return index + 1 - length..<index + 1 }
        }
        return nil
    }

    private static func border(_ length: Int, _ bytes: [UInt8], _ borders: [Int], _ next: UInt8) -> Int {
        var length = length
        while length > 0, bytes[length] != next { length = borders[length - 1] }
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

extension String {
    /// Whether the text of a URL contains an at sign, which separates user information and host.
    package var hasAt: Bool {
        var text = self
        return text.withUTF8 { $0.firstIndex(ofByte: UInt8(ascii: "@")) != nil }
    }
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
