import Foundation
import Movies

/// One cell of the table: one peer, one page, one number of requests in flight.
///
/// `--peer NAME[+decode] --url BASE --in-flight N [--connections N] (--seconds S | --requests N) [--warm-up S]
/// [--expect FILE] [--post FILE] [--ca FILE] [--http1]`
struct HTTPCell {
    private let peer: any Peer
    private let work: Work
    private let inFlight: Int
    private let end: Load.End
    private let warmUp: Double

    init(_ arguments: Arguments) throws {
        inFlight = max(1, try arguments.number("in-flight", default: 1))
        let settings = PeerSettings(
            connections: try arguments.number("connections", default: inFlight),
            authority: arguments.has("ca") ? try arguments.file("ca") : nil,
            isHTTP1: arguments.has("http1"),
            posted: arguments.has("post") ? try Data(contentsOf: try arguments.file("post")) : nil)
        let name = try arguments.text("peer")
        peer = try Peers.make(name.replacingOccurrences(of: "+decode", with: ""), settings)
        if name.contains("+decode") {
            let data = try Data(contentsOf: try arguments.file("expect"))
            work = .decode(expected: try JSONDecoder().decode(MoviePage.self, from: data))
        } else {
            work = .get(expected: arguments.has("expect") ? try Data(contentsOf: try arguments.file("expect")) : nil)
        }
        let requests = try arguments.number("requests", default: 0)
        end = requests > 0 ? .requests(requests) : .seconds(try arguments.number("seconds", default: 1))
        warmUp = try arguments.number("warm-up", default: 0.2)
    }

    struct Report: Encodable {
        let requests: Int
        let errors: Int
        let firstError: String?
        let seconds: Double
        let requestsPerSecond: Double
        let cpuMicroseconds: Double
        let p50Microseconds: Double
        let p99Microseconds: Double
        let peakKiB: Int
        /// The growth of `peakKiB` since the warm-up.
        let peakGrowthKiB: Int
    }

    func measure() async throws -> Report {
        let each = try await work.check(peer)
        if warmUp > 0 { _ = await Load(peer, work, inFlight, until: .seconds(warmUp)).run() }
        let peak = ProcessUsage.peakResidentKiB
        let cpu = ProcessUsage.cpuMicroseconds
        let result = await Load(peer, work, inFlight, until: end).run()
        let cpuUsed = ProcessUsage.cpuMicroseconds - cpu
        guard result.sum == result.latencies.count * each else {
            throw UnexpectedAnswer(
                description: "\(result.latencies.count) responses sum to \(result.sum), expected \(each) each")
        }
        let count = result.latencies.count
        let sorted = result.latencies.sorted()
        return Report(
            requests: count, errors: result.errors, firstError: result.firstError,
            seconds: result.seconds, requestsPerSecond: Double(count) / result.seconds,
            cpuMicroseconds: cpuUsed / Double(max(1, count)),
            p50Microseconds: sorted.percentile(0.50), p99Microseconds: sorted.percentile(0.99),
            peakKiB: ProcessUsage.peakResidentKiB, peakGrowthKiB: ProcessUsage.peakResidentKiB - peak)
    }
}

extension [UInt32] {
    /// Returns a percentile of sorted latencies in nanoseconds, converted to microseconds. 0 if the array is empty.
    fileprivate func percentile(_ share: Double) -> Double {
        isEmpty ? 0 : Double(self[Swift.min(count - 1, Int(Double(count) * share))]) / 1e3
    }
}
