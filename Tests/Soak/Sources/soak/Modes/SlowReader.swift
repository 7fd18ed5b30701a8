import Foundation
import Switchboard

/// Reads 1 KB a second of a body of 1 GiB, so that the server has to wait. Reads the rest at full speed.
struct SlowReader {
    let seconds: Int
    let server: ServerProcess
    private static let length = 1 << 30
    /// More bytes than the system and the session buffer on loopback.
    private static let bound = 32 << 20

    func run() async throws -> Report {
        say("reading 1 KB a second of \(Self.length) bytes for \(seconds) s")
        let session = CurlSession(configuration: .direct(connections: 6))
        let ledger = Ledger(1)
        Watchdog.watch(ledger, limit: seconds + 120)
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
            if !Pattern.matches(next, at: position) { ledger.fault("wrong bytes from \(position) on") }
            chunk = next
            position += next.count
            return true
        }

        // After half a second the buffers are full, and the server should not send any more.
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
                say("after \(second) s: \(taken) bytes read, \(late) sent, rss \(figures.mebibytes) MiB")
            }
        }
        let end = Figures.now()
        if late > Self.bound { ledger.fault("the server sent \(late) bytes without waiting for the reader") }
        // The reader takes a chunk of at most half a mebibyte, and a second one may follow it.
        if late - early > 4 << 20 { ledger.fault("the server kept sending: \(early), then \(late) bytes") }
        while try await take() {}
        if position != Self.length { ledger.fault("received \(position) bytes instead of \(Self.length)") }
        ledger.end(0, "value")
        say("then the rest at full speed: \(position) bytes, rss \(Figures.now().mebibytes) MiB")
        return Report(
            start: start, warm: warm, end: end, warmUp: "after 0.5 s", outcome: "server stopped at \(late) bytes",
            faults: ledger.faults)
    }

    private func written(_ session: CurlSession) async throws -> Int {
        Int(try await session.send(NetworkRequest(.get, URL(string: "\(server.base)written"))).text) ?? -1
    }
}
