import Foundation

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). It returns the same
/// numbers for the same seed, on every platform and in every run.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension SeededGenerator {
    /// Returns true once in `count` times.
    package mutating func oneIn(_ count: Int) -> Bool {
        Int.random(in: 0..<count, using: &self) == 0
    }

    /// Creates a difficult text: letters, characters with a meaning in URLs and headers, control characters, and
    /// scalars from all of Unicode.
    package mutating func text(upTo length: Int) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...length, using: &self) { text.append(scalar()) }
        return String(text)
    }

    /// Creates a text without control characters, as a path or a header may contain it.
    package mutating func printableText(upTo length: Int) -> String {
        String(
            String.UnicodeScalarView(text(upTo: length).unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }

    /// Creates a word of letters only.
    package mutating func word() -> String {
        String(
            (0..<Int.random(in: 1...8, using: &self)).map { _ in
                "abcdefghijklmnopqrstuvwxyz".randomElement(using: &self)!
            })
    }

    private mutating func scalar() -> Unicode.Scalar {
        switch Int.random(in: 0..<20, using: &self) {
        case 0..<9: Unicode.Scalar(UInt8.random(in: 0x20..<0x7F, using: &self))
        case 9..<15: Self.meaningful.randomElement(using: &self)!
        case 15: Unicode.Scalar(UInt8.random(in: 0...0x7F, using: &self))
        case 16..<18: Unicode.Scalar(UInt32.random(in: 0x80..<0x3000, using: &self)) ?? "é"
        default: Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &self)) ?? "🌎"
        }
    }

    private static let meaningful = Array("/?#%&=+@:;,[]{}\\ .-~\"'<>2Fa".unicodeScalars)
}

/// Returns the number of random cases of a test: `usual`, times the number in the variable `SWITCHBOARD_CASES`.
package func cases(_ usual: Int) -> Int {
    usual * (ProcessInfo.processInfo.environment["SWITCHBOARD_CASES"].flatMap { Int($0) } ?? 1)
}
