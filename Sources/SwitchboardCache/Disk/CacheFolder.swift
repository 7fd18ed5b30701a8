import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// The folder of a disk cache. The cache leaves other files in it alone.
struct CacheFolder: Sendable {
    /// The state of the folder that this process knows.
    struct Known: Sendable {
        /// The time of the folder's last change that the index contains, less one nanosecond if later changes may have
        /// the same time. Nil before the first listing.
        var changed: Int64?
        /// Whether this process changed the folder since it was listed. Another process may have done so in the same
        /// tick.
        var hasOwnChanges = false
    }

    /// The files that a removal left in the folder. They are not found, and each listing removes them again.
    struct Remaining: Sendable {
        var names: Set<CacheFileName> = []
        /// Whether any file may be one of them, because a removal of all files failed or could not list them.
        var isAny = false

        func contains(_ name: CacheFileName) -> Bool { isAny || !names.isEmpty && names.contains(name) }
    }

    let url: URL
    let known = Protected(Known())
    let remaining = Protected(Remaining())
    private let prefix: String
    private static let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
    private static let inodeOffset = MemoryLayout<dirent>.offset(of: \.d_ino) ?? 0

    init(_ url: URL) {
        self.url = url
        prefix = url.path + "/"
    }

    func path(of name: CacheFileName) -> String { name.path(in: prefix) }

    /// Hides a file that could not be removed, or all files for nil.
    func hide(_ name: CacheFileName?) {
        let isFirst = remaining.withLock { remaining in
            guard let name else {
                defer { remaining.isAny = true }
                return !remaining.isAny
            }
            return remaining.names.insert(name).inserted && remaining.names.count == 1
        }
        guard isFirst else { return }
        StandardError.write(
            "Switchboard: files in \(url.path.quotedInFull) could not be removed; the next launch uses them\n")
    }

    /// Sets the time of a file to that of its last use, which other processes read.
    func writeUseTime(of name: CacheFileName, at time: Int64) {
        let time = timespec(tv_sec: time_t(clamping: time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
        utimensat(AT_FDCWD, path(of: name), [time, time], AT_SYMLINK_NOFOLLOW)
    }

    func temporaryPath() -> String {
        prefix + ".\(String(UInt64.random(in: 0...UInt64.max), radix: 16)).response.part"
    }

    func make() throws {
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// The reason why the folder must not be used, and what to do. Nil for a folder that only the user of this process,
    /// or the superuser, can write.
    var fault: String? {
        var information = stat()
        return stat(url.path, &information) == 0 ? information.fault() : nil
    }

    /// The time of the last change of the folder, in nanoseconds. It changes with each file that is added or removed.
    var changed: Int64 {
        var information = stat()
        return stat(prefix, &information) == 0 ? information.changed : 0
    }

    /// ``changed``, less one nanosecond if later changes may have the same time.
    var comparableChange: Int64 {
        let now = CacheTime.now
        let changed = changed
        return CacheTime.isRepeatable(changed, at: now) ? changed - 1 : changed
    }

    /// Runs a closure that adds or removes one file. This change does not cause another listing.
    func change<Output>(_ body: () throws -> Output) rethrows -> Output {
        try known.withLock { known in
            let before = changed
            let isCurrent = known.changed == before || known.changed == before - 1
            defer {
                if isCurrent { known = Known(changed: changed, hasOwnChanges: true) }
            }
            return try body()
        }
    }

    /// Returns whether the file of a response in memory still has this response, and not one that another cache stored
    /// since.
    func contains(_ name: CacheFileName, _ response: StoredResponse) -> Bool {
        switch CacheFile.readHead(path(of: name)) {
        case .missing: false
        case .found(let found): found.response.isEqual(to: response)
        default: true
        }
    }

    /// Returns whether a file exists. Takes one system call.
    func contains(_ name: CacheFileName) -> Bool { access(path(of: name), F_OK) == 0 || errno != ENOENT }

    /// Removes the file of a response. Returns false if it remains.
    func remove(_ name: CacheFileName) -> Bool {
        let path = path(of: name)
        if unlink(path) == 0 || errno == ENOENT { return true }
        var information = stat()
        return lstat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFDIR  // not a response
    }

    /// Returns the names of stored responses with their inodes, and the names of temporary files. Nil when the folder
    /// cannot be read.
    func list() -> (files: [(name: CacheFileName, inode: UInt64)], leftovers: [String])? {
        guard let folder = opendir(prefix) else { return errno == ENOENT ? ([], []) : nil }
        defer { closedir(folder) }
        var files: [(name: CacheFileName, inode: UInt64)] = []
        var leftovers: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(folder) else { break }
            // The entry is as long as its name, not as long as the type.
            let inode = UInt64(UnsafeRawPointer(entry).loadUnaligned(fromByteOffset: Self.inodeOffset, as: ino_t.self))
            let start = UnsafeRawPointer(entry) + Self.nameOffset
            let bytes = UnsafeRawBufferPointer(start: start, count: strlen(start.assumingMemoryBound(to: CChar.self)))
            if let name = CacheFileName(bytes) {
                files.append((name, inode))
            } else if Self.isTemporary(bytes) {
                leftovers.append(String(decoding: bytes, as: UTF8.self))
            }
        }
        guard errno == 0 else { return nil }
        return (files, leftovers)
    }

    /// Returns whether a name is one of ``temporaryPath()``.
    private static func isTemporary(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (text, ending) = (String(decoding: bytes, as: UTF8.self), ".response.part")
        guard text.hasPrefix("."), text.hasSuffix(ending) else { return false }
        let digits = text.dropFirst().dropLast(ending.count)
        return !digits.isEmpty && digits.allSatisfy(\.isHexDigit)
    }

    /// Removes temporary files that ``list()`` found, except those that a process still writes.
    ///
    /// A process locks the temporary file of a body that arrives. The age protects a file without a lock. With
    /// `isRemovingAll`, the age protects none, and a response that another process is storing may not be stored.
    func sweep(_ leftovers: [String], isRemovingAll: Bool = false) {
        for name in leftovers { FileLock.removeLeftover(prefix + name, ignoresAge: isRemovingAll) }
    }
}

/// Times in nanoseconds since 1970.
enum CacheTime {
    static let second: Int64 = 1_000_000_000

    /// The least time between two updates of a file's last-used time.
    static let useWriteInterval: Int64 = 60_000_000_000

    /// The current time. Needs no system call.
    static var now: Int64 { Int64(min(Date().timeIntervalSince1970 * 1e9, 9e18)) }

    /// Returns whether a later change of a file or folder may have the same time, because the clock of the file system
    /// has ticks: of at most 10 milliseconds, or of whole seconds as HFS+, or of two as FAT.
    static func isRepeatable(_ changed: Int64, at now: Int64) -> Bool {
        now - changed < (changed % second == 0 ? 2 * second : 10_000_000)
    }

    /// Returns the time of a use. A time in the future counts as the oldest, because the clock was set back after it. A
    /// minute is allowed, because the file system may have another clock.
    static func use(_ time: Int64, at now: Int64) -> Int64 { time > now + useWriteInterval ? 0 : time }
}
