import SwitchboardPlatform
import Switchboard

/// The quality of a network that a ``NetworkConditioner`` simulates.
///
/// ```swift
/// let train = NetworkConditions(
///     latency: .milliseconds(300), jitter: .milliseconds(100),
///     loss: 0.02)
/// ```
///
/// A value outside its range becomes the nearest value within it, at creation and at every change.
public struct NetworkConditions: Sendable, Hashable {
    /// The time from the end of a request to the head of its answer: one round trip, from zero to a century.
    public var latency: Duration { didSet { latency = latency.clamped } }
    /// The largest deviation of a request's latency from ``latency``, in either direction and evenly distributed. From
    /// zero to a century; a negative latency becomes zero.
    public var jitter: Duration { didSet { jitter = jitter.clamped } }
    /// The probability that a request is lost, from 0 for never to 1 for always. NaN counts as 0.
    public var loss: Double { didSet { loss = Self.probability(loss) } }
    /// The speed at which bodies arrive, in bytes per second, at least 1. Nil means no limit.
    public var downloadBytesPerSecond: Int? {
        didSet { downloadBytesPerSecond = downloadBytesPerSecond.map { max(1, $0) } }
    }
    /// The speed at which bodies are sent, in bytes per second, at least 1. Nil means no limit.
    public var uploadBytesPerSecond: Int? {
        didSet { uploadBytesPerSecond = uploadBytesPerSecond.map { max(1, $0) } }
    }
    /// Whether the network is offline. The other values then have no effect.
    public var isOffline: Bool

    /// Creates conditions. The defaults are perfect.
    public init(
        latency: Duration = .zero, jitter: Duration = .zero, loss: Double = 0, downloadBytesPerSecond: Int? = nil,
        uploadBytesPerSecond: Int? = nil, isOffline: Bool = false
    ) {
        self.latency = latency.clamped
        self.jitter = jitter.clamped
        self.loss = Self.probability(loss)
        self.downloadBytesPerSecond = downloadBytesPerSecond.map { max(1, $0) }
        self.uploadBytesPerSecond = uploadBytesPerSecond.map { max(1, $0) }
        self.isOffline = isOffline
    }

    private static func probability(_ value: Double) -> Double {
        value.isNaN ? 0 : min(1, max(0, value))
    }
}

// Unless stated otherwise, a preset has the figures of Apple's Network Link Conditioner (Additional Tools for Xcode).
// Its delays are per direction: the latency here is their sum. It has no jitter.
extension NetworkConditions {
    /// No delay, no loss, no limit.
    public static let perfect = NetworkConditions()

    /// Wi-Fi: 2 ms, 40 Mbit/s down, 33 Mbit/s up, as in Apple's Network Link Conditioner.
    public static let wifi = NetworkConditions(
        latency: .milliseconds(2), downloadBytesPerSecond: 5_000_000, uploadBytesPerSecond: 4_125_000)

    /// LTE: 115 ms, 50 Mbit/s down, 10 Mbit/s up, as in Apple's Network Link Conditioner.
    public static let lte = NetworkConditions(
        latency: .milliseconds(115), downloadBytesPerSecond: 6_250_000, uploadBytesPerSecond: 1_250_000)

    /// 3G: 200 ms, 780 kbit/s down, 330 kbit/s up, as in Apple's Network Link Conditioner.
    public static let threeG = NetworkConditions(
        latency: .milliseconds(200), downloadBytesPerSecond: 97_500, uploadBytesPerSecond: 41_250)

    /// EDGE: 840 ms, 240 kbit/s down, 200 kbit/s up, as in Apple's Network Link Conditioner.
    public static let edge = NetworkConditions(
        latency: .milliseconds(840), downloadBytesPerSecond: 30_000, uploadBytesPerSecond: 25_000)

    /// GPRS: 500 ms, 50 kbit/s down, 20 kbit/s up, as in earlier versions of Chrome's DevTools.
    public static let gprs = NetworkConditions(
        latency: .milliseconds(500), downloadBytesPerSecond: 6_250, uploadBytesPerSecond: 2_500)

    /// A geostationary satellite: 558 ms for the round trip ([RFC 2488
    /// §2](https://www.rfc-editor.org/rfc/rfc2488#section-2)), 25 Mbit/s down and 3 Mbit/s up, the FCC's definition of
    /// broadband of 2015.
    public static let satellite = NetworkConditions(
        latency: .milliseconds(558), downloadBytesPerSecond: 3_125_000, uploadBytesPerSecond: 375_000)

    /// A network that loses one request of ten: 1 s, 1 Mbit/s down and up, the "Very Bad Network" of Apple's Network
    /// Link Conditioner.
    public static let lossy = NetworkConditions(
        latency: .seconds(1), loss: 0.1, downloadBytesPerSecond: 125_000, uploadBytesPerSecond: 125_000)

    /// No network.
    public static let offline = NetworkConditions(isOffline: true)
}
