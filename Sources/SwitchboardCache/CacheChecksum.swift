/// The 64-bit checksum of [XXH64](https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md).
///
/// It detects damage, not forgery: a program that can write the folder can write valid files anyway. A checksum of 12 KB
/// takes a microsecond, a cryptographic hash ten to thirty times as long.
enum CacheChecksum {
    private static let primes: (UInt64, UInt64, UInt64, UInt64, UInt64) = (
        0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63,
        0x27D4_EB2F_1656_67C5
    )

    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        let (one, two, three, four, five) = primes
        func turned(_ value: UInt64, _ count: UInt64) -> UInt64 { value &<< count | value &>> (64 &- count) }
        func mixed(_ sum: UInt64, _ word: UInt64) -> UInt64 { turned(sum &+ word &* two, 31) &* one }
        func word(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        var offset = 0
        var sum = seed &+ five
        if bytes.count >= 32 {
            var (a, b, c, d) = (seed &+ one &+ two, seed &+ two, seed, seed &- one)
            while offset + 32 <= bytes.count {
                a = mixed(a, word(offset))
                b = mixed(b, word(offset + 8))
                c = mixed(c, word(offset + 16))
                d = mixed(d, word(offset + 24))
                offset += 32
            }
            sum = turned(a, 1) &+ turned(b, 7) &+ turned(c, 12) &+ turned(d, 18)
            for lane in [a, b, c, d] { sum = (sum ^ mixed(0, lane)) &* one &+ four }
        }
        sum &+= UInt64(bytes.count)
        while offset + 8 <= bytes.count {
            sum = turned(sum ^ mixed(0, word(offset)), 27) &* one &+ four
            offset += 8
        }
        if offset + 4 <= bytes.count {
            let half = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            sum = turned(sum ^ UInt64(half) &* one, 23) &* two &+ three
            offset += 4
        }
        while offset < bytes.count {
            sum = turned(sum ^ UInt64(bytes[offset]) &* five, 11) &* one
            offset += 1
        }
        sum = (sum ^ sum &>> 33) &* two
        sum = (sum ^ sum &>> 29) &* three
        return sum ^ sum &>> 32
    }

    static func of(_ text: Substring.UTF8View) -> UInt64 {
        text.withContiguousStorageIfAvailable { of(UnsafeRawBufferPointer($0)) }
            ?? Array(text).withUnsafeBytes { of($0) }
    }
}
