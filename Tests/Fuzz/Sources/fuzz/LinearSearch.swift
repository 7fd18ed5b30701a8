import Foundation

/// Searches for inputs that take more time per byte the longer they are.
///
/// An input is a beginning, a piece many times, and an end, all cut at random from the corpus. A parser that is not linear
/// takes at least four times as long for twice the bytes. The search reports those that take 24 times as long for eight
/// times the bytes: 8 times would be linear, 64 times quadratic. The time is that of the thread's processor.
struct LinearSearch {
    private static let (small, large) = (1 << 14, 1 << 17)
    private static let allowedGrowth = 24.0
    private let target: Target
    private let seeds: [[UInt8]]
    private var random = Generator(state: 1)

    struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
    }

    private struct Input {
        var start: ArraySlice<UInt8>, piece: ArraySlice<UInt8>, end: ArraySlice<UInt8>

        func bytes(_ count: Int) -> [UInt8] {
            var bytes = Array(start)
            while bytes.count + end.count < count { bytes += piece }
            return bytes + end
        }
    }

    init(_ target: Target, corpus: URL) {
        self.target = target
        let files = (try? FileManager.default.contentsOfDirectory(at: corpus, includingPropertiesForKeys: nil)) ?? []
        seeds = files.sorted { $0.path < $1.path }.compactMap { try? Data(contentsOf: $0) }.map { Array($0) }
    }

    /// Returns false after a report. Random cuts continue until the time is over.
    func run(seconds: Double) -> Bool {
        var search = self
        return search.search(seconds)
    }

    private mutating func search(_ seconds: Double) -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        var (count, worst, isLinear) = (0, 0.0, true)
        while Date() < end {
            let input = draw()
            count += 1
            let short = time(input, Self.small)
            // Most inputs are as fast as the start of the input is refused.
            guard short > 20e-6 else { continue }
            // The second time excludes what happens once, and other programs.
            var growth = time(input, Self.large) / short
            if growth > 12 { growth = min(growth, time(input, Self.large) / time(input, Self.small)) }
            if growth > Self.allowedGrowth {
                growth =
                    (0..<3).map { _ in time(input, Self.large) }.min()! / (0..<3).map { _ in time(input, Self.small) }
                    .min()!
            }
            worst = max(worst, growth)
            if growth > Self.allowedGrowth {
                isLinear = false
                print(
                    "\(target.name): FAILED: \(Int(growth)) times as long for 8 times the bytes: "
                        + "\(text(input.start)) + \(text(input.piece)) … + \(text(input.end))")
                return false
            }
        }
        print(
            "\(target.name): \(count) inputs, at most \(String(format: "%.1f", worst)) times as long for 8 times the bytes"
        )
        return isLinear
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self).debugDescription }

    private mutating func draw() -> Input {
        let start = slice(upTo: 200, isBeginning: Bool.random(using: &random))
        let piece = slice(upTo: Int.random(in: 1...24, using: &random), isBeginning: false)
        let end = Bool.random(using: &random) ? slice(upTo: 40, isBeginning: false) : []
        return Input(start: start, piece: piece.isEmpty ? [0x20] : piece, end: end)
    }

    private mutating func slice(upTo most: Int, isBeginning: Bool) -> ArraySlice<UInt8> {
        guard let seed = seeds.randomElement(using: &random), !seed.isEmpty else { return [] }
        let start = isBeginning ? 0 : Int.random(in: 0..<seed.count, using: &random)
        return seed[start..<min(seed.count, start + Int.random(in: 1...most, using: &random))]
    }

    private func time(_ input: Input, _ count: Int) -> Double {
        let bytes = input.bytes(count)
        let start = Self.processorTime
        bytes.withUnsafeBytes(target.read)
        return Self.processorTime - start
    }

    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
