import Foundation
import Switchboard
@testable import SwitchboardCache
import SwitchboardPlatform
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Files that another process replaced: the index forgets what it knew, and nobody removes the new ones.
@Suite(.timeLimit(.minutes(10)))
struct CacheReplacementTests {
    private static let request = NetworkRequest(.get, URL(string: "https://h/"), headers: ["X-A": "1"])

    /// Returns a variant. Each number has its own tag and its own size.
    private func variant(_ number: Int) -> StoredResponse {
        StoredResponse(
            status: 200, headers: ["Vary": "X-A", "ETag": "\"\(number)\""], body: Data(count: number * 10_000),
            url: nil, variant: "x-a: 1", responseTime: Date(timeIntervalSince1970: Double(number)), initialAge: 0,
            tags: ["\(number)"])
    }

    /// Sets the time of the folder's last change, which a change within the same tick of the clock has too.
    private func setChange(of folder: URL, _ date: Date) throws {
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: folder.path)
    }

    @Test("a variant that another process replaced has its new facts and size", arguments: 0..<3)
    func replaced(order: Int) async throws {
        try await withFolder { folder in
            let key = try CacheKey("https://h/")
            let (one, other) = (try DiskCache(folder, limit: 1 << 20), try DiskCache(folder, limit: 1 << 20))
            let tick = Date(timeIntervalSinceNow: 60)
            if order == 0 {
                // This process lists the folder in the tick of the change.
                try other.write(variant(1), key)
                try setChange(of: folder, tick)
                #expect(one.entityTags(of: key) == ["\"1\""])
            } else {
                // This process writes in the tick of the change.
                try one.write(variant(1), key)
                #expect(one.entityTags(of: key) == ["\"1\""])
                if order == 1 { try one.write(variant(1), CacheKey("https://h/2")) }
                try setChange(of: folder, tick)
                let changed = one.folder.changed
                one.folder.known.withLock { $0 = CacheFolder.Known(changed: changed, hasOwnChanges: true) }
            }
            one.scanSizes()
            try other.write(variant(2), key)
            try setChange(of: folder, tick)
            _ = one.names
            #expect(one.entityTags(of: key) == ["\"2\""])
            one.scanSizes()
            let old = order == 1 ? 12_288 : 0
            #expect(one.size == 20_480 + old && one.count == (order == 1 ? 2 : 1))
            one.remove { _, _, tags in tags == ["2"] }
            #expect(one.find(key, Self.request) == nil)
        }
    }

    @Test("a lookup by tag does not return the variant that replaced the file")
    func unlisted() async throws {
        try await withFolder { folder in
            let key = try CacheKey("https://h/")
            let (one, other) = (try DiskCache(folder, limit: 1 << 20), try DiskCache(folder, limit: 1 << 20))
            try one.write(variant(1), key)
            #expect(one.entityTags(of: key) == ["\"1\""])
            try other.write(variant(2), key)
            // As if this process had not noticed the change yet.
            let changed = one.folder.changed
            one.folder.known.withLock { $0 = CacheFolder.Known(changed: changed) }
            #expect(one.find(key, tag: "\"1\"") == nil)
            #expect(one.all(key, tag: "\"1\"").isEmpty)
            #expect(one.entityTags(of: key) == ["\"2\""])
            #expect(one.find(key, Self.request)?.response.tag == "\"2\"")
        }
    }

    @Test("a removal reaches a response that another process has just stored")
    func justStored() async throws {
        try await withFolder { folder in
            let key = try CacheKey("https://h/")
            let (one, other) = (try DiskCache(folder, limit: 1 << 20), try DiskCache(folder, limit: 1 << 20))
            #expect(one.entityTags(of: key).isEmpty)
            let plain = StoredResponse(
                status: 200, headers: [:], body: Data(), url: nil, variant: "", responseTime: Date(), initialAge: 0,
                tags: [])
            let name = try other.write(plain, key)
            // As if this process had not noticed the change yet.
            let changed = one.folder.changed
            one.folder.known.withLock { $0 = CacheFolder.Known(changed: changed) }
            one.remove(key, Self.request)
            #expect(!one.folder.contains(name))
        }
    }

    /// Stores a version of a file in the cache of a folder.
    private func store(_ version: Int, in folder: URL, of fixture: CutStreamFixture) async throws {
        let files = CutStreamFixture.files(version, 3_000_001)
        fixture.server.stub(.any) { files.answer($0) }
        let router = Router<URLEndPoint>(exchangeInterceptors: [try ResponseCache(folder: folder)])
        try await fixture.read(router.streamedResponse(for: fixture.endPoint()))
        #expect(names(in: folder).count == 1)
    }

    /// Returns the stored body of a file.
    private func body(_ path: String) -> Data? {
        guard case .found(let found) = CacheFile.read(path), let file = found.response.file else { return nil }
        return file.read(0..<file.bodyCount)
    }

    @Test("a reader that finds damage leaves the file that replaced its own")
    func discarded() async throws {
        try await CutStreamFixture.run { fixture in
            let other = fixture.folder.appendingPathComponent("other")
            try await store(1, in: fixture.cacheFolder, of: fixture)
            try await store(2, in: other, of: fixture)
            let name = try #require(DiskCache(other, limit: 1 << 20).names.first)
            let path = CacheFolder(fixture.cacheFolder).path(of: name)
            guard case .found(let found) = CacheFile.read(path) else { throw CocoaError(.fileReadUnknown) }
            let file = try #require(found.response.file)
            #expect(rename(CacheFolder(other).path(of: name), path) == 0)
            #expect(throws: NetworkError.self) { try file.checked(0..<(file.bodyCount + 1)) }
            #expect(body(path) == CutStreamFixture.files(2, 3_000_001).content)
        }
    }
}
