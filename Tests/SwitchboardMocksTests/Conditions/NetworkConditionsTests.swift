import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct NetworkConditionsTests {
    @Test(
        "a loss is limited to 0 through 1",
        arguments: [
            (Double.nan, 0.0), (-1, 0), (-.infinity, 0), (0.25, 0.25), (1.5, 1), (.infinity, 1), (-0.0, 0),
        ])
    func loss(given: Double, kept: Double) {
        #expect(NetworkConditions(loss: given).loss == kept)
        var conditions = NetworkConditions.perfect
        conditions.loss = given
        #expect(conditions.loss == kept)
    }

    @Test("the other values are limited to their ranges")
    func ranges() {
        var conditions = NetworkConditions(
            latency: .seconds(-1), jitter: .seconds(-1), downloadBytesPerSecond: 0, uploadBytesPerSecond: -5)
        #expect(conditions == NetworkConditions(downloadBytesPerSecond: 1, uploadBytesPerSecond: 1))
        conditions.latency = .seconds(Int64.max)
        conditions.jitter = .seconds(-2)
        conditions.downloadBytesPerSecond = -1
        conditions.uploadBytesPerSecond = nil
        #expect(conditions.latency == .seconds(Int64(3_155_760_000)))
        #expect(conditions.jitter == .zero)
        #expect(conditions.downloadBytesPerSecond == 1)
        #expect(conditions.uploadBytesPerSecond == nil)
    }

    /// The waits are computed by hand from the documented figures, in microseconds: 33,000 bytes up, half of the
    /// latency twice, 78,000 bytes down.
    @Test(
        "each preset takes the time of its figures",
        arguments: [
            (NetworkConditions.perfect, []), (.wifi, [8_000, 1_000, 1_000, 15_600]),
            (.lte, [26_400, 57_500, 57_500, 12_480]),
            (.threeG, [800_000, 100_000, 100_000, 800_000]), (.edge, [1_320_000, 420_000, 420_000, 2_600_000]),
            (.gprs, [13_200_000, 250_000, 250_000, 12_480_000]), (.satellite, [88_000, 279_000, 279_000, 24_960]),
            (.lossy, [264_000, 500_000, 500_000, 624_000]),
        ])
    func presetTimes(conditions: NetworkConditions, microseconds: [Int]) async throws {
        var conditions = conditions
        conditions.loss = 0
        let clock = TestClock(skips: true)
        let stub = StubSession { _ in .data(Data(count: 78_000)) }
        let url = URL(string: "https://h.example/p")
        let response = try await stub.under(conditions, clock: clock)
            .send(NetworkRequest(.post, url, body: DataBody(Data(count: 33_000))))
        #expect(clock.sleeps == microseconds.map { .microseconds($0) })
        #expect(response.body.count == 78_000)
    }

    @Test("the presets have their documented losses")
    func presetLosses() {
        #expect(NetworkConditions.lossy.loss == 0.1)
        for preset in [NetworkConditions.wifi, .lte, .threeG, .edge, .gprs, .satellite] {
            #expect(preset.loss == 0)
            #expect(!preset.isOffline)
        }
    }
}
