import Foundation
import SwitchboardPlatform

/// The masks of a client's frames, from the system's source of random numbers, as [RFC 6455
/// §10.3](https://www.rfc-editor.org/rfc/rfc6455#section-10.3) requires.
struct MaskKeys {
    private var unused: [UInt32] = []

    /// Returns a mask that was not used before.
    mutating func next() -> UInt32 {
        if unused.isEmpty {
            unused = Data.random(256).withUnsafeBytes { bytes in
                stride(from: 0, to: bytes.count, by: 4).map { bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self) }
            }
        }
        return unused.removeLast()
    }
}
