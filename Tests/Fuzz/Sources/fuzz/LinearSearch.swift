import Foundation

/// Searches for inputs that take more time per byte the longer they are.
///
/// An input is a beginning, a piece many times, and an end, all cut at random from the corpus. It is read at several
/// lengths, each four times the one before. A linear parser takes four times as long, and one that compares each part with
/// all others 16 times. The search reports an input whose time grows seven times or more at three lengths in a row: at one
/// the reason may be a limit, or memory that the system provides in another way. The time is that of the thread's processor.
struct LinearSearch {
    private static let lengths = [1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000]
    private static let (allowedGrowth, suspectGrowth) = (7.0, 5.0)
    private let target: Target
    private let seeds: [[UInt8]]
    private var random = SeededGenerator(seed: 1)

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
    mutating func run(seconds: Double) -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        var (count, worst) = (0, 0.0)
        while Date() < end {
            let input = draw()
            count += 1
            var growth = self.growth(of: input, repeats: 1)
            // Again, because other programs disturb one measurement.
            if growth > Self.suspectGrowth { growth = min(growth, self.growth(of: input, repeats: 5)) }
            worst = max(worst, growth)
            if growth > Self.allowedGrowth {
                print(
                    "\(target.name): FAILED: \(Int(growth)) times as long for 4 times the bytes: "
                        + "\(text(input.start)) + \(text(input.piece)) … + \(text(input.end))")
                return false
            }
        }
        let number = String(format: "%.1f", worst)
        print("\(target.name): \(count) inputs, at most \(number) times as long for 4 times the bytes")
        return true
    }

    /// Returns the growth that three steps in a row reach. Stops at a step that has a small growth.
    private func growth(of input: Input, repeats: Int) -> Double {
        var (last, growths, worst) = (0.0, [0.0, 0.0, 0.0], 0.0)
        for (step, length) in Self.lengths.enumerated() {
            let time = (0..<repeats).map { _ in self.time(input, length) }.min() ?? 0
            growths = growths.dropFirst() + [last > 2e-6 ? time / last : 0]
            worst = max(worst, growths.min() ?? 0)
            if step > 2, growths[2] < Self.suspectGrowth || worst > Self.allowedGrowth { break }
            last = time
        }
        return worst
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.map { byte in
            (0x20...0x7E).contains(byte) ? String(UnicodeScalar(byte)) : String(format: "\\x%02x", byte)
        }.joined()
    }

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
