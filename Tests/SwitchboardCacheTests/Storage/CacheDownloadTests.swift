import Foundation
import Switchboard
@testable import SwitchboardCache
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Downloads through a cache on disk.
@Suite(.timeLimit(.minutes(10)))
struct CacheDownloadTests {
    private static let size = CutStreamFixture.size
    private let files = CutStreamFixture.files()

    @Test("an interrupted download resumes with the stored bytes", arguments: [false, true], [1, 20])
    func resumed(isKept: Bool, factor: Int) async throws {
        let size = Self.size * factor
        let files = CutStreamFixture.files(1, size)
        let cut = 100_001 * factor
        try await CutStreamFixture.run { fixture in
            fixture.server.enqueue(files.whole.truncated(after: cut))
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.downloadCut(isKept: isKept)
            #expect(names(in: fixture.folder).count == (isKept ? 3 : 1))
            let progress = TransferProgress()
            let response = try await fixture.download(isKept: isKept, progress)
            #expect(try fixture.saved() == files.content && progress.current.completed == Int64(size))
            #expect(response.metrics.bytesReceived == Int64(size - cut))
            #expect(fixture.sent == ["", "bytes=\(cut)- \"v1\""])
            #expect(names(in: fixture.folder) == ["a", "cache"])
            let stream = try await fixture.stream()
            #expect(stream.cacheOutcome == .hit)
            #expect(try await fixture.read(stream) == files.content)
            #expect(try await fixture.router.response(for: fixture.endPoint()).body == files.content)
            #expect(fixture.server.requests.count == 2)
        }
    }

    @Test("a download cut off several times within a call resumes each time")
    func retried() async throws {
        try await CutStreamFixture.run { fixture in
            fixture.server.enqueue(
                files.whole.truncated(after: 100_001), files.part(100_001..<Self.size).truncated(after: 65_535))
            fixture.server.stub(.any) { files.answer($0) }
            let response = try await fixture.download(attempts: 3)
            #expect(response.metrics.bytesReceived == Int64(Self.size))
            #expect(try fixture.saved() == files.content)
            #expect(fixture.sent == ["", "bytes=100001- \"v1\"", "bytes=165536- \"v1\""])
            #expect(try await fixture.read(fixture.stream()) == files.content)
            #expect(fixture.server.requests.count == 3)
        }
    }

    @Test("a changed tag gives the new file whole", arguments: [false, true])
    func changed(isKept: Bool) async throws {
        try await CutStreamFixture.run { fixture in
            let new = CutStreamFixture.files(2)
            fixture.server.enqueue(files.whole.truncated(after: 100_000))
            fixture.server.stub(.any) { new.answer($0) }
            try await fixture.downloadCut(isKept: isKept)
            try await fixture.download(isKept: isKept)
            #expect(try fixture.saved() == new.content)
            #expect(try await fixture.read(fixture.stream()) == new.content)
            #expect(fixture.sent == ["", "bytes=100000- \"v1\""])
        }
    }

    @Test("without the cache, a kept download resumes, another begins anew", arguments: [false, true])
    func removed(isKept: Bool) async throws {
        try await CutStreamFixture.run { fixture in
            fixture.server.enqueue(files.whole.truncated(after: 100_000))
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.downloadCut(isKept: isKept)
            try FileManager.default.removeItem(at: fixture.cacheFolder)
            try await fixture.download(isKept: isKept)
            #expect(try fixture.saved() == files.content)
            #expect(fixture.sent == ["", isKept ? "bytes=100000- \"v1\"" : ""])
        }
    }

    @Test("a complete file of a killed download gets its name without a request")
    func killedBeforeName() async throws {
        let files = CutStreamFixture.files(1, 3_000_001)
        try await CutStreamFixture.run { fixture in
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.download()
            // As if the process had been killed while it verified the file.
            try FileManager.default.moveItem(at: fixture.file, to: fixture.file(".a.download"))
            let origin: [String: Any] = ["url": fixture.url.absoluteString, "validator": "\"v1\"", "size": 3_000_001]
            try JSONSerialization.data(withJSONObject: origin).write(to: fixture.file(".a.download.json"))
            try await fixture.download(isKept: true)
            #expect(try fixture.saved() == files.content)
            #expect(try await fixture.read(fixture.stream()) == files.content)
            #expect(fixture.server.requests.count == 1)
        }
    }

