import Callgrind
import Foundation
import Movies
import Switchboard
import SwitchboardJSON
import SwitchboardStreams

/// A million server-sent events, or fewer under valgrind, in chunks of 64 KiB as a session delivers them.
struct EventBenchmarks {
    private static let count = callgrind_is_there() ? 5_000 : 1_000_000

    private struct Price: Decodable {
        let id: Int
        let price: Double
    }

    func run(_ figures: inout MicroFigures) async throws {
        let names = (bytes: "events.bytes", values: "events.decode")
        guard figures.wants(names.bytes) || figures.wants(names.values) else { return }
        let stream = Self.stream
        try await figures.add(names.bytes, each: Self.count) {
            var (count, length) = (0, 0)
            for try await event in Self.bytes(stream).events() {
                count += 1
                length += event.data.utf8.count
            }
            try Self.check(count, length > 20 * count)
        }
        try await figures.add(names.values, each: Self.count) {
            var (count, sum) = (0, 0)
            for try await event in Self.bytes(stream).events() {
                count += 1
                sum += try event.decode(Price.self, decoder: FastJSONDecoder.ofResponses).id
            }
            try Self.check(count, sum == Self.count * (Self.count - 1) / 2)
        }
    }

    private static func check(_ count: Int, _ isRight: Bool) throws {
        guard count == Self.count, isRight else {
            throw UnexpectedAnswer(description: "read \(count) events instead of \(Self.count)")
        }
    }

    private static var stream: Data {
        var text = Data()
        for id in 0..<count { text += Data("id: \(id)\nevent: price\ndata: {\"id\":\(id),\"price\":12.5}\n\n".utf8) }
        return text
    }

    private static func bytes(_ stream: Data) -> ResponseBytes {
        let chunks = Chunks(stream)
        return ResponseBytes { await chunks.next() }
    }

    private actor Chunks {
        private let data: Data
        private var start = 0

        init(_ data: Data) {
            self.data = data
        }

        func next() -> Data? {
            guard start < data.count else { return nil }
            let end = min(start + (64 << 10), data.count)
            defer { start = end }
            return data.subdata(in: start..<end)
        }
    }
}
