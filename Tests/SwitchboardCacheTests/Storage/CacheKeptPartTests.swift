import Foundation
import Switchboard
@testable import SwitchboardCache
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// A stored response stays when a newer one of its version cannot be written. Damaged bytes do not.
@Suite(.timeLimit(.minutes(10)))
struct CacheKeptPartTests {
    private static let size = CutStreamFixture.size
    private let files = CutStreamFixture.files()

    @Test("a completed stream that does not fit on disk leaves the stored part", arguments: [1, 2])
    func tooLarge(version: Int) async throws {
        try await CutStreamFixture.run { fixture in
            fixture.server.enqueue(files.whole.truncated(after: 100_000))
            fixture.server.stub(.any) { [files] in
                version == 1 ? files.answer($0) : CutStreamFixture.files(version).answer($0)
            }
            try await fixture.readCut()
            let small = try ResponseCache(folder: fixture.cacheFolder, diskLimit: 200_000)
            let router = Router<URLEndPoint>(exchangeInterceptors: [small])
            let content = CutStreamFixture.files(version).content
            for _ in 1...2 {
                #expect(try await fixture.read(router.streamedResponse(for: fixture.endPoint())) == content)
            }
            // A part of another version is of no use.
            #expect(fixture.sent == ["", "bytes=100000- \"v1\"", version == 1 ? "bytes=100000- \"v1\"" : ""])
        }
    }

    @Test("a streamed range that does not fit in memory leaves the stored part")
    func tooLargeForMemory() async throws {
        let files = CutStreamFixture.files(1, 3_000_001)
        try await CutStreamFixture.run(isOnDisk: false) { fixture in
            fixture.server.enqueue(files.whole.chunked(50_000).truncated(after: 100_000))
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.readCut()
            for _ in 1...2 { #expect(try await fixture.read(fixture.stream()) == files.content) }
            #expect(fixture.sent == ["", "bytes=100000- \"v1\"", "bytes=100000- \"v1\""])
        }
    }

    @Test("a response that cannot be written leaves that of its version", arguments: [1, 2], [1_000, 2_000_000])
    func unwritable(version: Int, size: Int) async throws {
        try await withFolder { folder in
            let fixture = try CacheFixture(StubSession(.text(""))) { _ in
                try ResponseCache(folder: folder, memoryLimit: 0)
            }
            let storage = fixture.cache.storage
            try await fixture.withLoad(of: URL(string: "https://h/")) { load in
                @Sendable func response(_ version: Int) -> StoredResponse {
                    StoredResponse(
                        status: 200, headers: ["ETag": "\"\(version)\"", "Cache-Control": "max-age=60"],
                        body: Data(count: size), url: nil, variant: "", responseTime: Date(), initialAge: 0, tags: [])
                }
                let first = await storage.store(response(1), at: storage.begin(load).number)
                #expect(first == nil)
                let next = await storage.begin(load).number
                let fault = await storage.commit(response(version), at: next, .failure(.onDisk("the disk is full")))
                #expect(fault?.event == "not stored on disk: the disk is full")
                let found = await storage.findInMemoryOrOnDisk(load.key, load.request)
                #expect(found?.tag == (version == 1 ? "\"1\"" : nil))
            }
        }
    }

    @Test("a stored part whose bytes are damaged is removed", arguments: [false, true])
    func damaged(isCut: Bool) async throws {
        let files = CutStreamFixture.files(1, 3_000_001)
        try await CutStreamFixture.run { fixture in
            let rest = files.part(2_000_000..<3_000_001)
            fixture.server.enqueue(
                files.whole.truncated(after: 2_000_000), isCut ? rest.truncated(after: 70_000) : rest)
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.readCut()
            let cache = fixture.cacheFolder
            try damageStoredFile(in: cache, at: 500_000)
            // Its reader wants the rest alone, which is right.
            let response = try await fixture.stream(["Range": "bytes=2000000-"])
            var received = Data()
            do {
                for try await chunk in response.bytes { received += chunk }
            } catch let error as NetworkError {
                #expect(error.code == .truncatedBody && isCut)
            }
            #expect(received == files.content[2_000_000...].prefix(isCut ? 70_000 : 1_000_001))
            #expect(names(in: cache) == [])
            #expect(try await fixture.read(fixture.stream()) == files.content)
            #expect(fixture.sent.last == "")
        }
    }

    @Test("a confirmed response whose file is damaged is removed")
    func confirmed() async throws {
        let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
        let files = CutStreamFixture.files(1, 3_000_001)
        try await CutStreamFixture.run { fixture in
            fixture.server.stub(.any) { $0.headers["If-None-Match"] == nil ? files.answer($0) : .status(304) }
            let cache = try ResponseCache(folder: fixture.cacheFolder, now: { date.now })
            let router = Router<URLEndPoint>(exchangeInterceptors: [cache])
            try await fixture.read(router.streamedResponse(for: fixture.endPoint()))
            try damageStoredFile(in: fixture.cacheFolder, at: 500_000)
            date.advance(by: 4_000)
            let response = try await router.streamedResponse(for: fixture.endPoint())
            #expect(response.cacheOutcome == .validated(.expired))
            let error = await #expect(throws: NetworkError.self) { try await fixture.read(response) }
            #expect(error?.code == .truncatedBody && names(in: fixture.cacheFolder) == [])
        }
    }
}