    @Test("a kept download of unknown origin begins anew with the stored bytes")
    func withoutOrigin() async throws {
        let files = CutStreamFixture.files(1, 3_000_001)
        try await CutStreamFixture.run { fixture in
            fixture.server.enqueue(files.whole.truncated(after: 2_000_000))
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.downloadCut(isKept: true)
            try FileManager.default.removeItem(at: fixture.file(".a.download.json"))
            try await fixture.download(isKept: true)
            #expect(try fixture.saved() == files.content)
            #expect(fixture.sent == ["", "bytes=2000000- \"v1\""])
        }
    }

    @Test("a finished file stays when the cache is removed, in memory and on disk")
    func independent() async throws {
        try await CutStreamFixture.run { fixture in
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.download()
            await fixture.cache.removeAll()
            #expect(names(in: fixture.cacheFolder) == [])
            #expect(try fixture.saved() == files.content)
        }
    }

    @Test("an interrupted download that cannot be completed leaves nothing")
    func weak() async throws {
        try await CutStreamFixture.run { fixture in
            fixture.server.enqueue(files.whole.with("ETag", "W/\"v1\"").truncated(after: 100_000))
            try await fixture.downloadCut(isKept: false)
            #expect(names(in: fixture.cacheFolder) == [] && names(in: fixture.folder) == ["cache"])
        }
    }

    @Test("a partial file that the app edited does not get into the cache", arguments: [1, 20])
    func editedPart(factor: Int) async throws {
        let files = CutStreamFixture.files(1, Self.size * factor)
        try await CutStreamFixture.run { fixture in
            fixture.server.enqueue(files.whole.truncated(after: 100_000 * factor))
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.downloadCut(isKept: true)
            // A new file, so that the stored part stays as it is.
            let part = fixture.file(".a.download")
            var data = try Data(contentsOf: part)
            data[0] ^= 1
            try data.write(to: part, options: .atomic)
            try await fixture.download(isKept: true)
            #expect(fixture.sent.last == "bytes=\(100_000 * factor)- \"v1\"")
            #expect(try await fixture.read(fixture.stream()) == files.content)
        }
    }

    @Test("a stored download is validated, and replaced by a new version")
    func validated() async throws {
        let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
        let files = CutStreamFixture.files(1, 3_000_001)
        try await CutStreamFixture.run { fixture in
            fixture.server.stub(.any) { $0.headers["If-None-Match"] == nil ? files.answer($0) : .status(304) }
            let cache = try ResponseCache(folder: fixture.cacheFolder, now: { date.now })
            let router = Router<URLEndPoint>(exchangeInterceptors: [cache])
            try await router.download(fixture.endPoint(), to: fixture.file)
            for _ in 1...2 {
                date.advance(by: 4_000)
                let response = try await router.streamedResponse(for: fixture.endPoint())
                #expect(response.cacheOutcome == .validated(.expired))
                #expect(try await fixture.read(response) == files.content)
                #expect(names(in: fixture.cacheFolder).count == 1)
            }
            // Another program counts the bytes too.
            let other = try ResponseCache(folder: fixture.cacheFolder)
            #expect(await other.usage.disk > 3_000_001)
            fixture.server.stub(.any) { CutStreamFixture.files(2).answer($0) }
            date.advance(by: 4_000)
            try await fixture.read(router.streamedResponse(for: fixture.endPoint()))
            #expect(names(in: fixture.cacheFolder).count == 1)
        }
    }

    @Test("an edited and a deleted file leave the stored response as it is", arguments: [false, true])
    func edited(isDeleted: Bool) async throws {
        try await CutStreamFixture.run { fixture in
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.download()
            try FileHandle(forWritingTo: fixture.file).write(contentsOf: Data("edited".utf8))
            if isDeleted { try FileManager.default.removeItem(at: fixture.file) }
            #expect(try await fixture.read(fixture.stream()) == files.content)
            try await fixture.download()
            #expect(try fixture.saved() == files.content)
            #expect(fixture.server.requests.count == 1)
        }
    }

