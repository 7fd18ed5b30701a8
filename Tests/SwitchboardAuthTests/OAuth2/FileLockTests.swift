@testable import SwitchboardAuth
import Foundation
import SwitchboardPlatform
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@testable import Switchboard

@Suite(.timeLimit(.minutes(10)))
struct FileLockTests {
    /// Runs `body` while another descriptor holds the lock of `tokens.json`.
    private func whileLocked(_ body: (URL, _ lock: Int32) async throws -> Void) async throws {
        try await withFolder { folder in
            let lock = open(folder.appendingPathComponent(".tokens.json.lock").path, O_RDWR | O_CREAT, 0o600)
            try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
            defer { close(lock) }
            try await body(folder.appendingPathComponent("tokens.json"), lock)
        }
    }

    /// Replaces the file of a store as a process that holds the lock.
    private func write(_ name: String, to file: URL) async throws {
        let other = file.deletingLastPathComponent().appendingPathComponent("other.json")
        try await FileTokenStore(other).save(OAuthToken(accessToken: name, refreshToken: name), in: nil)
        #expect(rename(other.path, file.path) == 0)
    }

    @Test("a lock that is never released is cannotWriteFile and names the file")
    func held() async throws {
        try await whileLocked { file, _ in
            let clock = TestClock(skips: true)
            let store = FileTokenStore(file, clock: clock)
            let error = await #expect(throws: NetworkError.self) {
                try await store.save(OAuthToken(accessToken: "t"), in: nil)
            }
            #expect(error?.code == .cannotWriteFile)
            #expect(error?.reason?.contains("tokens.json") == true)
            #expect(error?.reason?.contains(".tokens.json.lock\" for 10 s") == true)
            await #expect(throws: NetworkError.self) { try await store.removeAll() }
            let left = try await store.load(in: nil)
            #expect(left == nil)
        }
    }

    @Test("a lock released while a store waits is taken")
    func released() async throws {
        try await whileLocked { file, lock in
            let clock = TestClock()
            let store = FileTokenStore(file, clock: clock)
            let save = Task { try await store.save(OAuthToken(accessToken: "t"), in: nil) }
            _ = try await clock.nextSleep()
            #expect(flock(lock, LOCK_UN) == 0)
            clock.advance(by: .seconds(1))
            try await save.value
            let kept = try await store.load(in: nil)
            #expect(kept?.accessToken == "t")
        }
    }

    @Test("the end of a lock leaves the lock file of the next holder")
    func replacedLockFile() async throws {
        try await withFolder { folder in
            let path = folder.appendingPathComponent(".tokens.json.lock").path
            let file = folder.appendingPathComponent("tokens.json")
            let next = try await FileLock.withLock(for: file, clock: TestClock()) { () -> Int32? in
                unlink(path)
                return try FileLock.open(path, mode: 0o600)
            }
            let descriptor = try #require(next)
            defer { close(descriptor) }
            #expect(FileLock.isNamed(descriptor, path))
            #expect(try FileLock.open(path, mode: 0o600) == nil)
        }
    }

    @Test("removing a lost token keeps one that another process saves", arguments: [true, false])
    func replacedBeforeRemoval(isReplaced: Bool) async throws {
        try await whileLocked { file, lock in
            let clock = TestClock()
            let client = OAuth2Client(StubSession(.invalidGrant))
            let authenticator = OAuth2Authenticator(client, store: FileTokenStore(file, clock: clock))
            try await write("old", to: file)
            let old = try await authenticator.load(in: nil)
            await #expect(throws: NetworkError.self) { try await authenticator.refresh(old, in: nil) }
            let removal = Task { try await authenticator.save(nil, in: nil) }
            _ = try await clock.nextSleep()
            if isReplaced { try await write("new", to: file) }
            #expect(flock(lock, LOCK_UN) == 0)
            clock.advance(by: .seconds(1))
            try await removal.value
            #expect(try await FileTokenStore(file).load(in: nil)?.accessToken == (isReplaced ? "new" : nil))
            if isReplaced {
                #expect(try await authenticator.refresh(nil, in: nil).accessToken == "new")
            } else {
                await #expect(throws: NetworkError.self) { try await authenticator.refresh(nil, in: nil) }
            }
            // A sign-out removes any token.
            try await authenticator.save(nil, in: nil)
            #expect(try await FileTokenStore(file).load(in: nil) == nil)
        }
    }

    @Test("a refreshed token replaces no token that another process saves", arguments: [true, false])
    func replacedBeforeSave(isReplaced: Bool) async throws {
        try await whileLocked { file, lock in
            let clock = TestClock()
            let client = OAuth2Client(StubSession(.json(#"{"access_token":"fresh","token_type":"bearer"}"#)))
            let authenticator = OAuth2Authenticator(client, store: FileTokenStore(file, clock: clock))
            try await write("old", to: file)
            let old = try await authenticator.load(in: nil)
            let fresh = try await authenticator.refresh(old, in: nil)
            let save = Task { try await authenticator.save(fresh, in: nil) }
            _ = try await clock.nextSleep()
            if isReplaced { try await write("new", to: file) }
            #expect(flock(lock, LOCK_UN) == 0)
            clock.advance(by: .seconds(1))
            try await save.value
            let left = try await FileTokenStore(file).load(in: nil)
            #expect(left?.accessToken == (isReplaced ? "new" : "fresh"))
            if isReplaced {
                let next = try await authenticator.refresh(fresh, in: nil)
                #expect(next.accessToken == "new")
            }
        }
    }

    @Test("a save canceled while it waits still stores the token")
    func cancelled() async throws {
        try await whileLocked { file, lock in
            let clock = TestClock()
            let store = FileTokenStore(file, clock: clock)
            let save = Task { try await store.save(OAuthToken(accessToken: "t"), in: nil) }
            _ = try await clock.nextSleep()
            save.cancel()
            #expect(flock(lock, LOCK_UN) == 0)
            clock.advance(by: .seconds(1))
            try await save.value
            let kept = try await store.load(in: nil)
            #expect(kept?.accessToken == "t")
        }
    }
}
