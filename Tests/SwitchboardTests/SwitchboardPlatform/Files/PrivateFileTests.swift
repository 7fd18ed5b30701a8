import Foundation
import SwitchboardPlatform
import SwitchboardTestSupport
import Testing

struct PrivateFileTests {
    /// An id that no user and no group has.
    private static let nobody: uid_t = 4_000_000
    private static let file = S_IFREG
    private static let folder = S_IFDIR

    private func fault(_ mode: mode_t, owner: uid_t, group: gid_t = nobody, user: uid_t) -> String? {
        var information = stat()
        (information.st_mode, information.st_uid, information.st_gid) = (mode, owner, group)
        return information.fault(for: user)
    }

    @Test("a file that only its owner can use is read", arguments: [0o600, 0o400, 0o700] as [mode_t])
    func own(mode: mode_t) {
        #expect(fault(Self.file | mode, owner: 7, user: 7) == nil)
        #expect(fault(Self.file | mode, owner: 0, user: 7) == nil)
    }

    @Test("a file that others can write is refused", arguments: [0o602, 0o620, 0o660, 0o666, 0o777] as [mode_t])
    func written(mode: mode_t) {
        for owner in [7, 0] as [uid_t] {
            let fault = fault(Self.file | mode, owner: owner, user: 7)
            #expect(fault?.hasPrefix("can be written by other users (mode \(String(mode, radix: 8)))") == true)
            #expect(fault?.contains("chmod 600") == true)
        }
    }

    @Test(
        "a file that others can read is refused, but for the superuser's", arguments: [0o604, 0o640, 0o644] as [mode_t])
    func seen(mode: mode_t) {
        let fault = fault(Self.file | mode, owner: 7, user: 7)
        #expect(fault == "can be read by other users (mode \(String(mode, radix: 8))); run chmod 600")
        #expect(self.fault(Self.file | mode, owner: 0, user: 7) == nil)
    }

    @Test("a file or folder of another user is refused, also for the superuser")
    func foreign() {
        for (owner, user) in [(8, 7), (7, 0)] as [(uid_t, uid_t)] {
            let file = fault(Self.file | 0o600, owner: owner, user: user)
            #expect(file == "belongs to another user (\(owner)); choose another file")
            let folder = fault(Self.folder | 0o700, owner: owner, user: user)
            #expect(folder == "belongs to another user (\(owner)); choose another folder")
        }
    }

    @Test("a folder may be readable but not writable")
    func folders() {
        #expect(fault(Self.folder | 0o755, owner: 7, user: 7) == nil)
        for mode in [0o777, 0o1777, 0o775, 0o702] as [mode_t] {
            let fault = fault(Self.folder | mode, owner: 7, user: 7)
            #expect(fault?.hasPrefix("can be written by other users (mode \(String(mode & 0o777, radix: 8)))") == true)
            #expect(fault?.contains("run chmod 700, or choose another folder") == true)
        }
    }

    #if os(Linux) && compiler(>=6.2)
    @Test("a file that is too large for the process is an error, and is removed")
    func limit() async {
        await #expect(processExitsWith: .success) {
            try await withFolder { folder in
                let file = folder.appendingPathComponent("secret")
                try await withLimit(1_000, of: RLIMIT_FSIZE) {
                    try PrivateFile.write(Data(count: 1_000), to: file)
                    let error = #expect(throws: POSIXError.self) { try PrivateFile.write(Data(count: 1_001), to: file) }
                    #expect(error?.code == .EFBIG)
                }
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["secret"])
                #expect(try Data(contentsOf: file).count == 1_000)
            }
        }
    }
    #endif

    #if os(Linux)
    // As on Debian and Fedora, where the group `root` has no member.
    @Test("the owner's private group is not another user")
    func privateGroup() {
        #expect(fault(Self.folder | 0o775, owner: 0, group: 0, user: 7) == nil)
        #expect(fault(Self.file | 0o660, owner: 0, group: 0, user: 0) == nil)
        #expect(fault(Self.file | 0o664, owner: 0, group: 0, user: 0)?.hasPrefix("can be read") == true)
        #expect(fault(Self.folder | 0o777, owner: 0, group: 0, user: 0)?.hasPrefix("can be written") == true)
        // The group of another user, and of a user without a name.
        #expect(fault(Self.folder | 0o775, owner: 0, group: 1, user: 0)?.hasPrefix("can be written") == true)
        let nameless = fault(Self.folder | 0o775, owner: Self.nobody, group: Self.nobody, user: Self.nobody)
        #expect(nameless?.hasPrefix("can be written") == true)
    }
    #endif

    @Test("a file that others can change or read is refused with the reason")
    func files() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("secret")
            try PrivateFile.write(Data("x".utf8), to: file)
            #expect(try PrivateFile.read(file, limit: 9) == Data("x".utf8))
            for mode in [0o606, 0o604] {
                #expect(chmod(file.path, mode_t(mode)) == 0)
                let error = #expect(throws: PrivateFile.Refusal.self) { try PrivateFile.read(file, limit: 9) }
                #expect(error?.localizedDescription.contains("(mode \(String(mode, radix: 8)))") == true)
            }
            #expect(try PrivateFile.read(folder.appendingPathComponent("none"), limit: 9) == nil)
        }
    }
}
