import Foundation
import SwitchboardPlatform
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct BytePipeTests {
    private func offer(_ text: String, to pipe: BytePipe) -> BytePipe.OfferResult {
        Data(text.utf8).withUnsafeBytes { pipe.offer($0) }
    }

    @Test("each of a hundred concurrent readers gets a piece or the end")
    func readers() async throws {
        let pipe = BytePipe()
        let pieces = try await withThrowingTaskGroup(of: Data?.self) { group in
            for _ in 0..<100 { group.addTask { try await pipe.next() } }
            await Task.yield()
            _ = offer("piece", to: pipe)
            pipe.deliver()
            pipe.end(nil)
            return try await group.reduce(into: [Data]()) { pieces, piece in if let piece { pieces.append(piece) } }
        }
        #expect(pieces == [Data("piece".utf8)])
    }

    @Test("single bytes are buffered in linear time")
    func singleBytes() {
        let growth = growth(from: 8_000, to: 64_000, of: { $0 }) { count in
            for _ in 0..<10 {
                let pipe = BytePipe()
                for _ in 0..<count { _ = offer("x", to: pipe) }
            }
        }
        #expect(growth < 24)
    }

    @Test("a full pipe asks its writer once to resume, when space is free")
    func full() async throws {
        let pipe = BytePipe()
        let text = String(repeating: "x", count: 64 << 10)
        var taken = 0
        while case .buffered = offer(text, to: pipe) { taken += text.utf8.count }
        #expect(taken == BytePipe.highWaterMark)
        #expect(pipe.isPaused)
        var resumeCounts: [Int] = []
        for count in 1...8 { _ = try await pipe.next { resumeCounts.append(count) } }
        #expect(resumeCounts == [4])
        pipe.didResume()
        #expect(!pipe.isPaused)
        guard case .buffered = offer("more", to: pipe) else { throw CancellationError() }
        #expect(try await pipe.next() == Data("more".utf8))
    }

    @Test("a writer that cannot wait spills to a file, up to the limit, in order")
    func spilled() async throws {
        let pipe = BytePipe(spillLimit: 200_000)
        var expected = Data()
        for number in 0... {
            let text = String(repeating: "\(number % 10)", count: 10_000)
            guard case .buffered = offer(text, to: pipe) else { break }
            expected += Data(text.utf8)
        }
        #expect(expected.count >= BytePipe.highWaterMark + 190_000)
        pipe.end(nil)
        var read = Data()
        while let piece = try await pipe.next() { read += piece }
        #expect(read == expected)
    }

    /// Bytes that repeat after a prime number of them, so that each place in a stream has other ones.
    private static let pattern = Data(
        (0..<65_521 + (512 << 10)).map { UInt8(truncatingIfNeeded: $0 % 65_521 &* 31 >> 3) })

    private func content(_ range: Range<Int>) -> Data {
        let start = range.lowerBound % 65_521
        return Self.pattern[start..<start + range.count]
    }

    @Test("pieces of any size, read at any time, keep their order in the file", arguments: 1...20)
    func spilledAtRandom(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let pipe = BytePipe(spillLimit: 16 << 20)
        var (written, read) = (0, 0)
        func next() async throws {
            let data = try #require(try await pipe.next())
            #expect(data == content(read..<read + data.count))
            read += data.count
        }
        for _ in 0..<300 {
            let count = Int.random(in: 1...(200 << 10), using: &random)
            let bytes = content(written..<written + count)
            if case .buffered = bytes.withUnsafeBytes({ pipe.offer($0) }) { written += count }
            // Falls behind, and catches up.
            for _ in 0..<Int.random(in: 0...4, using: &random) where read < written { try await next() }
        }
        pipe.end(nil)
        while read < written { try await next() }
        #expect(try await pipe.next() == nil)
    }

    #if os(Linux)
    /// Returns the descriptor of the temporary file without a name that has this content.
    private func spillFile(with content: Data) throws -> Int32? {
        let folder = "/proc/self/fd/"
        let name = try FileManager.default.contentsOfDirectory(atPath: folder).first { name in
            let file = try? FileManager.default.destinationOfSymbolicLink(atPath: folder + name)
            guard let file, file.contains("/switchboard-"), file.hasSuffix(" (deleted)") else { return false }
            return FileManager.default.contents(atPath: folder + name) == content
        }
        return name.flatMap { Int32($0) }
    }

    @Test("the file of a reader that stays behind does not grow")
    func spilledForLong() async throws {
        let pipe = BytePipe(spillLimit: 4 << 20)
        let piece = 64 << 10
        var (written, read) = (0, 0)
        func write() throws {
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: written), count: piece)
            guard case .buffered = bytes.withUnsafeBytes({ pipe.offer($0) }) else { throw CancellationError() }
            written += 1
        }
        func readPiece() async throws {
            let data = try #require(try await pipe.next())
            #expect(data.count == piece && data.allSatisfy { $0 == UInt8(truncatingIfNeeded: read) })
            read += 1
        }
        for _ in 0..<24 { try write() }
        // The first 8 pieces are in memory.
        let spilled = (8..<24).reduce(into: Data()) { $0 += Data(repeating: $1, count: piece) }
        let file = try #require(try spillFile(with: spilled))
        let flags = fcntl(file, F_GETFD)
        #expect(flags & FD_CLOEXEC != 0)
        for _ in 0..<500 {
            try write()
            try await readPiece()
        }
        var information = stat()
        #expect(fstat(file, &information) == 0 && information.st_size <= 4 << 20)
        pipe.end(nil)
        while read < written { try await readPiece() }
        #expect(try await pipe.next() == nil)
    }
    #endif

    @Test("closing cancels the writer unless it has ended, and reads throw")
    func closed() async throws {
        for hasEnded in [false, true] {
            let pipe = BytePipe()
            _ = offer("piece", to: pipe)
            if hasEnded { pipe.end(nil) }
            var isCancelled = false
            pipe.close { isCancelled = true }
            #expect(isCancelled != hasEnded)
            await #expect(throws: CancellationError.self) { try await pipe.next() }
        }
    }
}
