import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTestSupport
import Testing

@testable import SwitchboardCookies

@Suite(.timeLimit(.minutes(10)))
struct CookieFileTests {
    private let url = URL(text: "https://a.example/")

    // RFC 3986 §3.3 allows a semicolon in a path, and RFC 6265 §5.1.4 makes the default path of it.
    @Test("a cookie whose default path has a semicolon is read again")
    func semicolonInPath() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("cookies.json")
            let jar = try CookieJar(contentsOf: file)
            jar.store(["id=1; Max-Age=86400"], from: URL(text: "https://a.example/map;v=2/tile"))
            try jar.save(to: file)
            #expect(try CookieJar(contentsOf: file).cookies().map(\.path) == ["/map;v=2"])
        }
    }

    @Test("a date that is no number does not keep the jar from being saved")
    func noDate() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("cookies.json")
            let jar = CookieJar()
            for (name, time) in [("a", Double.nan), ("b", .infinity), ("c", 1e12)] {
                let expires = Date(timeIntervalSince1970: time)
                try jar.set(StoredCookie(name, "1", domain: "a.example", expires: expires))
            }
            try jar.save(to: file)
            let names = try CookieJar(contentsOf: file).cookies().map(\.name)
            #expect(Set(names).isSuperset(of: ["b", "c"]))
        }
    }

    @Test("a cookie for an international host in Unicode is refused")
    func internationalHost() {
        let error = #expect(throws: NetworkError.self) {
            try CookieJar().set(StoredCookie("a", "1", domain: "b\u{FC}cher.example"))
        }
        #expect(error?.code == .invalidRequest && error?.reason?.contains("xn--bcher-kva.example") == true)
    }

    @Test("a reset removes the cookies behind a symbolic link")
    func link() async throws {
        try await withFolder { folder in
            let (target, link) = (folder.appendingPathComponent("a.json"), folder.appendingPathComponent("b.json"))
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
            let jar = try CookieJar(contentsOf: link)
            jar.store(["a=1; Max-Age=86400"], from: url)
            try jar.save(to: link)
            #expect(try CookieJar(contentsOf: target).cookies().count == 1)
            jar.reset()
            #expect(!FileManager.default.fileExists(atPath: target.path))
        }
    }

    @Test("the clock of a jar may save the jar")
    func savingClock() async throws {
        try await withFolder { folder in
            let (own, saves) = (Protected<CookieJar?>(nil), Protected(0))
            let jar = CookieJar(now: {
                let isFirst = saves.withLock { saves in
                    saves += 1
                    return saves == 2
                }
                if isFirst { try? own.value?.save(to: folder.appendingPathComponent("other.json")) }
                return Date()
            })
            _ = own.swap(jar)
            jar.store(["a=1; Max-Age=60"], from: url)
            try jar.save(to: folder.appendingPathComponent("cookies.json"))
            _ = own.swap(nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
        }
    }

    @Test("saves and reads cookies by partition, session cookies on request")
    func roundTrip() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("cookies.json")
            let jar = try CookieJar(contentsOf: file)
            #expect(jar.cookies().isEmpty)
            jar.store(
                [
                    "a=\"1 é\"; Max-Age=86400; Path=/x; Domain=a.example; Secure; HttpOnly; SameSite=None", "b=2",
                    "c=3; Max-Age=86400",
                ], from: url)
            jar.store(["d=4; Max-Age=86400"], from: url, in: "qa")
            try jar.save(to: file)
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["cookies.json"])

            let again = try CookieJar(contentsOf: file)
            #expect(again.cookies(in: nil).map(\.name) == ["a", "c"])
            #expect(again.cookies(in: "qa").map(\.value) == ["4"])
            // A date may lose fractions of a second below the file's digits.
            for (one, other) in zip(again.cookies(), jar.cookies().filter { $0.expires != nil }) {
                #expect(
                    (one.name, one.value, one.domain, one.path) == (other.name, other.value, other.domain, other.path))
                #expect((one.isHostOnly, one.isSecure) == (other.isHostOnly, other.isSecure))
                #expect(one.isHTTPOnly == other.isHTTPOnly)
                #expect(one.sameSite == other.sameSite)
                let (date, otherDate) = (try #require(one.expires), try #require(other.expires))
                #expect(abs(date.timeIntervalSince(otherDate)) < 0.001)
            }

            try jar.save(to: file, includingSessionCookies: true)
            #expect(try CookieJar(contentsOf: file).cookies(in: nil).map(\.name) == ["a", "b", "c"])
            // Another reader parses the file as JSON.
            let json = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
            #expect((json?["partitions"] as? [Any])?.count == 2)
        }
    }

    @Test("a reset removes the cookies and their file", .requirement("S2.17"))
    func reset() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("cookies.json")
            let jar = CookieJar()
            jar.store(["a=1; Max-Age=86400"], from: url)
            jar.store(["b=1; Max-Age=86400"], from: url, in: "qa")
            try jar.save(to: file)
            let router = Router<URLEndPoint>(exchangeInterceptors: [CookieInterceptor(jar)])
            await router.reset()
            #expect(jar.cookies().isEmpty)
            #expect(jar.cookies(in: "qa").isEmpty)
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
    }

    #if compiler(>=6.2)
    @Test("after a reset, a file that cannot be removed has no cookies")
    func unremovableFile() async {
        await #expect(processExitsWith: .success) {
            try await withGuardedFolder { folder in
                let file = folder.appendingPathComponent("cookies.json")
                let jar = CookieJar()
                try jar.set(StoredCookie("a", "1", domain: "a.example", expires: .distantFuture))
                try jar.save(to: file)
                try #require(chmod(folder.path, 0o500) == 0)
                defer { chmod(folder.path, 0o700) }
                jar.reset()
                #expect(try CookieJar(contentsOf: file).cookies().isEmpty)
                try #require(FileManager.default.fileExists(atPath: file.path))
            }
        }
    }
    #endif

    @Test("a reset removes a file that an earlier reset could not remove")
    func resetTwice() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("cookies.json")
            let jar = CookieJar()
            try jar.set(StoredCookie("a", "1", domain: "a.example", expires: .distantFuture))
            try jar.save(to: file)
            // Neither is a folder removed, nor does it become an empty file.
            let moved = folder.appendingPathComponent("moved")
            try FileManager.default.moveItem(at: file, to: moved)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            jar.reset()
            try FileManager.default.removeItem(at: file)
            try FileManager.default.moveItem(at: moved, to: file)
            jar.reset()
            #expect(try CookieJar(contentsOf: file).cookies().isEmpty)
        }
    }

    @Test("a save that a reset overtakes leaves no cookies in the file", .requirement("S2.17"))
    func resetDuringSave() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("cookies.json")
            let overtaking = Protected<CookieJar?>(nil)
            let jar = CookieJar(now: {
                overtaking.swap(nil)?.reset()
                return Date()
            })
            try jar.set(StoredCookie("a", "1", domain: "a.example", expires: .distantFuture))
            _ = overtaking.swap(jar)
            try jar.save(to: file)
            #expect(try CookieJar(contentsOf: file).cookies().isEmpty)
        }
    }

    @Test("concurrent saves leave the cookies of the last one in the file")
    func concurrentSaves() async throws {
        try await withFolder { folder in
            for round in 0..<50 {
                let (file, jar) = (folder.appendingPathComponent("cookies\(round).json"), CookieJar())
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<8 {
                        group.addTask {
                            try jar.set(
                                StoredCookie("\(number)", "1", domain: "a.example", expires: .distantFuture))
                            try jar.save(to: file)
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try CookieJar(contentsOf: file).cookies().count == 8)
            }
        }
    }

    @Test(
        "a damaged file is an error that shows none of its content",
        arguments: [
            "", "{", "hunter2", "[]", #"{"version":2,"partitions":[]}"#, #"{"version":1}"#,
            #"{"version":1,"partitions":[{"cookies":[{"name":"a","value":"hunter2"}]}]}"#,
            #"{"version":1,"partitions":[{"cookies":[{"name":"a","value":"hunter2\r\nX: y","domain":"a.example","path":"/","isHostOnly":true,"isSecure":true,"isHTTPOnly":false}]}]}"#,
            #"{"version":1,"partitions":[{"cookies":[{"name":"a","value":"hunter2","domain":"","path":"/","isHostOnly":true,"isSecure":true,"isHTTPOnly":false}]}]}"#,
            #"{"version":1,"partitions":[{"cookies":[{"name":"a","value":"hunter2","domain":"a.example","path":"/","isHostOnly":1,"isSecure":true,"isHTTPOnly":false}]}]}"#,
        ])
    func damaged(text: String) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("cookies.json")
            try PrivateFile.write(Data(text.utf8), to: file)
            let error = #expect(throws: NetworkError.self) { try CookieJar(contentsOf: file) }
            #expect(error?.code == .unreadableFile)
            var dumped = ""
            dump(error, to: &dumped)
            #expect(!"\(dumped)\(String(describing: error))".contains("hunter2"))
            #expect(error?.description.contains("cookies.json") == true)
        }
    }

    @Test("a file that others can read or write is refused until repaired", arguments: [0o644, 0o606])
    func openFile(mode: Int) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("cookies.json")
            let jar = CookieJar()
            jar.store(["a=hunter2; Max-Age=86400"], from: url)
            try jar.save(to: file)
            #expect(chmod(file.path, mode_t(mode)) == 0)
            let error = #expect(throws: NetworkError.self) { try CookieJar(contentsOf: file) }
            #expect(error?.code == .unreadableFile && error?.underlying is PrivateFile.Refusal)
            #expect(error?.reason?.contains("run chmod 600") == true)
            #expect(error?.reason?.contains("by other users (mode \(String(mode, radix: 8)))") == true)
            // Saving replaces the file.
            try jar.save(to: file)
            #expect(try CookieJar(contentsOf: file).cookies().map(\.value) == ["hunter2"])
        }
    }

    @Test("a missing folder, or a folder with the file's name, is a typed error")
    func noFolder() async throws {
        try await withFolder { folder in
            let jar = CookieJar()
            let error = #expect(throws: NetworkError.self) {
                try jar.save(to: folder.appendingPathComponent("none/cookies.json"))
            }
            #expect(error?.code == .cannotWriteFile)
            #expect(error?.reason?.hasSuffix("none/cookies.json\": its folder does not exist") == true)
            let foreign = #expect(throws: NetworkError.self) { try jar.save(to: url) }
            #expect(foreign?.reason?.hasSuffix(": it is not a file URL") == true)
            #expect(throws: NetworkError.self) { try jar.save(to: folder) }
            #expect(throws: NetworkError.self) { try CookieJar(contentsOf: folder) }
            let loop = folder.appendingPathComponent("loop")
            try FileManager.default.createSymbolicLink(atPath: loop.path, withDestinationPath: loop.path)
            #expect(throws: NetworkError.self) { try CookieJar(contentsOf: loop) }
            try FileManager.default.removeItem(at: loop)
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(left.isEmpty)
        }
    }

    @Test("a cookie that never expires is saved")
    func endless() async throws {
        try await withFolder { folder in
            let (file, jar) = (folder.appendingPathComponent("cookies.json"), CookieJar())
            try jar.set(
                StoredCookie("a", "1", domain: "example.com", expires: Date(timeIntervalSince1970: .infinity)))
            try jar.save(to: file)
            #expect(try CookieJar(contentsOf: file).cookies().map(\.name) == ["a"])
        }
    }

    @Test("each cookie that a server can set is read again", arguments: ["http://.a.example/", "http://a;b.example/"])
    func unusualHost(text: String) async throws {
        try await withFolder { folder in
            let (file, jar) = (folder.appendingPathComponent("cookies.json"), CookieJar())
            jar.store(["a=1; Max-Age=60"], from: try #require(URL(string: text)))
            jar.store(["b=2; Max-Age=60"], from: URL(text: "http://b.example/"))
            try jar.save(to: file)
            #expect(try CookieJar(contentsOf: file).cookies().map(\.name) == jar.cookies().map(\.name))
        }
    }
}
