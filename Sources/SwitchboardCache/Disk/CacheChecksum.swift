/// The 64-bit checksum of [rapidhash V3](https://github.com/Nicoshev/rapidhash).
///
/// It detects damage, not forgery: a program that can write the folder can write valid files anyway. A checksum of 12
/// KB takes a quarter of a microsecond, a cryptographic hash at least twenty times as long.
enum CacheChecksum {
    private typealias Secrets = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

    private static let secrets: Secrets = (
        0x2D35_8DCC_AA6C_78A5, 0x8BB8_4B93_962E_ACC9, 0x4B33_A62E_D433_D4A3, 0x4D5A_2DA5_1DE1_AA47,
        0xA076_1D64_78BD_642F, 0xE703_7ED1_A0B4_28DB, 0x90ED_1765_281C_388C, 0xAAAA_AAAA_AAAA_AAAA
    )

    static func of(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { of(UnsafeRawBufferPointer($0)) }
    }

    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        guard bytes.count > 16 else { return ofFew(bytes) }
        guard UInt(bitPattern: bytes.baseAddress) % 8 != 0 else { return ofAligned(bytes) }
        // The bodies of files begin at a multiple of eight, other bytes are few.
        var words = [UInt64](repeating: 0, count: bytes.count / 8 + 1)
        return words.withUnsafeMutableBytes { copy in
            copy.copyMemory(from: bytes)
            return ofAligned(UnsafeRawBufferPointer(rebasing: copy[..<bytes.count]))
        }
    }

    /// Returns the checksum of at most 16 bytes.
    private static func ofFew(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let count = bytes.count
        var ends: (UInt64, UInt64) = (0, 0)
        if count >= 8 {
            ends = (word(bytes, 0), word(bytes, count - 8))
        } else if count >= 4 {
            ends = (half(bytes, 0), half(bytes, count - 4))
        } else if count > 0 {
            ends = (UInt64(bytes[0]) &<< 45 | UInt64(bytes[count - 1]), UInt64(bytes[count / 2]))
        }
        let start = mixed(secrets.2, secrets.1)
        return end(ends, start ^ (count < 4 ? 0 : UInt64(count)), count)
    }

    /// Reads aligned words, which is fast in a debug build too. The seven lanes do not wait for each other.
    private static func ofAligned(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let secrets = secrets
        var sum = mixed(secrets.2, secrets.1)
        guard var next = bytes.baseAddress?.assumingMemoryBound(to: UInt64.self) else { return sum }
        var left = bytes.count
        if left > 112 {
            var (b, c, d, e, f, g) = (sum, sum, sum, sum, sum, sum)
            while left > 112 {
                sum = mixed(next[0].littleEndian ^ secrets.0, next[1].littleEndian ^ sum)
                b = mixed(next[2].littleEndian ^ secrets.1, next[3].littleEndian ^ b)
                c = mixed(next[4].littleEndian ^ secrets.2, next[5].littleEndian ^ c)
                d = mixed(next[6].littleEndian ^ secrets.3, next[7].littleEndian ^ d)
                e = mixed(next[8].littleEndian ^ secrets.4, next[9].littleEndian ^ e)
                f = mixed(next[10].littleEndian ^ secrets.5, next[11].littleEndian ^ f)
                g = mixed(next[12].littleEndian ^ secrets.6, next[13].littleEndian ^ g)
                next += 14
                left -= 112
            }
            sum ^= b ^ c ^ d ^ e ^ f ^ g
        }
        let rest = left
        for secret in [secrets.2, secrets.2, secrets.1, secrets.1, secrets.2, secrets.1] where left > 16 {
            sum = mixed(next[0].littleEndian ^ secret, next[1].littleEndian ^ sum)
            next += 2
            left -= 16
        }
        return end((word(bytes, bytes.count - 16) ^ UInt64(rest), word(bytes, bytes.count - 8)), sum, rest)
    }

    private static func end(_ last: (UInt64, UInt64), _ sum: UInt64, _ count: Int) -> UInt64 {
        let product = (last.0 ^ secrets.1).multipliedFullWidth(by: last.1 ^ sum)
        return mixed(product.low ^ secrets.7, product.high ^ secrets.1 ^ UInt64(count))
    }

    @_transparent
    private static func mixed(_ one: UInt64, _ other: UInt64) -> UInt64 {
        let product = one.multipliedFullWidth(by: other)
        return product.high ^ product.low
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private static func half(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }
}
