import Foundation

extension Data {
    /// Returns the first occurrence of some bytes, or nil. `range(of:)` compares each index with all of them, which takes
    /// the product of both lengths for repetitive bytes.
    package func firstPlace(of bytes: Data) -> Range<Index>? {
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
