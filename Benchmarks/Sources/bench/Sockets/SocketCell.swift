import Foundation
import Movies

/// Echoes messages over WebSockets: each connection sends one after the answer to the last.
///
/// `--peer router|router+executor|nio|nio+executor --url URL --connections N --seconds S [--warm-up S]`
struct SocketCell {
    private let peer: any SocketPeer
    private let connections: Int
    private let seconds: Double
    private let warmUp: Double

    init(_ arguments: Arguments) throws {
        let url = try arguments.url("url")
        let port = url.port ?? 80
        switch try arguments.text("peer") {
        case "router": peer = RouterSocketPeer(url: url)
        case "router+executor": peer = RouterSocketPeer(url: url, runsOnSession: true)
        case "nio": peer = try NIOSocketPeer(port: port)
        case "nio+executor": peer = try NIOSocketPeer(port: port, runsOnEventLoops: true)
        case let name: throw UsageError(text: "unknown peer: \(name)")
        }
        connections = max(1, try arguments.number("connections", default: 1))
        seconds = try arguments.number("seconds", default: 1)
        warmUp = try arguments.number("warm-up", default: 0.3)
    }

    struct Report: Encodable {
        let messages: Int
        let messagesPerSecond: Double
        /// The CPU of one message there and back.
        let cpuMicroseconds: Double
        let peakKiB: Int
    }

    func measure() async throws -> Report {
        let schedule = EchoSchedule(after: .seconds(warmUp), lasting: .seconds(seconds))
        async let usage = schedule.usage()
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<connections { group.addTask { try await peer.echo(schedule) } }
            return try await group.reduce(0, +)
        }
        let (cpu, duration) = try await usage
        return Report(
            messages: counts, messagesPerSecond: Double(counts) / duration,
            cpuMicroseconds: cpu / Double(max(1, counts)), peakKiB: ProcessUsage.peakResidentKiB)
    }
}
