import Foundation

extension UnsafeBufferPointer<UInt8> {
    /// Returns the place of the first byte with this value, or nil. Faster than `firstIndex(of:)`.
    package func firstPlace(of byte: UInt8) -> Int? {
        guard let baseAddress, let found = memchr(baseAddress, Int32(byte), count) else { return nil }
        return UnsafeRawPointer(baseAddress).distance(to: found)
    }
}

extension String {
    /// Whether the text of a URL contains an at sign, which precedes the host behind a user.
    package var hasAt: Bool {
        var text = self
        return text.withUTF8 { $0.firstPlace(of: UInt8(ascii: "@")) != nil }
    }
}
