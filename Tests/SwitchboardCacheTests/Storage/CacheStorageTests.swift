import SwitchboardCache
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CacheStorageTests {
    private func files(_ folder: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).map(folder.appendingPathComponent)
            .sorted { $0.path < $1.path }
    }

    @Test("another cache finds a response on disk with its fields, URL and age", .requirement("S1.14"))
    func nextLaunch() async throws {
        try await withFolder { folder in
            let folder = folder.appendingPathComponent("deep/down")
            var headers: HTTPHeaders = ["ETag": "\"v1\"", "Vary": "Accept-Language"]
            headers.add("Set-Cookie", "a=1")
            headers.add("Link", "<a>")
            headers.add("Link", "<b>")
            let first = try CacheFixture(headers: headers) { try ResponseCache(folder: folder, now: $0) }
            _ = try await first.get(headers: ["Accept-Language": "de"])
            let second = try CacheFixture(StubSession(.text("new"))) { try ResponseCache(folder: folder, now: $0) }
            second.date.advance(by: 7)
            let found = try await second.response(headers: ["Accept-Language": "de"])
            #expect(found.text == "1" && found.cacheAge == .seconds(7) && found.statusCode == 200)
            #expect(found.headers.values(for: "Link") == ["<a>", "<b>"] && found.headers["Set-Cookie"] == nil)
            #expect(found.url == URL(text: "https://api.example.com/friends"))
            #expect(second.session.requests.isEmpty)
            #expect(try await second.get(headers: ["Accept-Language": "fr"]) == "new")
        }
    }

    @Test("files are readable by their owner only and hold no credential")
    func privacy() async throws {
        try await withFolder { folder in
            let folder = folder.appendingPathComponent("cache")
            let fixture = try CacheFixture(headers: ["Vary": "X-Secret-Unit, Authorization"]) {
                try ResponseCache(folder: folder, now: $0)
            }
            _ = try await fixture.get(
                "https://planted-4:planted-5@api.example.com/friends",
                headers: ["Authorization": "Bearer planted-1", "Cookie": "s=planted-2", "X-Secret-Unit": "planted-3"])
            let files = try files(folder)
            let file = try #require(files.first)
            #expect(files.count == 1)
            #expect(String(decoding: try Data(contentsOf: file), as: UTF8.self).contains("planted") == false)
            let modes = try [folder, file].map {
                try FileManager.default.attributesOfItem(atPath: $0.path)[.posixPermissions] as? Int
            }
            #expect(modes == [0o700, 0o600])
            let other = try CacheFixture(StubSession(.text("ben's"))) { try ResponseCache(folder: folder, now: $0) }
            let headers: HTTPHeaders = [
                "Authorization": "Bearer ben", "Cookie": "s=planted-2", "X-Secret-Unit": "planted-3",
            ]
            #expect(try await other.get(headers: headers) == "ben's")
        }
    }

    @Test(
        "a damaged file, or one of another URL, is removed and loaded again",
        arguments: ["empty", "cut", "longer", "no prologue", "other version", "other URL", "no end", "other body"])
    func damage(kind: String) async throws {
        try await withFolder { folder in
            let first = try CacheFixture { try ResponseCache(folder: folder, now: $0) }
            _ = try await first.get()
            let file = try #require(try files(folder).first)
            var data = try Data(contentsOf: file)
            switch kind {
            case "empty": data = Data()
            case "cut": data = data.dropLast()
            case "longer": data += Data("x".utf8)
            case "no prologue": data = Data("{\"version\":1}\n1".utf8)
            case "other version": data[data.count - 9] += 1
            case "other URL":
                let range = try #require(data.range(of: Data("example.com".utf8)))
                data.replaceSubrange(range, with: Data("example.org".utf8))
            case "other body": data[0] = UInt8(ascii: "2")
            default: data = Data(repeating: UInt8(ascii: "x"), count: 3 << 20)
            }
            try data.write(to: file)
            let second = try CacheFixture(StubSession(.text("new"))) { try ResponseCache(folder: folder, now: $0) }
            #expect(try await second.get() == "new")
            let third = try CacheFixture(StubSession()) { try ResponseCache(folder: folder, now: $0) }
            #expect(try await third.get() == "new")
            #expect(try files(folder).count == 1)
        }
    }

    @Test(
        "memory and disk stay bounded by removing the least recently used", .requirement("S1.14"),
        arguments: [false, true])
    func bounds(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let limit = 10_000
            let body = Data(count: 2_000)
            let fixture = try CacheFixture(StubSession { _ in .data(body) }) {
                isOnDisk
                    ? try ResponseCache(folder: folder, diskLimit: limit, memoryLimit: 0, now: $0)
                    : ResponseCache(memoryLimit: limit, now: $0)
            }
            for index in 0..<20 {
                _ = try await fixture.get("https://h/\(index)")
                _ = try await fixture.get("https://h/0")
                let usage = await fixture.cache.usage
                #expect(usage.memory <= (isOnDisk ? 0 : limit) && usage.disk <= limit)
                // A file takes whole blocks of a disk.
                let sizes = try files(folder).map { (try Data(contentsOf: $0).count + 4_095) / 4_096 * 4_096 }
                #expect(sizes.reduce(0, +) == usage.disk)
            }
            // The first response was requested each time and is still stored; the second is not.
            #expect(try await fixture.response("https://h/0").cacheAge != nil)
            #expect(try await fixture.response("https://h/1").cacheAge == nil)
            #expect(fixture.session.requests.count == 21)
        }
    }

    @Test("a response larger than the cache is not stored and evicts nothing", arguments: [false, true])
    func tooLarge(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let session = StubSession { .data(Data(count: $0.path == "/large" ? 10_001 : 10)) }
            let fixture = try CacheFixture(session) {
                isOnDisk
                    ? try ResponseCache(folder: folder, diskLimit: 10_000, memoryLimit: 10_000, now: $0)
                    : ResponseCache(memoryLimit: 10_000, now: $0)
            }
            _ = try await fixture.get("https://h/small")
            for _ in 1...2 {
                let response = try await fixture.response("https://h/large")
                #expect(response.body.count == 10_001 && response.cacheAge == nil)
            }
            #expect(try await fixture.response("https://h/small").cacheAge != nil)
            let usage = await fixture.cache.usage
            #expect(usage.count == 1)
        }
    }

    @Test("files of an earlier launch count and are evicted by their last read")
    func earlierFiles() async throws {
        try await withFolder { folder in
            let body = Data(count: 3_000)
            let first = try CacheFixture(StubSession { _ in .data(body) }) {
                try ResponseCache(folder: folder, now: $0)
            }
            for index in 0..<6 { _ = try await first.get("https://h/\(index)") }
            for (age, file) in try files(folder).enumerated() {
                let date = Date(timeIntervalSinceNow: -Double(1_000 - age))
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
            }
            let newest = try #require(try files(folder).last).lastPathComponent
            // This read makes the file the last one read.
            let reader = try CacheFixture(StubSession()) { try ResponseCache(folder: folder, now: $0) }
            _ = try await reader.get("https://h/3")
            let recent = try files(folder).filter { file in
                let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
                return (attributes[.modificationDate] as? Date ?? .distantPast).timeIntervalSinceNow > -100
            }
            #expect(recent.count == 1)
            let second = try CacheFixture(StubSession()) {
                try ResponseCache(folder: folder, diskLimit: 10_000, now: $0)
            }
            #expect(try await second.response("https://h/3").cacheAge != nil)
            let usage = await second.cache.usage
            #expect(usage.count == 2 && usage.disk <= 10_000)
            #expect(try files(folder).map(\.lastPathComponent).contains(newest))
        }
    }

    @Test("an unusable folder is a typed error; a folder lost later fails no call")
    func badFolder() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("file")
            try Data().write(to: file)
            let error = #expect(throws: NetworkError.self) { try ResponseCache(folder: file) }
            #expect(error?.code == .cannotWriteFile)
            let gone = folder.appendingPathComponent("gone")
            let monitor = Events()
            let fixture = try CacheFixture { try ResponseCache(folder: gone, memoryLimit: 0, now: $0) }
            try FileManager.default.removeItem(at: gone)
            #expect(try await fixture.get { $0.monitors = [monitor] } == "1")
            #expect(try await fixture.get() == "1")
            // A folder that cannot be created again, since a file has its name.
            try FileManager.default.removeItem(at: gone)
            try Data().write(to: gone)
            #expect(try await fixture.get("https://h/") { $0.monitors = [monitor] } == "2")
            #expect(monitor.texts.contains { $0.hasPrefix("cache: not stored on disk: ") })
            #expect(try await fixture.get("https://h/") == "3")
        }
    }

    @Test("other files stay, temporary ones not")
    func otherFiles() async throws {
        try await withFolder { folder in
            let hash = String(repeating: "0a", count: 32)
            let foreign = ["survey.response", "\(hash).txt", ".notes.part", "\(hash)0.response"]
            let remnants = [".\(hash).response.part", ".0a1b.response.part"]
            let old = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -11)]
            for name in foreign + remnants {
                let file = folder.appendingPathComponent(name)
                try Data("x".utf8).write(to: file)
                try FileManager.default.setAttributes(old, ofItemAtPath: file.path)
            }
            // This one may be in use: it is young.
            try Data().write(to: folder.appendingPathComponent(".0b.response.part"))
            let fixture = try CacheFixture { try ResponseCache(folder: folder, now: $0) }
            _ = try await fixture.get()
            let names = Set(try files(folder).map(\.lastPathComponent))
            #expect(names.isSuperset(of: foreign + [".0b.response.part"]))
            #expect(names.isDisjoint(with: remnants) && names.count == 6)
            await fixture.cache.removeAll()
            #expect(Set(try files(folder).map(\.lastPathComponent)) == Set(foreign))
        }
    }

    @Test("files of any date are read, counted and evicted", arguments: [13_569_465_600, 9_300_000_000, -2e9])
    func anyDate(seconds: Double) async throws {
        try await withFolder { folder in
            let date = [FileAttributeKey.modificationDate: Date(timeIntervalSince1970: seconds)]
            let first = try CacheFixture(headers: ["Vary": "Accept"]) { try ResponseCache(folder: folder, now: $0) }
            for index in 1...2 { _ = try await first.get("https://h/\(index)") }
            let remnant = folder.appendingPathComponent(".0a.response.part")
            try Data().write(to: remnant)
            for file in try files(folder) + [folder] {
                try FileManager.default.setAttributes(date, ofItemAtPath: file.path)
            }
            let second = try CacheFixture(StubSession { _ in .text("new") }) {
                try ResponseCache(folder: folder, diskLimit: 4_096, memoryLimit: 0, now: $0)
            }
            let usage = await second.cache.usage
            #expect(usage.count == 1 && usage.evictions == 1)
            _ = try await second.get("https://h/3")
            #expect(try await second.response("https://h/3").cacheAge != nil)
            let names = try files(folder).map(\.lastPathComponent)
            #expect(names.count == 1 && !names.contains(remnant.lastPathComponent))
        }
    }

    @Test("the temporary file of a living process stays, however old it is")
    func lockedFile() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent(".0a.response.part").path
            let descriptor = open(file, O_RDWR | O_CREAT, 0o600)
            #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            let old = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -1_000)]
            try FileManager.default.setAttributes(old, ofItemAtPath: file)
            for isLocked in [true, false] {
                if !isLocked { close(descriptor) }
                _ = try await CacheFixture { try ResponseCache(folder: folder, now: $0) }.get("https://h/\(isLocked)")
                #expect(FileManager.default.fileExists(atPath: file) == isLocked)
            }
        }
    }

    @Test("a response that memory answers with is not evicted from disk")
    func useInMemory() async throws {
        try await withFolder { folder in
            let body = Data(count: 3_000)
            let fixture = try CacheFixture(StubSession { _ in .data(body) }) {
                try ResponseCache(folder: folder, diskLimit: 20_000, now: $0)
            }
            for index in 0..<20 {
                _ = try await fixture.get("https://h/\(index)")
                _ = try await fixture.get("https://h/0")
            }
            let usage = await fixture.cache.usage
            #expect(usage.count == 4 && usage.evictions == 16)
            let next = try CacheFixture(StubSession()) { try ResponseCache(folder: folder, now: $0) }
            #expect(try await next.response("https://h/0").cacheAge != nil)
        }
    }

    @Test("removing a URL keeps other queries, and a POST other partitions")
    func removal() async throws {
        try await withFolder { folder in
            let fixture = try CacheFixture(StubSession { .text($0.query ?? "") }) {
                try ResponseCache(folder: folder, now: $0)
            }
            for query in ["a", "b"] {
                for partition in ["x", "y"] {
                    _ = try await fixture.get("https://h/1?\(query)") { $0.partition = partition }
                }
            }
            func stored() throws -> Int { try files(folder).count }
            await fixture.cache.remove(.url(try #require(URL(string: "https://h/1?a"))))
            #expect(try stored() == 2)
            _ = try await fixture.response("https://h/1?c", method: .post) { $0.partition = "x" }
            #expect(try stored() == 1)
            #expect(try await fixture.response("https://h/1?b") { $0.partition = "y" }.cacheAge != nil)
        }
    }

    @Test("two caches of one folder find and remove each other's responses")
    func twoCaches() async throws {
        try await withFolder { folder in
            let headers: HTTPHeaders = ["Vary": "X-Kind"]
            let one = try CacheFixture(headers: headers) { try ResponseCache(folder: folder, now: $0) }
            let other = try CacheFixture(StubSession { $0.method == .get ? .text("other") : .text("") }) {
                try ResponseCache(folder: folder, memoryLimit: 0, now: $0)
            }
            // Both have listed the folder.
            _ = try await one.get("https://h/0", headers: ["X-Kind": "0"])
            #expect(try await other.get("https://h/0", headers: ["X-Kind": "1"]) == "other")
            for index in 2...6 {
                let kind: HTTPHeaders = ["X-Kind": "\(index)"]
                let text = try await one.get("https://h/0", headers: kind)
                // A cache lists a changed folder again after a hundred times the duration of a listing.
                let isFound = await comesTrue {
                    let found = try? await other.get("https://h/0", headers: kind) {
                        $0.cachePolicy = .returnCacheDataDontLoad
                    }
                    return found == text
                }
                #expect(isFound, "\(index)")
            }
            await other.cache.remove(.url(try #require(URL(string: "https://h/0"))))
            let left = try files(folder)
            #expect(left.isEmpty)
        }
    }

    @Test("a response with Vary is found again after a 304, also on disk")
    func confirmedVariant() async throws {
        try await withFolder { folder in
            let session = StubSession { request in
                request.headers["If-None-Match"] == nil
                    ? .text("whole", headers: ["ETag": "\"1\"", "Vary": "Accept", "Cache-Control": "max-age=0"])
                    : .status(304, headers: ["ETag": "\"1\""])
            }
            let fixture = try CacheFixture(session) { try ResponseCache(folder: folder, memoryLimit: 0, now: $0) }
            for _ in 1...4 { _ = try await fixture.get("https://h/", .server) }
            #expect(session.requests.map { $0.headers["If-None-Match"] } == [nil, "\"1\"", "\"1\"", "\"1\""])
        }
    }

    @Test("concurrent loads, removals and reads get whole responses of their URL", arguments: [false, true])
    func concurrency(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let session = StubSession { .text(String(repeating: $0.path, count: 50)) }
            let fixture = try CacheFixture(session) {
                isOnDisk
                    ? try ResponseCache(folder: folder, diskLimit: 20_000, memoryLimit: 2_000, now: $0)
                    : ResponseCache(memoryLimit: 5_000, now: $0)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<300 {
                    group.addTask {
                        if index % 50 == 49 { await fixture.cache.remove(.path("\(index % 7)")) }
                        let path = "/\(index % 7)"
                        let text = try await fixture.get("https://h\(path)")
                        #expect(text == String(repeating: path, count: 50))
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("usage returns when the folder was removed or is a file", arguments: [false, true])
    func noFolder(isFile: Bool) async throws {
        try await withFolder { folder in
            let folder = folder.appendingPathComponent("cache")
            let fixture = try CacheFixture(headers: ["Cache-Control": "max-age=60"]) {
                try ResponseCache(folder: folder, now: $0)
            }
            try FileManager.default.removeItem(at: folder)
            if isFile { try Data().write(to: folder) }
            let before = await fixture.cache.usage
            #expect(before.count == 0 && before.disk == 0)
            #expect(try await fixture.get("https://h/", .server) == "1")
            let after = await fixture.cache.usage
            #expect(after.misses == 1)
        }
    }
}
