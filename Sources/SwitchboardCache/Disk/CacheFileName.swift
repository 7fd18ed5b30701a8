import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// The name of the file of a stored response. The names in a folder are its index: they contain the hashes of the key,
/// so lookups and invalidations need not read the files.
///
/// A name consists of hexadecimal numbers: the hashes of the URL without its query, of the URL, of the partition and of
/// the identity, and the hash of the variant if there is one. Two keys with equal hashes share a name. That is rare and
/// harmless, because the file states its URL and partition.
struct CacheFileName: Sendable, Hashable {
    /// A name without the variant.
    struct Key: Sendable, Hashable {
        let keyHash: CacheKeyHash
        let identityHash: IdentityHash

        func hash(into hasher: inout Hasher) { hasher.combine(keyHash.url ^ keyHash.partition ^ identityHash.words[0]) }
    }

    let key: Key
    /// The end of the variant's hash. Nil for a response without `Vary`.
    var variant: UInt64?

    var keyHash: CacheKeyHash { key.keyHash }
}

extension CacheFileName {
    /// Creates the name of the response without `Vary`.
    init(_ key: CacheKey) throws(NetworkError) { self.init(key, try IdentityHash(key.identity)) }

    init(_ key: CacheKey, _ identityHash: IdentityHash) {
        self.init(key: Key(keyHash: CacheKeyHash(key), identityHash: identityHash))
    }

    func with(variant: String) throws(NetworkError) -> CacheFileName {
        guard !variant.isEmpty else { return self }
        return CacheFileName(key: key, variant: UInt64(try CacheVariant.hash(variant).suffix(16), radix: 16) ?? 0)
    }

    // MARK: Text

    private static let ending: StaticString = ".response"
    /// The lengths of a name without and with a variant, in bytes.
    private static let lengths = (plain: 92, variant: 109)

    var text: String { path(in: "") }

    /// Returns the path of the file in a folder, whose path ends with a slash.
    func path(in folder: String) -> String {
        let count = folder.utf8.count + (variant == nil ? Self.lengths.plain : Self.lengths.variant)
        var folder = folder
        return folder.withUTF8 { folder in
            String(unsafeUninitializedCapacity: count) { bytes in
                guard var next = bytes.baseAddress else { return 0 }
                if let start = folder.baseAddress { next.update(from: start, count: folder.count) }
                next += folder.count
                func add(_ number: UInt32) {
                    UnsafeMutableRawPointer(next).storeBytes(of: Self.digits(number).littleEndian, as: UInt64.self)
                    next += 8
                }
                func add(_ number: UInt64) {
                    add(UInt32(truncatingIfNeeded: number &>> 32))
                    add(UInt32(truncatingIfNeeded: number))
                }
                func addDash() {
                    next.pointee = UInt8(ascii: "-")
                    next += 1
                }
                add(keyHash.urlWithoutQuery)
                addDash()
                add(keyHash.url)
                addDash()
                add(keyHash.partition)
                addDash()
                add(key.identityHash.words[0])
                add(key.identityHash.words[1])
                if let variant {
                    addDash()
                    add(variant)
                }
                next.update(from: Self.ending.utf8Start, count: Self.ending.utf8CodeUnitCount)
                return count
            }
        }
    }

    /// Returns the eight hexadecimal digits of a number as ASCII. The first one is the lowest byte.
    private static func digits(_ number: UInt32) -> UInt64 {
        var digits = UInt64(number.byteSwapped)
        // Moves each byte to 16 bits, and then each half of it to 8 bits.
        digits = (digits | digits &<< 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits &<< 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits &>> 4 | digits &<< 8) & 0x0F0F_0F0F_0F0F_0F0F
        let letters = (digits &+ 0x0606_0606_0606_0606) &>> 4 & 0x0101_0101_0101_0101
        return digits &+ 0x3030_3030_3030_3030 &+ letters &* 0x27
    }

    /// Reads the name of a file. Nil for a name that a cache does not give.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.lengths.plain || bytes.count == Self.lengths.variant,
            Self.ending.withUTF8Buffer({ bytes.suffix($0.count).elementsEqual($0) })
        else { return nil }
        var offset = 0
        var isValid = true
        func number(dash: Bool = true) -> UInt64 {
            var result: UInt64 = 0
            for byte in bytes[offset..<(offset + 16)] {
                switch byte {
                case 0x30...0x39: result = result &<< 4 | UInt64(byte - 0x30)
                case 0x61...0x66: result = result &<< 4 | UInt64(byte - 0x57)
                default: isValid = false
                }
            }
            offset += 16
            if dash {
                if bytes[offset] != UInt8(ascii: "-") { isValid = false }
                offset += 1
            }
            return result
        }
        let keyHash = CacheKeyHash(urlWithoutQuery: number(), url: number(), partition: number())
        let isPlain = bytes.count == Self.lengths.plain
        let identityHash = IdentityHash(words: SIMD2(number(dash: false), number(dash: !isPlain)))
        let variant = isPlain ? nil : number(dash: false)
        guard isValid else { return nil }
        self.init(key: Key(keyHash: keyHash, identityHash: identityHash), variant: variant)
    }
}

/// The checksums of a key's URL and partition. A collision lets an invalidation remove one response too many.
struct CacheKeyHash: Sendable, Hashable {
    let urlWithoutQuery: UInt64
    let url: UInt64
    let partition: UInt64
}

extension CacheKeyHash {
    init(_ key: CacheKey) {
        urlWithoutQuery = Self.ofURLWithoutQuery(key.url)
        url = CacheChecksum.of(key.url)
        partition = CacheChecksum.of(key.partition)
    }

    /// Returns the checksum of a URL, as in a ``CacheKey``, up to its query.
    static func ofURLWithoutQuery(_ url: String) -> UInt64 {
        var url = url
        return url.withUTF8 { bytes in
            let end = bytes.firstIndex(ofByte: .questionMark) ?? bytes.count
            return CacheChecksum.of(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<end]))
        }
    }
}

/// The first half of the SHA-256 of a key's identity. A file's name must not disclose the identity, and no two
/// identities may share a name.
struct IdentityHash: Sendable, Hashable {
    let words: SIMD2<UInt64>
}

extension IdentityHash {
    init(_ identity: String) throws(NetworkError) {
        let hash = try MessageDigest.sha256.checkedHash(Data(identity.utf8))
        words = hash.withUnsafeBytes { $0.loadUnaligned(as: SIMD2<UInt64>.self) }
    }
}
