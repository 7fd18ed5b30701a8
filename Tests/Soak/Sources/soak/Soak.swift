import Foundation
import Glibc
import Switchboard

/// Sends many requests through a session and watches the memory, descriptors and threads of the process.
/// `scripts/packages/soak` builds and runs it.
@main
enum Soak {
    private static let usage = """
        usage: soak requests COUNT | cancels COUNT [SEED] | sessions COUNT [SEED] | slow-reader SECONDS | exits COUNT
               | cancel-curl ROUNDS [SEED] | cancel-foundation ROUNDS [SEED] | cancel-tasks ROUNDS [SEED]
               | sockets COUNT [SEED] | idle-sockets COUNT [SEED]
        """

    /// Parses a positive number, perhaps a seed, and perhaps a port. Nil for other words.
    private static func numbers(_ words: ArraySlice<String>) -> (number: Int, seed: UInt64, port: Int?)? {
        let numbers = words.compactMap { Int($0) }
        guard let number = numbers.first, numbers.count == words.count, number > 0 else { return nil }
        return (number, numbers.count > 1 ? UInt64(numbers[1]) : 1, numbers.count > 2 ? numbers[2] : nil)
    }

    static func main() async {
        var words = CommandLine.arguments.dropFirst()
        guard let mode = words.popFirst() else { stop(usage, 64) }
        if mode == "serve" { Server.serve() }
        guard let (number, seed, port) = numbers(words) else { stop(usage, 64) }
        if mode == "leave", let port { await Leave(port: UInt16(number), fullPort: UInt16(port), seed: seed).play() }
        do {
            let server = try ServerProcess()
            let report: Report
            switch mode {
            case "requests": report = await Requests(count: number, server: server).run()
            case "cancels": report = await Cancels(count: number, seed: seed, server: server).run()
            case "cancel-curl", "cancel-foundation":
                let session: any NetworkSession =
                    mode == "cancel-curl"
                    ? CurlSession(configuration: .direct(connections: 64))
                    : FoundationSession(configuration: SessionConfiguration(maximumConnectionsPerHost: 64))
                let options = RequestOptions { $0.timeouts = .none }
                let router = Router<URLEndPoint>(session: session, options: options)
                say("\(type(of: session))")
                report = try await CancelRounds(count: number, seed: seed, router: router, server: server).run()
            case "cancel-tasks":
                let router = Router<URLEndPoint>(session: CurlSession(configuration: .direct(connections: 64)))
                report = try await CancelTasks(count: number, seed: seed, router: router, server: server).run()
            case "sessions": report = await Sessions(count: number, seed: seed, server: server).run()
            case "sockets": report = await Sockets(count: number, seed: seed, server: server).run()
            case "idle-sockets": report = try await IdleSockets(count: number, server: server).run()
            case "slow-reader": report = try await SlowReader(seconds: number, server: server).run()
            case "exits": report = try Exits(count: number, server: server).run()
            default: stop(usage, 64)
            }
            server.stop()
            exit(report.finish())
        } catch {
            stop("soak: \(error)", 1)
        }
    }
}
