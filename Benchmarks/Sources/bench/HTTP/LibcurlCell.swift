import Foundation
import LibcurlLoop
import Movies

/// The same cell for libcurl alone in a C loop on one thread: the lower bound for all clients over libcurl.
struct LibcurlCell {
    private let inFlight: Int
    private let seconds: Double
    private let warmUp: Double

    init(_ arguments: Arguments) throws {
        inFlight = max(1, try arguments.number("in-flight", default: 1))
        seconds = try arguments.number("seconds", default: 1)
        warmUp = try arguments.number("warm-up", default: 0.2)
    }

    func measure() throws -> HTTPCell.Report {
        var result = libcurl_loop_result()
        guard libcurl_loop(Loopback.page, Int32(inFlight), warmUp, &result), result.requests > 0 else {
            throw UnexpectedAnswer(description: "libcurl received no response")
        }
        let cpu = ProcessUsage.cpuMicroseconds
        _ = libcurl_loop(Loopback.page, Int32(inFlight), seconds, &result)
        let cpuUsed = ProcessUsage.cpuMicroseconds - cpu
        let count = result.requests
        return HTTPCell.Report(
            requests: count, errors: result.errors,
            firstError: result.errors > 0 ? "libcurl's" : nil,
            seconds: result.seconds, requestsPerSecond: Double(count) / result.seconds,
            cpuMicroseconds: cpuUsed / Double(max(1, count)), p50Microseconds: 0, p99Microseconds: 0,
            peakKiB: ProcessUsage.peakResidentKiB)
    }
}
