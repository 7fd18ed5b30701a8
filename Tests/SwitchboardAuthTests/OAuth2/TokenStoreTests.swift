@testable import SwitchboardAuth
import Foundation
import SwitchboardPlatform
import Testing

import SwitchboardTestSupport
@testable import Switchboard

@Suite(.timeLimit(.minutes(10)))
struct TokenStoreTests {
    private let one = OAuthToken(
        accessToken: "a1", refreshToken: "r1", expiresAt: Date(timeIntervalSince1970: 1_700_000_000), scope: "x y")
    private let two = OAuthToken(accessToken: "a2")

    private func mode(_ url: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return try #require(attributes[.posixPermissions] as? NSNumber).intValue
    }

    private func check(_ store: any TokenStore) async throws {
        #expect(try await store.load(in: nil) == nil)
        try await store.remove(in: nil)
        try await store.save(one, in: nil)
        try await store.save(two, in: "qa")
        try await store.save(one, in: "")
        #expect(try await store.load(in: nil) == one)
        #expect(try await store.load(in: "qa") == two)
        #expect(try await store.load(in: "") == one)
        #expect(try await store.load(in: "live") == nil)
        try await store.save(two, in: nil)
        try await store.remove(in: "qa")
        #expect(try await store.load(in: nil) == two)
        #expect(try await store.load(in: "qa") == nil)
        try await store.removeAll()
        #expect(try await store.load(in: "") == nil)
        try await store.removeAll()
    }

    @Test("memory and file stores keep, replace and remove tokens by partition")
    func stores() async throws {
        try await check(MemoryTokenStore())
        try await withFolder { folder in
            try await check(FileTokenStore(folder.appendingPathComponent("tokens.json")))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test("a removal includes the files that a process killed in a save left", arguments: [false, true])
    func leftovers(ofOnePartition: Bool) async throws {
        try await withFolder { folder in
            let store = FileTokenStore(folder.appendingPathComponent("tokens.json"))
            try await store.save(one, in: nil)
            try await store.save(two, in: "qa")
            let left = [".tokens.json.0A0A0A0A.part", ".other.json.0A0A0A0A.part", ".tokens.json.bak.part"]
            for name in left {
                let file = folder.appendingPathComponent(name)
                try PrivateFile.write(Data("a1".utf8), to: file)
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: file.path)
            }
            if ofOnePartition { try await store.remove(in: "qa") } else { try await store.removeAll() }
            let rest = Array(left.dropFirst()) + (ofOnePartition ? ["tokens.json"] : [])
            #expect(names(in: folder) == rest.sorted())
        }
    }

    @Test("a token too large for the file is not saved, and the file stays")
    func tooLarge() async throws {
        try await withFolder { folder in
            let store = FileTokenStore(folder.appendingPathComponent("tokens.json"))
            try await store.save(one, in: nil)
            let large = OAuthToken(accessToken: String(repeating: "a", count: 16 << 20))
            let error = await #expect(throws: NetworkError.self) { try await store.save(large, in: "qa") }
            #expect(error?.code == .cannotWriteFile)
            #expect(try await store.load(in: nil) == one)
        }
    }

    @Test("a URL that is no file URL is refused")
    func noFileURL() async throws {
        try await withFolder { folder in
            let path = folder.appendingPathComponent("tokens.json").path
            let store = FileTokenStore(try #require(URL(string: "https://host.example" + path)))
            let error = await #expect(throws: NetworkError.self) { try await store.save(one, in: nil) }
            #expect(error?.code == .cannotWriteFile && error?.description.contains("is not a file URL") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test("a symbolic link stays a link to the file")
    func link() async throws {
        try await withFolder { folder in
            let (target, link) = (folder.appendingPathComponent("a.json"), folder.appendingPathComponent("b.json"))
            try await FileTokenStore(target).save(one, in: nil)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
            try await FileTokenStore(link).save(two, in: nil)
            #expect(try await FileTokenStore(target).load(in: nil) == two)
            try await FileTokenStore(link).removeAll()
            #expect(!FileManager.default.fileExists(atPath: target.path))
            try await FileTokenStore(link).save(one, in: nil)
            #expect(try await FileTokenStore(target).load(in: nil) == one)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == target.path)
        }
    }

    @Test("a relative link in a folder that is a link leads to its file")
    func relativeLink() async throws {
        try await withFolder { folder in
            let (manager, root) = (FileManager.default, folder.path)
            for name in ["real/in", "shared"] {
                try manager.createDirectory(atPath: "\(root)/\(name)", withIntermediateDirectories: true)
            }
            try manager.createSymbolicLink(atPath: "\(root)/now", withDestinationPath: "real/in")
            try manager.createSymbolicLink(
                atPath: "\(root)/real/in/t.json", withDestinationPath: "../../shared/t.json")
            try await FileTokenStore(folder.appendingPathComponent("now/t.json")).save(one, in: nil)
            #expect(try await FileTokenStore(folder.appendingPathComponent("shared/t.json")).load(in: nil) == one)
        }
    }

    @Test("a token without an end has a description")
    func endless() {
        let token = OAuthToken(accessToken: "a", expiresAt: Date(timeIntervalSince1970: .infinity))
        #expect(token.description == "OAuthToken(<redacted>)")
    }

    @Test("the file has mode 0600 and its folder 0700; a later store reads it")
    func modes() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("new/deep/tokens.json")
            try await FileTokenStore(file).save(one, in: nil)
            #expect(try mode(file) == 0o600)
            #expect(try mode(file.deletingLastPathComponent()) == 0o700)
            #expect(try await FileTokenStore(file).load(in: nil) == one)
            try await FileTokenStore(file).save(two, in: nil)
            #expect(try mode(file) == 0o600)
            let names = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
            #expect(names == ["tokens.json"])
        }
    }

    @Test("a file that others can read or write is refused until repaired", arguments: [0o644, 0o606])
    func openFile(mode: Int) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("tokens.json")
            let store = FileTokenStore(file)
            try await store.save(one, in: nil)
            #expect(chmod(file.path, mode_t(mode)) == 0)
            let read = await #expect(throws: NetworkError.self) { try await store.load(in: nil) }
            #expect(read?.code == .unreadableFile && read?.reason?.contains("run chmod 600") == true)
            #expect(read?.reason?.contains("by other users (mode \(String(mode, radix: 8)))") == true)
            let written = await #expect(throws: NetworkError.self) { try await store.save(two, in: nil) }
            #expect(written?.code == .cannotWriteFile && written?.reason?.contains("run chmod 600") == true)
            #expect(chmod(file.path, 0o600) == 0)
            #expect(try await store.load(in: nil) == one)
            #expect(chmod(file.path, mode_t(mode)) == 0)
            try await store.removeAll()
            #expect(try await store.load(in: nil) == nil)
        }
    }

