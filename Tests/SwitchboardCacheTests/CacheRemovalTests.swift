import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// A removal finds each spelling of what it names.
@Suite(.timeLimit(.minutes(10)))
struct CacheRemovalTests {
    private struct Named: EndPointType {
        let baseURL = "https://h/api"
        var path: String
        var query: Parameters = [:]
        var task: HTTPTask { query.isEmpty ? .request : .requestParameters(urlParameters: query) }
        var options: RequestOptions { RequestOptions { $0.cacheLifetime = .unlimited } }
    }

    /// Returns whether a removal removes the response of a URL.
    private func removes(
        _ url: String, isOnDisk: Bool, _ remove: (ResponseCache) async throws -> Void
    ) async throws -> Bool {
        try await withFolder { folder in
            let fixture = try CacheFixture(headers: [:]) {
                isOnDisk ? try ResponseCache(folder: folder, memoryLimit: 0, now: $0) : ResponseCache(now: $0)
            }
            _ = try await fixture.get(url)
            #expect(try await fixture.response(url).cacheAge != nil)
            try await remove(fixture.cache)
            return try await fixture.response(url).cacheAge == nil
        }
    }

    @Test(
        "a URL is removed by each of its spellings", arguments: [false, true],
        [
            ("https://h/a", "HTTPS://H:443/a#x"), ("https://h/a", "https://user:pw@h/a"), ("https://h", "https://h/"),
            ("http://h:80/a", "http://h/a"), ("https://h:/a", "https://h/a"), ("https://h/%7Ea", "https://h/~a"),
            ("https://h/a%2fb", "https://h/a%2Fb"), ("https://h/a?q=%41", "https://h/a?q=A"),
            ("https://b\u{fc}cher.example/a", "https://xn--bcher-kva.example/a"),
            ("https://h/caf\u{e9}", "https://h/caf%c3%a9"), ("https://[::1]:443/a", "https://[::1]/a"),
            ("https://h/a", "https://h/a#x"), ("https://h/a", "https://H/a"), ("https://h/a", "hTTps://h/a"),
        ])
    func url(isOnDisk: Bool, spelling: (stored: String, removed: String)) async throws {
        for (stored, removed) in [(spelling.stored, spelling.removed), (spelling.removed, spelling.stored)] {
            #expect(
                try await removes(stored, isOnDisk: isOnDisk) {
                    await $0.remove(.url(try #require(URL(string: removed))))
                })
        }
    }

    @Test(
        "a path is removed by each of its spellings", arguments: [false, true],
        [
            ("https://h/api/friends", "friends"), ("https://h/friends/", "/friends"), ("https://h/friends", "friends/"),
            ("https://h/friends?a=1", "friends?b=2"), ("https://h/friends#x", "friends#y"),
            ("https://h//friends", "friends"), ("https://h/a/b/c", "a/b"), ("https://h/a/b/c", "b/c"),
            ("https://h/a%20b", "a b"), ("https://h/a b", "a%20b"), ("https://h/a%2Bb", "a+b"),
            ("https://h/a%2fb", "a%2Fb"), ("https://h/50%25", "50%"), ("https://h/%ff", "%FF"),
            ("https://h/%FF", "%ff"), ("https://h/%e9", "%E9"), ("https://h/caf\u{e9}", "caf%C3%A9"),
            ("https://h/caf%c3%a9", "caf\u{e9}"), ("https://h/a;v=1", "a;v=1"), ("https://h/%7Ea", "~a"),
            ("https://h/api/friends", "https://h/api/friends"), ("https://h/a", "https://h"),
            ("https://h/friends", "HTTPS://H:443/friends?x=1"), ("https://h/proxy/https://a/b", "proxy/https://a"),
            ("https://h/friends", "friends?next=https://a/"),
        ])
    func path(isOnDisk: Bool, spelling: (stored: String, removed: String)) async throws {
        #expect(try await removes(spelling.stored, isOnDisk: isOnDisk) { await $0.remove(.path(spelling.removed)) })
    }

    @Test("the responses of a partition are removed, and others stay", arguments: [false, true])
    func partition(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let fixture = try CacheFixture(headers: [:]) {
                isOnDisk ? try ResponseCache(folder: folder, memoryLimit: 0, now: $0) : ResponseCache(now: $0)
            }
            let partitions: [String?] = [nil, "anna", "bob"]
            for partition in partitions { _ = try await fixture.get { $0.partition = partition } }
            let rows: [(removed: String?, isStored: [Bool])] = [
                ("anna", [true, false, true]), (nil, [false, true, true]),
            ]
            for row in rows {
                await fixture.cache.removeAll(in: row.removed)
                var isStored: [Bool] = []
                for partition in partitions {
                    let response = try await fixture.response { $0.partition = partition }
                    isStored.append(response.cacheAge != nil)
                }
                #expect(isStored == row.isStored)
            }
        }
    }

