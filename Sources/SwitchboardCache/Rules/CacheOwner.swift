import SwitchboardPlatform
import Foundation
import Switchboard

/// The identity of a key as a file's name tells it: the first half of its SHA-256. A name must not disclose the
/// identity, and no two identities may share a name.
struct CacheOwner: Sendable, Hashable {
    let words: SIMD2<UInt64>

    init(words: SIMD2<UInt64>) {
        self.words = words
    }

    init(_ identity: String) throws(NetworkError) {
        let hash = try MessageDigest.sha256.checkedHash(Data(identity.utf8))
        words = hash.withUnsafeBytes { $0.loadUnaligned(as: SIMD2<UInt64>.self) }
    }
}
