import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Downloads whose `verify` closure refuses the file: the cache must not deliver it again.
@Suite(.timeLimit(.minutes(10)))
struct CacheRefusedDownloadTests {
    private struct WrongChecksum: Error {}

    private func refuse(_ fixture: CutStreamFixture, isKept: Bool = false, _ error: any Error = WrongChecksum())
        async throws
    {
        try await fixture.router.download(
            fixture.endPoint(), to: fixture.file, keepingPartial: isKept, verify: { _ in throw error })
    }

    @Test(
        "a refused download does not stay stored", arguments: [1_000, CutStreamFixture.size, 3_000_001], [false, true])
    func refused(size: Int, isOnDisk: Bool) async throws {
        let files = CutStreamFixture.files(1, size)
        try await CutStreamFixture.run(isOnDisk: isOnDisk) { fixture in
            fixture.server.stub(.any) { files.answer($0) }
            for isKept in [false, true] {
                let error = await #expect(throws: NetworkError.self) { try await refuse(fixture, isKept: isKept) }
                #expect(error?.code == .verificationFailed)
                #expect(await fixture.cache.usage.count == 0)
            }
            #expect(fixture.sent == ["", ""])
            if isOnDisk { #expect(names(in: fixture.folder) == ["cache"] && names(in: fixture.cacheFolder) == []) }
            _ = try await fixture.router.download(fixture.endPoint(), to: fixture.file)
            #expect(try fixture.saved() == files.content)
        }
    }

    @Test(
        "a stored response that a download refused is removed",
        arguments: [(1_000, false), (1_000, true), (3_000_001, true)])
    func hit(size: Int, isOnDisk: Bool) async throws {
        let files = CutStreamFixture.files(1, size)
        try await CutStreamFixture.run(isOnDisk: isOnDisk) { fixture in
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.read(fixture.stream())
            #expect(await fixture.cache.usage.count == 1)
            await #expect(throws: NetworkError.self) { try await refuse(fixture) }
            #expect(await fixture.cache.usage.count == 0)
            #expect(try await fixture.stream().cacheOutcome != .hit)
            #expect(fixture.sent == ["", ""])
        }
    }

    @Test("a download that was resumed and refused leaves no part", arguments: [false, true])
    func resumed(isKept: Bool) async throws {
        let files = CutStreamFixture.files()
        try await CutStreamFixture.run { fixture in
            fixture.server.enqueue(files.whole.truncated(after: 100_001))
            fixture.server.stub(.any) { files.answer($0) }
            try await fixture.downloadCut(isKept: isKept)
            await #expect(throws: NetworkError.self) { try await refuse(fixture, isKept: isKept) }
            #expect(names(in: fixture.folder) == ["cache"] && names(in: fixture.cacheFolder) == [])
            try await fixture.download(isKept: isKept)
            #expect(fixture.sent == ["", "bytes=100001- \"v1\"", ""])
        }
    }

    @Test("a cancellation refuses nothing, and a newer response stays")
    func canceled() async throws {
        let files = CutStreamFixture.files()
        try await CutStreamFixture.run { fixture in
            fixture.server.stub(.any) { files.answer($0) }
            await #expect(throws: CancellationError.self) { try await refuse(fixture, CancellationError()) }
            let stored = try await fixture.stream()
            #expect(stored.cacheOutcome == .hit)
            let new = CutStreamFixture.files(2)
            await #expect(throws: NetworkError.self) {
                try await fixture.router.download(fixture.endPoint(), to: fixture.file) { _ in
                    fixture.server.stub(.any) { new.answer($0) }
                    let again = URLEndPoint(.get, fixture.url, headers: CutStreamFixture.headers, options: .refreshing)
                    try await fixture.read(fixture.router.streamedResponse(for: again))
                    throw WrongChecksum()
                }
            }
            let read = try await fixture.read(fixture.stream())
            #expect(read == new.content)
            #expect(fixture.server.requests.count == 2)
        }
    }
}