    @Test(
        "a path leaves others alone",
        arguments: [
            ("https://h/friendship", "friends"), ("https://h/Friends", "friends"), ("https://h/a/b", "a%2Fb"),
            ("https://h/a%2Fb", "a/b"), ("https://h/a/x/b", "a/b"), ("https://friends/a", "friends"),
            ("https://h/a?friends", "friends"), ("https://h/x/friends", "https://h/friends"),
            ("https://other/friends", "https://h/friends"), ("https://h/a", ""), ("https://h/a", "/"),
        ])
    func otherPath(stored: String, removed: String) async throws {
        #expect(try await !removes(stored, isOnDisk: false) { await $0.remove(.path(removed)) })
    }

    @Test(
        "an endpoint is removed whatever was added to its query", arguments: [false, true],
        [
            (Named(path: "friends"), "https://h/api/friends"), (Named(path: "/friends/"), "https://h/api/friends"),
            (Named(path: "friends", query: ["b": "2", "a": "1"]), "https://h/api/friends?a=1&lang=de&b=2"),
            (Named(path: "friends", query: ["q": "a b"]), "https://h/api/friends?q=a+b"),
            (Named(path: "friends", query: ["q": "a b"]), "https://h/api/friends?q=a%20b"),
            (Named(path: "friends", query: ["q": "\u{e9}"]), "https://h/api/friends?q=%c3%a9"),
            (Named(path: "a b"), "https://h/api/a%20b"), (Named(path: "caf\u{e9}"), "https://h/api/caf%c3%a9"),
        ])
    private func endPoint(isOnDisk: Bool, call: (endPoint: Named, url: String)) async throws {
        #expect(try await removes(call.url, isOnDisk: isOnDisk) { try await $0.remove(call.endPoint) })
    }

