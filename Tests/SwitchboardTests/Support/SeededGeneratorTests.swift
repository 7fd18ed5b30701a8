import SwitchboardTestSupport
import Testing

struct SeededGeneratorTests {
    // Computed with a Python transcription of the algorithm. Rosetta Code's "Pseudo-random numbers/Splitmix64" has the
    // same numbers.
    @Test("the generator is SplitMix64")
    func publishedNumbers() {
        var random = SeededGenerator(seed: 1_234_567)
        #expect(
            [random.next(), random.next(), random.next()] == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            ])
    }
}
