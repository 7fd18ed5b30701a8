import Foundation
import Switchboard
@testable import SwitchboardCache
import SwitchboardTesting
import Testing

/// The temporary names of links, and the locks that an app has on its files.
@Suite(.timeLimit(.minutes(3)))
struct CacheLinkTests {
    /// Runs a test with a private folder, and a file of an app outside of it.
    private func run(_ body: (CacheFolder, _ file: URL) async throws -> Void) async throws {
        try await withFolder { folder in
            let cache = CacheFolder(folder.appendingPathComponent("cache"))
            try cache.make()
            let file = folder.appendingPathComponent("film")
            try Data("film".utf8).write(to: file)
            try await body(cache, file)
        }
    }

    private func sweep(_ folder: CacheFolder, isRemovingAll: Bool = false) throws {
        folder.sweep(try #require(folder.list()?.leftovers), isRemovingAll: isRemovingAll)
    }

    @Test("a link of an ended process is removed without a lock on the app's file", arguments: [false, true])
    func leftover(isLocked: Bool) async throws {
        try await run { folder, file in
            let link = folder.url.appendingPathComponent(".0a.response.body.part")
            try FileManager.default.linkItem(at: file, to: link)
            let descriptor = open(file.path, O_RDONLY)
            defer { close(descriptor) }
            if isLocked { #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0) }
            try sweep(folder)
            #expect(names(in: folder.url) == [])
            #expect(try Data(contentsOf: file) == Data("film".utf8))
        }
    }

    @Test("the link of a file that is being stored stays, and ends with it")
    func living() async throws {
        try await run { folder, file in
            var draft: CacheDraft? = try CacheDraft([], in: folder, limit: 1 << 20)
            #expect(draft?.share(file.path, after: nil, 0) == true)
            draft?.lock()
            let old = names(in: folder.url)
            #expect(old.count == 2)
            for name in old {
                let path = folder.url.appendingPathComponent(name).path
                let date = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -1_000)]
                try FileManager.default.setAttributes(date, ofItemAtPath: path)
            }
            for isRemovingAll in [false, true] {
                try sweep(folder, isRemovingAll: isRemovingAll)
                #expect(names(in: folder.url) == old)
            }
            draft = nil
            #expect(names(in: folder.url) == [])
        }
    }
}
