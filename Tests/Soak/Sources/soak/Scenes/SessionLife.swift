import Foundation
import Switchboard

/// The use and the end of a session.
enum SessionLife: CaseIterable {
    case unused, unusedShutDown, used, usedTwice
    case streamKept, streamDropped, bothDropped
    case shutDown, shutDownTwice, invalidated, droppedInFlight, cancelledInFlight

    /// Creates a session, uses it and releases it.
    func play(_ base: String, _ random: inout SeededGenerator) async throws {
        let session = SoakedSession(base, connections: random.number(1...6))
        let moment = Duration.microseconds(random.number(0...4_000))
        switch self {
        case .unused: break
        case .unusedShutDown: await session.curl.shutdown()
        case .used: try await session.send("small/1")
        case .usedTwice:
            async let one: Void = session.send("small/1")
            async let two: Void = session.send("slow/2/1")
            _ = try await (one, two)
        case .streamKept: try await Self.keepStream(base)
        case .streamDropped:
            try await session.readBeginning("large/3000000")
            try await session.send("small/1")
        case .bothDropped:
            _ = try await session.open(random.number(0...1) == 0 ? "large/3000000" : "stall-inside/9000")
        case .shutDown:
            let flight = session.inFlight()
            try await Task.sleep(for: moment)
            await session.curl.shutdown()
            try await flight.value
            try await session.refuse()
        case .shutDownTwice:
            let flight = session.inFlight()
            try await Task.sleep(for: moment)
            async let one: Void = session.curl.shutdown()
            async let two: Void = session.curl.shutdown()
            _ = await (one, two)
            try await flight.value
        case .invalidated:
            let flight = session.inFlight(endless: false)
            try await Task.sleep(for: moment)
            session.curl.invalidate()
            try await flight.value
            try await session.refuse()
        case .droppedInFlight: try await SoakedSession(base, connections: 3).inFlight(endless: false).value
        case .cancelledInFlight:
            let flight = SoakedSession(base, connections: 3).inFlight()
            try await Task.sleep(for: moment)
            flight.cancel()
            try await flight.value
        }
    }

    /// Reads a response after its session was released.
    private static func keepStream(_ base: String) async throws {
        let response = try await SoakedSession(base, connections: 1).open("large/3000000")
        var position = 0
        for try await chunk in response.bytes {
            try check(Pattern.matches(chunk, at: position), "wrong bytes from \(position) on")
            position += chunk.count
        }
        try check(position == 3_000_000, "received \(position) bytes")
    }
}
