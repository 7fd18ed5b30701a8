import Foundation

extension UnsafeBufferPointer<UInt8> {
    /// Returns the place of the first byte with this value, or nil. Faster than `firstIndex(of:)`.
    func firstPlace(of byte: UInt8) -> Int? {
        guard let baseAddress, let found = memchr(baseAddress, Int32(byte), count) else { return nil }
        return UnsafeRawPointer(baseAddress).distance(to: found)
    }
}
