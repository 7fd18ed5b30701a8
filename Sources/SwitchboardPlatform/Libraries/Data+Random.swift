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
