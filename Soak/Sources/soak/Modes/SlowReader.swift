import Foundation
import Switchboard

/// A reader that takes 1 KB a second of a body of 1 GiB: the server has to wait for it. Then the rest at full speed.
struct SlowReader {
    private let seconds: Int
    private let server: ServerProcess
    private static let length = 1 << 30
    /// More than the system's own buffers and the session's hold on loopback.
    private static let bound = 32 << 20

    init(seconds: Int, _ server: ServerProcess) {
        self.seconds = seconds
        self.server = server
    }

    func run() async throws -> Report {
        say("1 KB a second of \(Self.length) bytes, for \(seconds) s")
        let session = CurlSession(configuration: .direct(connections: 6))
        let ledger = Ledger(1)
        Watchdog.watch(ledger, limit: .seconds(seconds + 120))
        _ = try await written(session)
        let start = await Figures.settled()
        ledger.begin(0, "the body")
        var request = NetworkRequest(.get, URL(string: "\(server.base)large/\(Self.length)"))
        request.options.streamsResponse = true
        let response = try await session.send(request)
        var reader = response.bytes.makeAsyncIterator()
        var (chunk, position, taken) = (Data(), 0, 0)
        func take() async throws -> Bool {
            guard let next = try await reader.next() else { return false }
            if !Pattern.matches(next, at: position) { ledger.fault("other bytes from \(position) on") }
            chunk = next
            position += next.count
            return true
        }

        // Half a second for the buffers to fill; from then on the server should not get rid of anything.
        try await Task.sleep(for: .milliseconds(500))
        let early = try await written(session)
        let warm = Figures.now()
        var late = early
        for second in 1...seconds {
            if chunk.count < 1_024 { _ = try await take() }
            taken += min(1_024, chunk.count)
            chunk = chunk.dropFirst(1_024)
            try await Task.sleep(for: .seconds(1))
            late = try await written(session)
            if second == seconds || second.isMultiple(of: 10) {
                let figures = Figures.now()
                say("after \(second) s: \(taken) bytes taken, \(late) sent, rss \(figures.mebibytes) MiB")
            }
        }
        let end = Figures.now()
        if late > Self.bound { ledger.fault("the server could send \(late) bytes") }
        // The reader takes a chunk of at most half a mebibyte, and as much may follow it.
        if late - early > 4 << 20 { ledger.fault("the server went on: \(early), then \(late) bytes") }
        while try await take() {}
        if position != Self.length { ledger.fault("\(position) bytes came") }
        ledger.end(0, nil)
        say("then the rest at full speed: \(position) bytes, rss \(Figures.now().mebibytes) MiB")
        return Report(
            start: start, warm: warm, end: end, warmUp: "after 0.5 s", outcome: "server stopped at \(late) bytes",
            faults: ledger.faults)
    }

    private func written(_ session: CurlSession) async throws -> Int {
        Int(try await session.send(NetworkRequest(.get, URL(string: "\(server.base)written"))).text) ?? -1
    }
}
