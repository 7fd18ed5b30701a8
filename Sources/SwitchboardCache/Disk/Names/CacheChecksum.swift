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
        guard let start = bytes.baseAddress else { return of(start: nil, 0, seed) }
        guard UInt(bitPattern: start) % 8 != 0 else {
            return of(start: start.assumingMemoryBound(to: UInt64.self), bytes.count, seed)
        }
        // The bodies of files begin at a multiple of eight, other bytes are few.
        var words = [UInt64](repeating: 0, count: bytes.count / 8 + 1)
        return words.withUnsafeMutableBytes { copy in
            copy.copyMemory(from: bytes)
            return of(UnsafeRawBufferPointer(rebasing: copy[..<bytes.count]), seed: seed)
        }
    }

    /// Reads aligned words, which is fast in a debug build too.
    private static func of(start words: UnsafePointer<UInt64>?, _ count: Int, _ seed: UInt64) -> UInt64 {
        let (one, two, three, four, five) = primes
        var next = words
        var left = count
        var sum = seed &+ five
        if left >= 32, var word = next {
            var (a, b, c, d) = (seed &+ one &+ two, seed &+ two, seed, seed &- one)
            while left >= 32 {
                a = a &+ UInt64(littleEndian: word.pointee) &* two
                a = (a &<< 31 | a &>> 33) &* one
                word += 1
                b = b &+ UInt64(littleEndian: word.pointee) &* two
                b = (b &<< 31 | b &>> 33) &* one
                word += 1
                c = c &+ UInt64(littleEndian: word.pointee) &* two
                c = (c &<< 31 | c &>> 33) &* one
                word += 1
                d = d &+ UInt64(littleEndian: word.pointee) &* two
                d = (d &<< 31 | d &>> 33) &* one
                word += 1
                left -= 32
            }
            next = word
            sum = turned(a, 1) &+ turned(b, 7) &+ turned(c, 12) &+ turned(d, 18)
            for lane in [a, b, c, d] { sum = (sum ^ turned(lane &* two, 31) &* one) &* one &+ four }
        }
        sum &+= UInt64(count)
        while left >= 8, let word = next {
            let lane = turned(UInt64(littleEndian: word.pointee) &* two, 31) &* one
            sum = turned(sum ^ lane, 27) &* one &+ four
            next = word + 1
            left -= 8
        }
        var rest = UnsafeRawBufferPointer(start: next, count: left)
        if rest.count >= 4 {
            let half = UInt32(littleEndian: rest.loadUnaligned(as: UInt32.self))
            sum = turned(sum ^ UInt64(half) &* one, 23) &* two &+ three
            rest = UnsafeRawBufferPointer(rebasing: rest[4...])
        }
        for byte in rest { sum = turned(sum ^ UInt64(byte) &* five, 11) &* one }
        sum = (sum ^ sum &>> 33) &* two
        sum = (sum ^ sum &>> 29) &* three
        return sum ^ sum &>> 32
    }

    private static func turned(_ value: UInt64, _ count: UInt64) -> UInt64 { value &<< count | value &>> (64 &- count) }

    static func of(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { of(UnsafeRawBufferPointer($0)) }
    }
}