    @Test("two downloads of one URL at a time are both right, and stored once")
    func concurrent() async throws {
        try await CutStreamFixture.run { fixture in
            fixture.server.stub(.any) { files.answer($0) }
            for isCut in [true, false] {
                if isCut { fixture.server.enqueue(files.whole.truncated(after: 100_000)) }
                await withTaskGroup(of: Void.self) { group in
                    for name in ["a", "b", "c"] {
                        group.addTask { _ = try? await fixture.download(name) }
                    }
                }
                for name in ["a", "b", "c"] {
                    if !isCut || FileManager.default.fileExists(atPath: fixture.file(name).path) {
                        let saved = try fixture.saved(name)
                        #expect(saved == files.content)
                    }
                }
                let streamed = try await fixture.read(fixture.stream())
                #expect(streamed == files.content)
                #expect(names(in: fixture.cacheFolder).count == 1)
            }
        }
    }

    @Test("a download answered by the cache counts no received bytes", arguments: [1_000, 3_000_000])
    func counted(size: Int) async throws {
        try await CutStreamFixture.run { fixture in
            fixture.server.stub(.any) { CutStreamFixture.files(1, size).answer($0) }
            #expect(try await fixture.download().metrics.bytesReceived == Int64(size))
            let progress = TransferProgress()
            let response = try await fixture.download("b", progress)
            #expect(response.cacheOutcome == .hit && response.metrics.bytesReceived == 0)
            #expect(progress.current.completed == Int64(size) && progress.current.expected == Int64(size))
            // Also with a conditioner before the cache.
            let conditioner = NetworkConditioner(
                NetworkConditions(downloadBytesPerSecond: 1 << 20), clock: TestClock(skips: true))
            let slow = Router<URLEndPoint>(exchangeInterceptors: [conditioner, fixture.cache])
            let paced = try await slow.download(fixture.endPoint(), to: fixture.file("c"))
            #expect(paced.cacheOutcome == .hit && paced.metrics.bytesReceived == 0)
        }
    }

    @Test("downloads cut off and canceled at random deliver the file of a version", arguments: 0..<2)
    func random(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await CutStreamFixture.run { fixture in
            var version = 1
            var ends = (whole: 0, cut: 0)
            for _ in 0..<cases(40) {
                if random.oneIn(10) { version += 1 }
                if random.oneIn(3) { await fixture.cache.removeAll() }
                if random.oneIn(12) { try? FileManager.default.removeItem(at: fixture.cacheFolder) }
                let files = CutStreamFixture.files(version)
                let cut = random.oneIn(2) ? Int.random(in: 1..<Self.size, using: &random) : nil
                fixture.server.stub(.any) { request in
                    let answer = files.answer(request)
                    return cut.map { answer.truncated(after: $0) } ?? answer
                }
                let point = random.oneIn(3) ? Int64.random(in: 0..<Int64(Self.size), using: &random) : .max
                let (isKept, attempts) = (random.oneIn(2), Int.random(in: 1...2, using: &random))
                let progress = TransferProgress()
                async let response = fixture.download(isKept: isKept, attempts: attempts, progress)
                for await update in progress where update.completed >= point { progress.cancel() }
                do {
                    _ = try await response
                    ends.whole += 1
                    let saved = try fixture.saved()
                    #expect((1...version).contains { CutStreamFixture.files($0).content == saved })
                } catch {
                    ends.cut += 1
                    let codes: [NetworkError.Code] = [.truncatedBody, .connectionLost, .invalidResponse]
                    #expect(
                        error is CancellationError || (error as? NetworkError).map { codes.contains($0.code) } == true)
                }
                let onDisk = try fixture.bytesOnDisk()
                #expect(onDisk < 3 * Self.size + 8_192)
            }
            #expect(ends.whole > 5 && ends.cut > 0)
        }
    }
}

extension CutStreamFixture {
    var cacheFolder: URL { folder.appendingPathComponent("cache") }
    var file: URL { file("a") }

    func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

    func saved(_ name: String = "a") throws -> Data { try Data(contentsOf: file(name)) }

    @discardableResult
    func download(
        _ name: String = "a", isKept: Bool = false, attempts: Int = 1, _ progress: TransferProgress? = nil
    ) async throws -> NetworkResponse {
        let options = RequestOptions {
            $0.retry = RetryPolicy(maximumAttempts: attempts, clock: TestClock(skips: true))
        }
        return try await router.download(
            endPoint(), to: file(name), keepingPartial: isKept, options: options, progress: progress)
    }

    /// Downloads a file whose body ends early.
    func downloadCut(isKept: Bool) async throws {
        let error = await #expect(throws: NetworkError.self) { try await download(isKept: isKept) }
        #expect(error?.code == .truncatedBody)
    }
}
