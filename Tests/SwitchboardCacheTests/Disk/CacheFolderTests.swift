@testable import SwitchboardCache
import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The use of a folder by one cache and by several.
@Suite(.timeLimit(.minutes(10)))
struct CacheFolderTests {
    private func files(_ folder: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).map(folder.appendingPathComponent)
    }

    private func response(tags: Set<String> = []) -> StoredResponse {
        StoredResponse(
            status: 200, headers: [:], body: Data(), url: nil, variant: "", responseTime: Date(), initialAge: 0,
            tags: tags)
    }

    @Test("a range of a large file reads no other piece of it")
    func rangeOfFile() async throws {
        let body = Data((0..<(3 << 20)).lazy.map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) })
        let session = StubSession { $0.headers["Range"] == nil ? .data(body) : .status(503) }
        try await withFolder { folder in
            let fixture = try CacheFixture(session) { try ResponseCache(folder: folder, now: $0) }
            _ = try await fixture.get("https://h/film")
            func bytes(_ range: Range<Int>) async throws -> NetworkResponse {
                let field = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
                return try await fixture.response("https://h/film", headers: ["Range": field])
            }
            // Damages the tenth piece.
            let file = try #require(try files(folder).first)
            var damaged = try Data(contentsOf: file)
            damaged[9 * CacheFile.blockSize + 5] ^= 1  // within 589,824 ..< 655,360
            try damaged.write(to: file)
            for range in [0..<1, 100..<200_000, (10 * CacheFile.blockSize)..<(3 << 20), 65_535..<65_537] {
                let found = try await bytes(range)
                #expect(found.statusCode == 206 && found.body == body[range] && found.body.startIndex == 0)
                #expect(found.cacheOutcome == .hit && found.stream == nil)
            }
            let beyond = await #expect(throws: NetworkError.self) { try await bytes(9_999_999..<10_000_000) }
            #expect(beyond?.statusCode == 416 && session.requests.count == 1)
            let damage = await #expect(throws: NetworkError.self) { try await bytes(600_000..<600_001) }
            let left = try files(folder)
            #expect(damage?.statusCode == 503 && left.isEmpty)
        }
    }

    @Test("a stale range is confirmed and leaves the whole stored")
    func staleRange() async throws {
        let body = Data(repeating: 5, count: 2 << 20)
        let headers: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "max-age=5, stale-while-revalidate=10"]
        let session = StubSession { $0.headers["If-None-Match"] == nil ? .data(body, headers: headers) : .status(304) }
        try await withFolder { folder in
            let fixture = try CacheFixture(session) { try ResponseCache(folder: folder, now: $0) }
            _ = try await fixture.response("https://h/film", .server)
            for seconds in [8.0, 30] {
                fixture.date.advance(by: seconds)
                let part = try await fixture.response("https://h/film", .server, headers: ["Range": "bytes=5-9"])
                #expect(part.statusCode == 206 && part.body.count == 5)
                #expect(await comesTrue { fixture.session.requests.count == (seconds == 8 ? 2 : 3) })
                let whole = try await fixture.response("https://h/film", .server) {
                    $0.cachePolicy = .returnCacheDataDontLoad
                }
                #expect(whole.body == body)
            }
        }
    }

    @Test("memory forgets a response that another cache removed")
    func removalElsewhere() async throws {
        try await withFolder { folder in
            let one = try CacheFixture(headers: ["Vary": "X-A"]) { try ResponseCache(folder: folder, now: $0) }
            let other = try CacheFixture { try ResponseCache(folder: folder, now: $0) }
            for url in ["https://h/1", "https://h/2"] { _ = try await one.get(url) }
            #expect(try await one.response("https://h/1").cacheOutcome == .hit)
            await other.cache.remove(.url(try #require(URL(string: "https://h/1"))))
            #expect(try await comesTrue { try await one.get("https://h/1") == "3" })
            #expect(try await one.get("https://h/2") == "2")
        }
    }

    @Test("a change at a whole second may have the time of one two seconds later")
    func wholeSeconds() {
        let (time, tick) = (100 * CacheTime.second, Int64(10_000_000))
        let delays = [0, tick - 1, tick, 2 * CacheTime.second - 1, 2 * CacheTime.second]
        let whole = delays.map { CacheTime.isRepeatable(time, at: time + $0) }
        #expect(whole == [true, true, true, true, false])
        let fine = delays.map { CacheTime.isRepeatable(time + 1, at: time + 1 + $0) }
        #expect(fine == [true, true, false, false, false])
    }

    @Test("the usage counts the files after another cache changed the folder")
    func usageElsewhere() async throws {
        try await withFolder { folder in
            let one = try CacheFixture { try ResponseCache(folder: folder, now: $0) }
            let other = try CacheFixture { try ResponseCache(folder: folder, now: $0) }
            for url in ["https://h/1", "https://h/2"] { _ = try await one.get(url) }
            #expect(await one.cache.usage.count == 2)
            await other.cache.remove(.url(URL(text: "https://h/1")))
            #expect(await comesTrue { await one.cache.usage.count == 1 })
            _ = try await other.get("https://h/3")
            #expect(await comesTrue { await one.cache.usage.count == 2 })
        }
    }

    @Test("memory forgets a response that another cache removed and loaded again")
    func replacementElsewhere() async throws {
        try await withFolder { folder in
            let one = try CacheFixture { try ResponseCache(folder: folder, now: $0) }
            let other = try CacheFixture { try ResponseCache(folder: folder, now: $0) }
            #expect(try await one.get("https://h/1") == "1")
            for fixture in [one, other] { fixture.date.advance(by: 1) }
            await other.cache.remove(.url(try #require(URL(string: "https://h/1"))))
            for (url, text) in [("https://h/2", "1"), ("https://h/1", "2")] {
                #expect(try await other.get(url) == text)
            }
            #expect(try await comesTrue { try await one.get("https://h/1") == "2" })
            #expect(one.session.requests.count == 1)
        }
    }

    @Test("memory knows the file of its response, whatever the digits of its time")
    func digitsOfTime() async throws {
        try await withFolder { folder in
            let disk = try DiskCache(folder, limit: 1 << 20)
            for index in 1...50 {
                let key = try CacheKey("https://h/\(index)")
                let time = Date(timeIntervalSinceReferenceDate: 800_000_000 + Double(index) / 7)
                let responses = [time, time.addingTimeInterval(1)].map {
                    StoredResponse(
                        status: 200, headers: [:], body: Data(), url: nil, variant: "", responseTime: $0, initialAge: 0,
                        tags: [])
                }
                let name = try disk.write(responses[0], key)
                let known = responses.map { disk.folder.contains(name, $0) }
                #expect(known == [true, false])
            }
        }
    }

    @Test("memory checks a file once after the folder changed")
    func checks() throws {
        var memory = MemoryCache(limit: 100_000)
        let (key, request) = (try CacheKey("https://h/"), NetworkRequest(.get, URL(string: "https://h/")))
        let stored = response()
        memory.insert(stored, key, try CacheFileName(key))
        // A clock that was set back is no reason to wait.
        let times: [Int64] = [5_000_000_000, 5_999_999_999, 6_000_000_000, 1_000_000_000]
        let areDue = times.map { memory.isFolderCheckDue(at: $0) }
        #expect(areDue == [true, false, true, true])
        for change in [Int64(7), 8] {
            memory.folderChange = change
            let areUnseen = (0..<2).map { _ in memory.find(key, request)?.needsFileCheck }
            #expect(areUnseen == [true, true])
            memory.confirm(stored, key, at: change)
            let isUnseen = memory.find(key, request)?.needsFileCheck
            #expect(isUnseen == false)
        }
        memory.remove(response(), key)
        #expect(memory.peek(key, request) === stored)
        memory.remove(stored, key)
        #expect(memory.peek(key, request) == nil)
    }

    @Test("a cache that writes lists its folder at most once a second")
    func listings() async throws {
        try await withFolder { folder in
            let disk = try DiskCache(folder, limit: 1 << 20)
            let start = Date()
            for index in 0..<100 {
                try disk.write(response(), CacheKey("https://h/\(index)"))
                #expect(try disk.contains(CacheKey("https://h/\(index)")))
            }
            #expect((1...2 + Int(Date().timeIntervalSince(start))).contains(disk.listing.count))
            // Files of another cache are still found.
            let other = try DiskCache(folder, limit: 1 << 20)
            try other.write(response(), CacheKey("https://h/other"))
            #expect(try await comesTrue { try disk.contains(CacheKey("https://h/other")) })
        }
    }

    @Test("a removal reads a head once, and again after another cache wrote")
    func heads() async throws {
        try await withFolder { folder in
            let key = try CacheKey("https://h/")
            let (one, other) = (try DiskCache(folder, limit: 1 << 20), try DiskCache(folder, limit: 1 << 20))
            try one.write(response(tags: ["a"]), key)
            func tags() -> [Set<String>] {
                var found: [Set<String>] = []
                _ = one.names
                one.remove { _, _, tags in
                    found.append(tags)
                    return false
                }
                return found
            }
            #expect(tags() == [["a"]])
            let file = try #require(try files(folder).first)
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 0)
            try handle.close()
            #expect(tags() == [["a"]])
            try other.write(response(tags: ["b"]), key)
            #expect(await comesTrue { tags() == [["b"]] })
        }
    }

    @Test("a file under the name of another URL is no answer")
    func sharedName() async throws {
        try await withFolder { url in
            let folder = CacheFolder(url)
            let (one, other) = (try CacheKey("https://h/1"), try CacheKey("https://h/2"))
            let disk = try DiskCache(url, limit: 1 << 20)
            let name = try disk.write(response(), one)
            let wrong = try CacheFileName(other)
            #expect(rename(folder.path(of: name), folder.path(of: wrong)) == 0)
            #expect(DiskCache.find(wrong, other, in: folder) == nil)
            let found = try DiskCache(url, limit: 1 << 20).find(other, NetworkRequest(.get, URL(string: "https://h/2")))
            #expect(found == nil)
            let left = try files(url)
            #expect(left.count == 1)
        }
    }

    @Test("the last-used time of a file is written once a minute")
    func modificationTimes() throws {
        var state = CacheStorage.State(memory: MemoryCache(limit: 0))
        let names = try ["https://h/1", "https://h/2"].map { try CacheFileName(CacheKey($0)) }
        let times = [100, 101, 159, 161, 162].map { second in
            names.map { state.isUseWriteDue($0, at: second * CacheTime.second) }
        }
        #expect(times == [[true, true], [false, false], [false, false], [true, true], [false, false]])
    }

    @Test("a folder that other users can write is refused", arguments: [0o777, 0o1777, 0o702])
    func writableFolder(mode: Int) async throws {
        try await withFolder { folder in
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path)
            let error = #expect(throws: NetworkError.self) { try ResponseCache(folder: folder) }
            #expect(error?.code == .cannotWriteFile)
            #expect(error?.reason?.contains("can be written by other users") == true)
            #expect(error?.reason?.contains(folder.path) == true)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
            _ = try ResponseCache(folder: folder)
        }
    }

    @Test(
        "a folder that another group can write is refused, a private group not",
        .enabled(if: geteuid() == 0, "only root can give a folder to another group"))
    func groupFolder() async throws {
        try await withFolder { folder in
            let new = folder.appendingPathComponent("new/cache")
            _ = try ResponseCache(folder: new)
            let made = try FileManager.default.attributesOfItem(atPath: new.path)[.posixPermissions] as? Int
            #expect(made == 0o700)
            #expect(chmod(new.path, 0o775) == 0 && chown(new.path, 0, 0) == 0)
            _ = try ResponseCache(folder: new)
            #expect(chown(new.path, 0, 65_534) == 0)
            let error = #expect(throws: NetworkError.self) { try ResponseCache(folder: new) }
            #expect(error?.code == .cannotWriteFile)
            #expect(error?.reason?.contains("can be written by other users (mode 775)") == true)
        }
    }

    @Test("a folder of another user is refused", .enabled(if: geteuid() == 0, "only root can give a folder away"))
    func foreignFolder() async throws {
        try await withFolder { folder in
            #expect(chown(folder.path, 65_534, getegid()) == 0)
            let error = #expect(throws: NetworkError.self) { try ResponseCache(folder: folder) }
            #expect(error?.code == .cannotWriteFile)
            #expect(error?.reason?.contains("belongs to another user (65534)") == true)
        }
    }

    @Test("a file of another user is no answer", .enabled(if: geteuid() == 0, "only root can give a file away"))
    func foreignFile() async throws {
        let session = StubSession { _ in .text("page", headers: ["Cache-Control": "max-age=60"]) }
        try await withFolder { folder in
            let first = try CacheFixture(session) { try ResponseCache(folder: folder, now: $0) }
            _ = try await first.get("https://h/page")
            let file = try #require(try files(folder).first)
            let other = try CacheFixture(session) { try ResponseCache(folder: folder, now: $0) }
            _ = try await other.get("https://h/page")
            #expect(session.requests.count == 1)
            #expect(chown(file.path, 65_534, getegid()) == 0)
            let last = try CacheFixture(session) { try ResponseCache(folder: folder, now: $0) }
            _ = try await last.get("https://h/page")
            #expect(session.requests.count == 2)
        }
    }

    @Test("a path that is no folder is refused with the cause")
    func noFolder() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("file")
            try Data().write(to: file)
            let urls = [file, file.appendingPathComponent("cache"), URL(text: "cache"), URL(text: "https://h/cache")]
            let reasons = urls.map { url in
                #expect(throws: NetworkError.self) { try ResponseCache(folder: url) }?.reason
            }
            #expect(reasons[0] == "\"\(file.path)\" is a file, not a folder")
            let start = "the folder \"\(file.path)/cache\" cannot be created: "
            let cause = try #require(reasons[1])
            #expect(cause.hasPrefix(start) && cause != start)
            #expect(reasons[2] == "\"cache\" is not a file URL")
            #expect(reasons[3] == "\"https://h/cache\" is not a file URL")
        }
    }

    @Test("a disk limit below the smallest file is an error", arguments: [-1, 0, 4_095, 4_096])
    func smallLimit(limit: Int) async throws {
        try await withFolder { folder in
            guard limit < 4_096 else {
                _ = try ResponseCache(folder: folder, diskLimit: limit)
                return
            }
            let error = #expect(throws: NetworkError.self) { try ResponseCache(folder: folder, diskLimit: limit) }
            #expect(error?.code == .cannotWriteFile && error?.reason?.contains("4096") == true)
        }
    }

    @Test("files used before the clock was set back are evicted first", arguments: [false, true])
    func clockSetBack(isOtherProcess: Bool) async throws {
        try await withFolder { folder in
            var disk = try DiskCache(folder, limit: 4 * 4_096)
            let future = CacheTime.now + 3_600 * CacheTime.second
            for index in 0..<2 {
                let name = try disk.write(response(), CacheKey("https://h/old\(index)"))
                if isOtherProcess {
                    disk.folder.writeUseTime(of: name, at: future)
                } else {
                    disk.recordUse(of: name, at: future)
                }
            }
            if isOtherProcess {
                disk = try DiskCache(folder, limit: 4 * 4_096)
                disk.scanSizes()
            }
            for index in 0..<4 { try disk.write(response(), CacheKey("https://h/new\(index)")) }
            let kept = try (0..<4).filter { try disk.contains(CacheKey("https://h/new\($0)")) }
            #expect(kept == [0, 1, 2, 3])
        }
    }

    @Test("a use after the clock was set back is written to the file")
    func useAfterSetBack() async throws {
        try await withFolder { folder in
            let disk = try DiskCache(folder, limit: 4 * 4_096)
            let name = try disk.write(response(), CacheKey("https://h/"))
            let now = CacheTime.now
            disk.recordUse(of: name, at: now + 3_600 * CacheTime.second)
            disk.recordUse(of: name, at: now)
            var information = stat()
            #expect(stat(disk.folder.path(of: name), &information) == 0 && information.changed == now)
            #expect(disk.index.item(name)?.use == now)
        }
    }

    #if os(Linux)
    // A file system in memory accepts a file of any size.
    @Test("a file that is too large for a response is removed", .enabled(if: access("/dev/shm", W_OK) == 0))
    func hugeFile() throws {
        let folder = URL(fileURLWithPath: "/dev/shm/switchboard-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let disk = try DiskCache(folder, limit: 1 << 20)
        let name = try disk.write(response(), CacheKey("https://h/"))
        try #require(truncate(disk.folder.path(of: name), off_t.max) == 0)
        let other = try DiskCache(folder, limit: 1 << 20)
        other.scanSizes()
        #expect(other.count == 0)
        #expect(try files(folder).isEmpty)
    }
    #endif
}