    @Test(
        "a file with other content is a typed error and stays until removed",
        arguments: ["", "{", "[]", "null", #"{"token":{"accessToken":1}}"#, #"{"version":2,"partitions":{}}"#])
    func broken(text: String) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("tokens.json")
            try PrivateFile.write(Data(text.utf8), to: file)
            let store = FileTokenStore(file)
            let error = await #expect(throws: NetworkError.self) { try await store.load(in: nil) }
            #expect(error?.code == .cannotAuthenticate)
            #expect(try Data(contentsOf: file) == Data(text.utf8))
            for change in [{ try await store.save(one, in: nil) }, { try await store.remove(in: nil) }] {
                let error = await #expect(throws: NetworkError.self) { try await change() }
                #expect(error?.code == .cannotAuthenticate)
                #expect(try Data(contentsOf: file) == Data(text.utf8))
            }
            try await store.removeAll()
            try await store.save(one, in: nil)
            #expect(try await store.load(in: nil) == one)
        }
    }

    @Test("a file that cannot be read is an error and is not replaced")
    func unreadable() async throws {
        try await withFolder { folder in
            // A symbolic link to itself, and a file above the size limit.
            let loop = folder.appendingPathComponent("loop.json")
            try FileManager.default.createSymbolicLink(atPath: loop.path, withDestinationPath: loop.path)
            let large = folder.appendingPathComponent("large.json")
            try #require(FileManager.default.createFile(atPath: large.path, contents: nil))
            try #require(truncate(large.path, 16_777_217) == 0 && chmod(large.path, 0o600) == 0)
            for file in [loop, large] {
                let store = FileTokenStore(file)
                let read = await #expect(throws: NetworkError.self) { try await store.load(in: nil) }
                #expect(read?.code == .unreadableFile)
                for change in [{ try await store.save(one, in: nil) }, { try await store.remove(in: nil) }] {
                    let error = await #expect(throws: NetworkError.self) { try await change() }
                    #expect(error?.code == .cannotWriteFile)
                }
            }
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: loop.path) == loop.path)
            #expect(large.sizeOfFile == 16_777_217)
            #expect(
                Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) == ["loop.json", "large.json"])
        }
    }

    @Test("removing from a missing folder succeeds and creates none")
    func noFolder() async throws {
        try await withFolder { folder in
            let store = FileTokenStore(folder.appendingPathComponent("none/tokens.json"))
            try await store.remove(in: nil)
            try await store.removeAll()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }

    @Test("a failed write is a typed error and leaves no other file")
    func unwritable() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("tokens.json")
            // A folder of that name cannot be replaced by a file.
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            let store = FileTokenStore(file)
            let error = await #expect(throws: NetworkError.self) { try await store.save(one, in: nil) }
            #expect(error?.code == .cannotWriteFile)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["tokens.json"])
            let blocked = FileTokenStore(URL(fileURLWithPath: "/dev/null/tokens.json"))
            await #expect(throws: NetworkError.self) { try await blocked.save(one, in: nil) }
        }
    }

    @Test("concurrent saves leave a complete file")
    func concurrent() async throws {
        try await withFolder { folder in
            let store = FileTokenStore(folder.appendingPathComponent("tokens.json"), clock: StillClock())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<50 {
                    group.addTask { try await store.save(OAuthToken(accessToken: "\(index)"), in: "\(index % 5)") }
                }
                try await group.waitForAll()
            }
            for partition in 0..<5 { #expect(try await store.load(in: "\(partition)") != nil) }
        }
    }
}
