import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardPlatform
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// RFC 9111 §3.3 and §3.4, RFC 9110 §13.1.5 and §15.3.7: streams that end early, and their completion.
@Suite(.timeLimit(.minutes(10)))
struct CacheCutStreamTests {
    private static let size = CutStreamFixture.size
    private let files = CutStreamFixture.files()

    enum Cut: CaseIterable { case connection, reader, cancellation }

    @Test("a truncated stream is stored, and the next one requests the rest", arguments: Cut.allCases, [false, true])
    func kept(cut: Cut, isOnDisk: Bool) async throws {
        try await CutStreamFixture.run(isOnDisk: isOnDisk) { fixture in
            let first = files.whole
            fixture.server.enqueue(cut == .connection ? first.truncated(after: 100_000) : first.stalled(after: 100_000))
            fixture.server.stub(.any) { files.answer($0) }
            let task = Task {
                let response = try await fixture.stream()
                var count = 0
                for try await chunk in response.bytes {
                    count += chunk.count
                    guard count == 100_000 else { continue }
                    if cut == .reader { return }
                    if cut == .cancellation { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            let result = await task.result
            #expect((try? result.get()) == nil || cut == .reader)
            await fixture.waitForPart()
            let second = try await fixture.stream()
            #expect(second.statusCode == 200 && second.cacheOutcome == .validated(.incomplete) && second.body.isEmpty)
            #expect(second.headers["Content-Length"] == "\(Self.size)" && second.headers["Content-Range"] == nil)
            #expect(try await fixture.read(second) == files.content)
            let third = try await fixture.stream()
            #expect(third.cacheOutcome == .hit)
            #expect(try await fixture.read(third) == files.content)
            #expect(fixture.sent == ["", "bytes=100000- \"v1\""])
        }
    }

    @Test("a stream that is truncated again keeps all bytes", arguments: [(false, 1), (true, 1), (true, 20)])
    func twice(isOnDisk: Bool, factor: Int) async throws {
        let size = Self.size * factor
        let files = CutStreamFixture.files(1, size)
        let first = 100_000 * factor
        try await CutStreamFixture.run(isOnDisk: isOnDisk) { fixture in
            fixture.server.enqueue(
                files.whole.truncated(after: first), files.part(first..<size).truncated(after: 70_001))
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.readCut()
            try await fixture.readCut()
            // A reader that stops within the stored bytes loses none of them.
            try await fixture.read(fixture.stream(), upTo: 1)
            if isOnDisk {
                // What it did not read is ended by a task, which removes the second file.
                let cache = fixture.folder.appendingPathComponent("cache").path
                #expect(try await comesTrue { try FileManager.default.contentsOfDirectory(atPath: cache).count == 1 })
            }
            #expect(try await fixture.read(fixture.stream()) == files.content)
            #expect(fixture.sent.last == "bytes=\(first + 70_001)- \"v1\"")
            #expect(fixture.sent.count == 4)
        }
    }

    @Test("a body of unknown size that was cut off is completed")
    func chunked() async throws {
        try await CutStreamFixture.run { fixture in
            fixture.server.enqueue(files.whole.chunked(10_000).truncated(after: 100_000))
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.readCut()
            #expect(try await fixture.read(fixture.stream()) == files.content)
            #expect(try await fixture.stream().cacheOutcome == .hit)
            #expect(fixture.sent == ["", "bytes=100000- \"v1\""])
        }
    }

    @Test("a stream without a strong validator, or a byte, is stored whole")
    func short() async throws {
        for (size, tag) in [(0, "\"v1\""), (0, "W/\"v1\""), (10, "W/\"v1\""), (10, "\"v1\"")] {
            for isChunked in [false, true] {
                try await CutStreamFixture.run { fixture in
                    let files = CutStreamFixture.files(1, size)
                    let whole = files.whole.with("ETag", tag)
                    fixture.server.enqueue(isChunked ? whole.chunked(5) : whole)
                    try await fixture.read(fixture.stream())
                    let again = try await fixture.stream()
                    #expect(again.cacheOutcome == .hit)
                    #expect(try await fixture.read(again) == files.content)
                }
            }
        }
    }

    @Test("a call for the whole completes a truncated stream; ranges are answered")
    func wholeCall() async throws {
        try await CutStreamFixture.run { fixture in
            fixture.server.enqueue(files.whole.truncated(after: 100_000))
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.readCut()
            let part = try await fixture.router.response(for: fixture.endPoint(["Range": "bytes=99990-99999"]))
            #expect(part.statusCode == 206 && part.body == files.content[99_990..<100_000])
            #expect(try await fixture.router.response(for: fixture.endPoint()).body == files.content)
            #expect(fixture.sent == ["", "bytes=100000- \"v1\""])
        }
    }

    @Test("a changed tag gives the new body whole, and replaces the part", arguments: [false, true])
    func changed(isOnDisk: Bool) async throws {
        try await CutStreamFixture.run(isOnDisk: isOnDisk) { fixture in
            let new = CutStreamFixture.files(2)
            fixture.server.enqueue(files.whole.truncated(after: 100_000))
            fixture.server.stub(.any) { new.answer($0) }
            try await fixture.readCut()
            for _ in 1...2 { #expect(try await fixture.read(fixture.stream()) == new.content) }
            #expect(fixture.sent == ["", "bytes=100000- \"v1\""])
        }
    }

    @Test("a cut-off stream of another version replaces a longer part", arguments: [false, true])
    func changedAndCut(isOnDisk: Bool) async throws {
        try await CutStreamFixture.run(isOnDisk: isOnDisk) { fixture in
            let new = CutStreamFixture.files(2)
            fixture.server.enqueue(files.whole.truncated(after: 100_000), new.whole.truncated(after: 50_000))
            fixture.server.stub(.any) { new.answer($0) }
            for _ in 1...2 { try await fixture.readCut() }
            #expect(try await fixture.read(fixture.stream()) == new.content)
            #expect(fixture.sent == ["", "bytes=100000- \"v1\"", "bytes=50000- \"v2\""])
        }
    }

    @Test(
        "a whole stream is stored after a part overtook it, not after a removal", arguments: [false, true])
    func overtaken(isRemoved: Bool) async throws {
        try await CutStreamFixture.run { fixture in
            fixture.server.stub(.any) { files.answer($0) }
            let first = try await fixture.stream()
            _ = try await fixture.router.response(for: fixture.endPoint(["Range": "bytes=0-9"]))
            if isRemoved { await fixture.cache.removeAll() }
            #expect(try await fixture.read(first) == files.content)
            let second = try await fixture.stream()
            #expect((second.cacheOutcome == .hit) == !isRemoved)
            #expect(try await fixture.read(second) == files.content)
        }
    }

    @Test("a removal during a stream that is then cut off leaves nothing")
    func removedAndCut() async throws {
        try await CutStreamFixture.run { fixture in
            fixture.server.enqueue(files.whole.truncated(after: 100_000))
            let response = try await fixture.stream()
            await fixture.cache.removeAll()
            let error = await #expect(throws: NetworkError.self) { try await fixture.read(response) }
            #expect(error?.code == .truncatedBody)
            let count = await fixture.cache.usage.count
            #expect(count == 0 && names(in: fixture.folder.appendingPathComponent("cache")) == [])
        }
    }

    /// Answers to the request for the rest that do not fit the stored part.
    private static let misfits: [@Sendable (RangeServer) -> MockResponse] = [
        { _ in .status(416, headers: ["Content-Range": "bytes */10"]) },
        { $0.part(100_001..<size) }, { $0.part(99_999..<size) }, { $0.part(100_000..<200_000) },
        { $0.part(100_000..<size, of: size + 1) }, { $0.part(100_000..<size).with("Content-Range", "bytes 1") },
        { files in
            MockResponse.data(files.content[100_000...] + Data([0]), statusCode: 206, headers: files.validators)
                .with("Content-Range", "bytes 100000-300001/300002")
        },
        { $0.part(100_000..<size).with("ETag", "\"v2\"") }, { $0.part(100_000..<size).with("Content-Range", "") },
        { $0.part(100_000..<size).with("Content-Range", "bytes 100000-300000/*") },
    ]

    @Test("an answer that does not fit the stored part leads to one plain request", arguments: misfits.indices)
    func misfit(index: Int) async throws {
        try await CutStreamFixture.run { fixture in
            fixture.server.enqueue(files.whole.truncated(after: 100_000), Self.misfits[index](files))
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.readCut()
            for _ in 1...2 { #expect(try await fixture.read(fixture.stream()) == files.content) }
            #expect(fixture.sent == ["", "bytes=100000- \"v1\"", ""])
        }
    }

    @Test(
        "a streamed range that continues the stored part makes it whole",
        arguments: [(false, size, 1), (true, size, 1), (true, 10 * size, 10)])
    func continued(isOnDisk: Bool, size: Int, factor: Int) async throws {
        let files = CutStreamFixture.files(1, size)
        try await CutStreamFixture.run(isOnDisk: isOnDisk) { fixture in
            fixture.server.enqueue(files.whole.truncated(after: 200_000 * factor))
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.readCut()
            let ranges = [(190_000 * factor)..<(220_000 * factor), (220_000 * factor)..<size]
            for range in ranges {
                let field = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
                #expect(try await fixture.read(fixture.stream(["Range": field])) == files.content[range])
            }
            let whole = try await fixture.stream()
            #expect(whole.cacheOutcome == .hit && whole.headers["Content-Length"] == "\(size)")
            #expect(try await fixture.read(whole) == files.content)
            #expect(fixture.server.requests.count == 3)
        }
    }

    @Test("a range after a gap, or of another version, changes no part", arguments: [1, 20])
    func gap(factor: Int) async throws {
        let (size, cut) = (Self.size * factor, 100_000 * factor)
        let files = CutStreamFixture.files(1, size)
        try await CutStreamFixture.run { fixture in
            fixture.server.enqueue(
                files.whole.truncated(after: cut), files.part((cut + 1)..<size),
                CutStreamFixture.files(2, size).part(cut..<size))
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.readCut()
            try await fixture.read(fixture.stream(["Range": "bytes=\(cut + 1)-"]))
            #expect(await fixture.cache.usage.count == 1)
            try await fixture.read(fixture.stream(["Range": "bytes=\(cut)-"]))
            #expect(try await fixture.read(fixture.stream()) == files.content)
        }
    }

    @Test("a shorter or longer rest than announced is an error")
    func wrongRest() async throws {
        for end in [-1, 1] {
            try await CutStreamFixture.run { fixture in
                let rest = files.content[100_000...] + Data([0])
                let bad = MockResponse.data(rest.prefix(200_001 + end), statusCode: 206, headers: files.validators)
                    .with("Content-Range", "bytes 100000-300000/300001").chunked(50_000)
                fixture.server.enqueue(files.whole.truncated(after: 100_000), bad)
                fixture.server.stub(.any) { files.answer($0) }
                try await fixture.readCut()
                let error = await #expect(throws: NetworkError.self) { try await fixture.read(fixture.stream()) }
                #expect(error?.code == (end < 0 ? .truncatedBody : .invalidResponse))
            }
        }
    }

    @Test("a call with a smaller limit leaves a large part as it is", arguments: [false, true])
    func limit(isRange: Bool) async throws {
        let size = Self.size * 20
        let files = CutStreamFixture.files(1, size)
        try await CutStreamFixture.run { fixture in
            fixture.server.enqueue(files.whole.truncated(after: 3_000_000))
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.readCut()
            let endPoint = fixture.endPoint(isRange ? ["Range": "bytes=5000000-5000009"] : [:])
            let options = RequestOptions { $0.limits = ResponseLimits(responseBody: 2_000_000) }
            let response = try? await fixture.router.response(for: endPoint, options: options)
            #expect(response?.body == (isRange ? files.content[5_000_000..<5_000_010] : nil))
            #expect(try await fixture.read(fixture.stream()) == files.content)
            let sent = fixture.sent
            #expect(sent == ["", isRange ? "bytes=5000000-5000009" : "", "bytes=3000000- \"v1\""])
        }
    }

    @Test("a truncated stream does not replace a stored whole")
    func wholeStays() async throws {
        try await CutStreamFixture.run { fixture in
            let new = CutStreamFixture.files(2)
            fixture.server.enqueue(files.whole, new.whole.truncated(after: 100_000))
            try await fixture.read(fixture.stream())
            try await fixture.readCut(["Cache-Control": "no-cache"])
            #expect(try await fixture.read(fixture.stream()) == files.content)
        }
    }

    @Test("the bytes of a part before its damage are delivered and stored")
    func damaged() async throws {
        try await CutStreamFixture.run { fixture in
            let files = CutStreamFixture.files(1, 3_000_000)
            fixture.server.enqueue(files.whole.truncated(after: 2_000_000))
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.readCut()
            let cache = fixture.folder.appendingPathComponent("cache")
            try damageStoredFile(in: cache, at: 1_500_000)
            try await fixture.readCut()
            #expect(try await fixture.read(fixture.stream()) == files.content)
            #expect(fixture.sent == ["", "bytes=2000000- \"v1\"", "bytes=1310720- \"v1\""])
        }
    }

    @Test("random streams, ranges and cuts deliver the body of a version", arguments: 0..<2)
    func random(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await CutStreamFixture.run(isOnDisk: seed % 2 == 0) { fixture in
            let version = Protected(1)
            let cut = Protected<Int?>(nil)
            fixture.server.stub(.any) { request in
                let answer = CutStreamFixture.files(version.value).answer(request)
                return cut.value.map { answer.truncated(after: $0) } ?? answer
            }
            for _ in 0..<cases(40) {
                if random.oneIn(8) { version.withLock { $0 += 1 } }
                _ = cut.swap(random.oneIn(2) ? Int.random(in: 1..<Self.size, using: &random) : nil)
                let limit = random.oneIn(3) ? Int.random(in: 1..<Self.size, using: &random) : .max
                let first = random.oneIn(4) ? Int.random(in: 0..<Self.size, using: &random) : nil
                let headers: HTTPHeaders = first.map { ["Range": "bytes=\($0)-"] } ?? [:]
                var data = Data()
                var isCut = false
                do {
                    let response = try await fixture.stream(headers)
                    for try await chunk in response.bytes {
                        data += chunk
                        if data.count >= limit { break }
                    }
                } catch let error as NetworkError where error.code == .truncatedBody {
                    isCut = true
                }
                // A stored version may answer while it is fresh.
                let bodies = (1...version.value).map { CutStreamFixture.files($0).content.dropFirst(first ?? 0) }
                #expect(bodies.contains { $0.prefix(data.count) == data })
                if !isCut, limit == .max { #expect(data.count == Self.size - (first ?? 0)) }
                if random.oneIn(10) { await fixture.cache.removeAll() }
            }
        }
    }
}
