import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// The checksums by which stored responses are removed. A collision removes one response too many.
struct CacheMarks: Sendable, Hashable {
    /// The URL without its query.
    let place: UInt64
    let url: UInt64
    let partition: UInt32

    init(place: UInt64, url: UInt64, partition: UInt32) {
        self.place = place
        self.url = url
        self.partition = partition
    }

    init(_ key: CacheKey) {
        place = Self.place(key.url)
        url = CacheChecksum.of(key.url[...].utf8)
        partition = Self.partition(key.partition)
    }

    static func place(_ url: String) -> UInt64 {
        let end = url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return CacheChecksum.of(url[..<(end ?? url.endIndex)].utf8)
    }

    static func partition(_ name: String) -> UInt32 {
        UInt32(truncatingIfNeeded: CacheChecksum.of(name[...].utf8))
    }
}

/// The name of the file of a stored response. The names of a folder are its index: they tell the key, and what an
/// invalidation removes.
///
/// A name consists of hexadecimal numbers: the marks, the hash of the key, and a hash of the variant if it has one.
struct CacheFileName: Sendable, Hashable {
    /// The SHA-256 of a key. A name must not disclose the identity.
    struct Key: Sendable, Hashable {
        let words: SIMD4<UInt64>

        func hash(into hasher: inout Hasher) { hasher.combine(words[0]) }
    }

    let marks: CacheMarks
    let key: Key
    /// The end of the variant's hash. Nil for a response without `Vary`.
    let variant: UInt64?

    private init(_ marks: CacheMarks, _ key: Key, _ variant: UInt64?) {
        self.marks = marks
        self.key = key
        self.variant = variant
    }

    /// Creates the name of the response without `Vary`.
    init(_ key: CacheKey) throws(NetworkError) {
        // Each part carries its length, so different keys never produce the same text.
        var text: [UInt8] = []
        for part in [key.partition, key.identity, key.url] { text += "\(part.utf8.count) \(part)\n".utf8 }
        let hash = try MessageDigest.sha256.checkedHash(Data(text))
        let words = hash.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
        self.init(CacheMarks(key), Key(words: words), nil)
    }

    func with(variant: String) throws(NetworkError) -> CacheFileName {
        guard !variant.isEmpty else { return self }
        return CacheFileName(marks, key, UInt64(try CacheVariant.hash(variant).suffix(16), radix: 16) ?? 0)
    }

    // MARK: Text

    private static let ending = Array(".response".utf8)

    var text: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(133)
        func add(_ number: UInt64, _ digits: UInt64 = 16, dash: Bool = true) {
            for digit in (0..<digits).reversed() {
                let value = UInt8(number &>> (digit &* 4) & 15)
                bytes.append(value < 10 ? 0x30 + value : 0x57 + value)
            }
            if dash { bytes.append(UInt8(ascii: "-")) }
        }
        add(marks.place)
        add(marks.url)
        add(UInt64(marks.partition), 8)
        for index in 0..<4 { add(key.words[index], dash: index == 3 && variant != nil) }
        if let variant { add(variant, dash: false) }
        return String(decoding: bytes + Self.ending, as: UTF8.self)
    }

    /// Reads the name of a file. Nil for a name that a cache does not give.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 116 || bytes.count == 133, bytes.suffix(9).elementsEqual(Self.ending) else { return nil }
        var offset = 0
        var isValid = true
        func number(_ digits: Int = 16, dash: Bool = true) -> UInt64 {
            var result: UInt64 = 0
            for byte in bytes[offset..<(offset + digits)] {
                switch byte {
                case 0x30...0x39: result = result &<< 4 | UInt64(byte - 0x30)
                case 0x61...0x66: result = result &<< 4 | UInt64(byte - 0x57)
                default: isValid = false
                }
            }
            offset += digits
            if dash {
                if bytes[offset] != UInt8(ascii: "-") { isValid = false }
                offset += 1
            }
            return result
        }
        let marks = CacheMarks(place: number(), url: number(), partition: UInt32(number(8)))
        let words = SIMD4(number(dash: false), number(dash: false), number(dash: false), number(dash: false))
        var variant: UInt64?
        if bytes.count == 133 {
            if bytes[offset] != UInt8(ascii: "-") { isValid = false }
            offset += 1
            variant = number(dash: false)
        }
        guard isValid else { return nil }
        self.init(marks, Key(words: words), variant)
    }
}