    @Test(
        "an endpoint without a path is removed whatever was added to its query", arguments: [false, true],
        [
            ("https://h/friends", "https://h/friends?lang=de", true),
            ("https://h/a?x=1", "https://h/a?lang=de&x=1", true),
            ("https://H:443/a#x", "https://h/a", true), ("https://h", "https://h/?lang=de", true),
            ("https://h/a?x=1", "https://h/a?x=2", false), ("https://h/a", "https://other/a", false),
            ("https://h/a", "https://h/b/a", false), ("https://h/a", "http://h/a", false),
        ])
    func urlEndPoint(isOnDisk: Bool, call: (endPoint: String, stored: String, isRemoved: Bool)) async throws {
        let isRemoved = try await removes(call.stored, isOnDisk: isOnDisk) {
            try await $0.remove(URLEndPoint(.get, try #require(URL(string: call.endPoint))))
        }
        #expect(isRemoved == call.isRemoved)
    }

    @Test("a removal covers each identity, environment and variant", arguments: [false, true])
    func everybody(isOnDisk: Bool) async throws {
        let targets: [ResponseCache.Target] = [.tag("t"), .path("a"), .url(URL(text: "https://h/a"))]
        for target in targets {
            try await withFolder { folder in
                let headers: HTTPHeaders = ["Vary": "X-Unit"]
                let fixture = try CacheFixture(headers: headers) {
                    let identity: ResponseCache.Identity = { $0.headers["X-User"] }
                    return isOnDisk
                        ? try ResponseCache(folder: folder, memoryLimit: 0, identity: identity, now: $0)
                        : ResponseCache(identity: identity, now: $0)
                }
                func load() async throws {
                    for fields in [["X-User": "a"], ["X-User": "b", "X-Unit": "m"], ["X-Other": "c"]] as [HTTPHeaders] {
                        for partition in [nil, "qa"] {
                            _ = try await fixture.get("https://h/a", headers: fields) {
                                $0.partition = partition
                                $0.cacheTags = ["t"]
                            }
                        }
                    }
                }
                try await load()
                #expect(await fixture.cache.usage.count == 6)
                await fixture.cache.remove(target)
                #expect(await fixture.cache.usage.count == 0, "\(target)")
                try await load()
                #expect(fixture.session.requests.count == 12)
            }
        }
    }

    @Test("a removal reaches what another cache stored a moment ago")
    func moment() async throws {
        try await withFolder { folder in
            let first = try CacheFixture(headers: [:]) { try ResponseCache(folder: folder, memoryLimit: 0, now: $0) }
            // Listing many files takes more than a millisecond.
            for name in 0..<4_000 {
                try Data().write(to: folder.appendingPathComponent("\(name)"))
            }
            let other = try ResponseCache(folder: folder, memoryLimit: 0)
            await other.remove(.url(URL(text: "https://h/none")))
            for (number, target) in ([.url(URL(text: "https://h/0")), .path("1"), .tag("t")] as [ResponseCache.Target])
                .enumerated()
            {
                let url = "https://h/\(number)"
                _ = try await first.get(url) { $0.cacheTags = ["t"] }
                await other.remove(target)
                #expect(try await first.response(url) { $0.cacheTags = ["t"] }.cacheAge == nil, "\(target)")
            }
        }
    }

    #if compiler(>=6.2)
    @Test("a removal and a replacement remove a file that cannot be read")
    func unreadableFile() async {
        await #expect(processExitsWith: .success) {
            try await withGuardedFolder { folder in
                for isReplacement in [false, true] {
                    let old = try CacheFixture(.counting([:], 200), in: folder)
                    _ = try await old.get { $0.cacheTags = ["t"] }
                    let file = folder.appendingPathComponent(try #require(names(in: folder).first))
                    try #require(chmod(file.path, 0) == 0)
                    let other = try CacheFixture(.counting(["Vary": "X-A"], 200), in: folder)
                    if isReplacement { _ = try await other.get() } else { await other.cache.remove(.tag("t")) }
                    #expect(!FileManager.default.fileExists(atPath: file.path))
                }
            }
        }
    }

    @Test("a failed replacement or eviction hides no other response")
    func readOnlyFolder() async {
        await #expect(processExitsWith: .success) {
            try await withGuardedFolder { folder in
                let old = try CacheFixture(.counting([:], 200), in: folder)
                for name in ["a", "b"] { _ = try await old.get("https://h/\(name)") }
                try #require(chmod(folder.path, 0o500) == 0)
                defer { chmod(folder.path, 0o700) }
                let small = try CacheFixture(.counting([:], 200)) {
                    try ResponseCache(
                        folder: folder, diskLimit: 4_096, memoryLimit: 0, identity: { _ in "me" }, now: $0)
                }
                #expect(await small.cache.usage.evictions == 0)
                for name in ["a", "b"] {
                    #expect(try await small.response("https://h/\(name)").cacheOutcome == .hit)
                }
                let other = try CacheFixture(.counting([:], 200), in: folder)
                _ = try await other.get("https://h/a") { $0.cachePolicy = .reloadIgnoringLocalCacheData }
                #expect(try await other.response("https://h/b").cacheOutcome == .hit)
                // The response that was replaced does not answer.
                #expect(try await other.get("https://h/a") == "2")
            }
        }
    }

    @Test("after a failed removal nothing is used, and a later one removes all")
    func failedRemoval() async {
        await #expect(processExitsWith: .success) {
            // A folder that cannot be changed, and one that cannot be listed.
            for mode in [0o500, 0o300] as [mode_t] {
                try await withGuardedFolder { folder in
                    let old = try CacheFixture(.counting([:], 200), in: folder)
                    #expect(try await old.get() == "1")
                    try #require(chmod(folder.path, mode) == 0)
                    defer { chmod(folder.path, 0o700) }
                    // A second cache has not listed the folder.
                    for fixture in [old, try CacheFixture(.counting([:], 200), in: folder)] {
                        // Any later removal tries again.
                        for target in [nil, ResponseCache.Target.tag("other")] {
                            let before = fixture.session.requests.count
                            await fixture.cache.removeAll()
                            _ = try await fixture.get()
                            #expect(fixture.session.requests.count == before + 1)
                            try #require(chmod(folder.path, 0o700) == 0)
                            if let target {
                                await fixture.cache.remove(target)
                            } else {
                                await fixture.cache.removeAll()
                            }
                            _ = try await fixture.get()
                            #expect(fixture.session.requests.count == before + 2)
                            _ = try await fixture.get()
                            #expect(fixture.session.requests.count == before + 2)
                            try #require(chmod(folder.path, mode) == 0)
                        }
                    }
                }
            }
        }
    }
    #endif
}
