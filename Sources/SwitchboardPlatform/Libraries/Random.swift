import Foundation

extension Data {
    /// Returns unpredictable random bytes. On Linux, up to 256 take one system call together;
    /// `SystemRandomNumberGenerator` makes one for each.
    package static func random(_ count: Int) -> Data {
        #if os(Linux)
        var bytes = Data(count: count)
        if bytes.withUnsafeMutableBytes({ getentropy($0.baseAddress, $0.count) == 0 }) { return bytes }
        #endif
        var generator = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}

extension UUID {
    /// Returns the text of a random UUID (RFC 9562, section 5.4). On Linux, each `UUID()` is the same while the process has
    /// no free descriptor.
    package static func randomText() -> String {
        var bytes = Data.random(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)).uuidString }
    }
}
