import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// The same seed gives the same losses and latencies.
@Suite(.timeLimit(.minutes(10)))
struct ConditionChanceTests {
    private let request = NetworkRequest(.get, URL(string: "https://h.example/p"))

    @Test(
        "the share of lost requests is the probability",
        arguments: zip([0.02, 0.1, 0.5, 0.97], [UInt64(0), 1, 42, .max]))
    func lossRate(loss: Double, seed: UInt64) async throws {
        let fates = try await fates(4_000, NetworkConditions(loss: loss), seed)
        let lost = Double(fates.filter { $0 == nil }.count)
        // The mean and the deviation are those of the binomial distribution. Five deviations are one chance in two
        // million.
        let deviation = (4_000 * loss * (1 - loss)).squareRoot()
        #expect(abs(lost - 4_000 * loss) < 5 * deviation)
    }

    @Test("nothing is lost at 0, and everything at 1")
    func lossLimits() async throws {
        #expect(try await fates(1_000, .perfect, 7).allSatisfy { $0 == .zero })
        #expect(try await fates(1_000, NetworkConditions(loss: 1), 7).allSatisfy { $0 == nil })
    }

    @Test("jitter stays within its bounds, in both directions")
    func jitterBounds() async throws {
        let conditions = NetworkConditions(latency: .milliseconds(300), jitter: .milliseconds(100))
        let latencies = try await fates(2_500, conditions, 3).compactMap { $0 }
        #expect(latencies.count == 2_500)
        #expect(latencies.allSatisfy { $0 >= .milliseconds(200) && $0 <= .milliseconds(400) })
        // The mean of so many uniform values deviates by 100 ms / sqrt(3) / 50.
        let mean = latencies.reduce(.zero, +) / 2_500
        #expect(abs(mean / .milliseconds(1) - 300) < 5 * 1.155)
        #expect(latencies.contains { $0 < .milliseconds(210) } && latencies.contains { $0 > .milliseconds(390) })
    }

    @Test("a latency does not become negative")
    func nonnegativeLatency() async throws {
        let conditions = NetworkConditions(latency: .milliseconds(1), jitter: .seconds(1))
        let latencies = try await fates(100, conditions, 3).compactMap { $0 }
        #expect(latencies.allSatisfy { $0 >= .zero })
        #expect(latencies.contains(.zero))
    }

    @Test("the same seed gives the same results")
    func sameSeed() async throws {
        let conditions = NetworkConditions(latency: .milliseconds(300), jitter: .milliseconds(100), loss: 0.3)
        let one = try await fates(200, conditions, 42)
        #expect(try await fates(200, conditions, 42) == one)
        #expect(try await fates(200, conditions, 43) != one)
    }

    @Test("a change of conditions leaves the random values unchanged")
    func changedConditions() async throws {
        let conditions = NetworkConditions(latency: .milliseconds(300), jitter: .milliseconds(100), loss: 0.3)
        let expected = try await fates(4, conditions, 42)
        let clock = TestClock(skips: true)
        let session = StubSession { _ in .status(204) }.under(.offline, seed: 42, clock: clock)
        await #expect(throws: NetworkError.self) { try await session.send(request) }
        session.conditioner.conditions = .perfect
        _ = try await session.send(request)
        session.conditioner.conditions = conditions
        #expect(try await [fate(session, clock), fate(session, clock)] == Array(expected[2...]))
    }

    /// Checks two draws against the reference implementation of SplitMix64. With the seed 1234567 it returns
    /// 6457827717110365317 and 9817491932198370423 for the losses of the first two requests. Their upper 53 bits are
    /// the fractions.
    @Test("the reason of a loss has the seed and the request's number")
    func lossReason() async throws {
        let session = StubSession().under(NetworkConditions(loss: 1), seed: 1_234_567)
        for (number, draw) in [(1, "0.3500795420214081"), (2, "0.5322073040624192")] {
            let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
            #expect(error?.code == .connectionLost)
            #expect(
                error?.reason
                    == "simulated conditions: request \(number) of seed 1234567 drew \(draw) and is lost below 1.0")
            #expect(error?.url == request.url)
            #expect(error?.method == .get)
        }
    }

    // MARK: Helpers

    /// Returns the latencies of `count` requests, with nil for lost ones.
    private func fates(_ count: Int, _ conditions: NetworkConditions, _ seed: UInt64) async throws -> [Duration?] {
        let clock = TestClock(skips: true)
        let session = StubSession { _ in .status(204) }.under(conditions, seed: seed, clock: clock)
        var fates: [Duration?] = []
        for _ in 0..<count { fates.append(try await fate(session, clock)) }
        return fates
    }

    private func fate(_ session: ConditionedSession, _ clock: TestClock) async throws -> Duration? {
        let start = clock.now
        do {
            _ = try await session.send(request)
            return start.duration(to: clock.now)
        } catch NetworkError.connectionLost {
            return nil
        }
    }
}
