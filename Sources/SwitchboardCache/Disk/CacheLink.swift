import SwitchboardPlatform
import Foundation

/// The body of a stored response that shares the bytes of a file of the app, such as a download: a hard link or, on
/// Apple platforms, a clone.
///
/// The app may change the file. The stamp and the checksums detect that, and the stored response then counts as
/// damaged. The cache never writes to the file. The link has the file's permissions, so it is made only if the folder
/// or the file is private.
final class CacheLink: @unchecked Sendable {  // one task at a time uses it
    /// The number of bytes of a stamp.
    static let stampSize = 16

    private let path: String
    private var isCommitted = false

    /// Links a file under a temporary name, which contains the draft's. Nil when the file system refuses that.
    init?(to file: String, in folder: CacheFolder, for draft: String) {
        path = draft.dropLast(Self.ending.utf8.count) + Self.linkEnding
        var (parent, own) = (stat(), stat())
        guard link(file, path) == 0 else { return nil }
        let isPrivate =
            stat(folder.url.path, &parent) == 0 && lstat(path, &own) == 0 && own.st_mode & S_IFMT == S_IFREG
            && (parent.st_mode & 0o077 == 0 || own.st_mode & 0o077 == 0)
        guard isPrivate else {
            unlink(path)
            return nil
        }
    }

    deinit {
        if !isCommitted { unlink(path) }
    }

    private static let ending = ".part"
    private static let linkEnding = ".body.part"

    /// Returns the name of the draft for which a temporary link or its clone was made. Nil for another file.
    static func draft(of name: String) -> String? {
        name.range(of: linkEnding).map { name[..<$0.lowerBound] + ending }
    }

    /// Returns the path of the body of a stored response.
    static func path(of file: String) -> String { file + ".body" }

    /// Returns the first bytes of the file. Nil when it does not have exactly these.
    func bytes(_ count: Int) -> Data? {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        guard let data = try? handle.read(upToCount: count + 1) ?? Data(), data.count == count else { return nil }
        return data
    }

    /// Returns whether the file consists of the first bytes of a stored body.
    func has(_ count: Int, of stored: CacheFile) -> Bool {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var information = stat()
        guard fstat(descriptor, &information) == 0, Int(information.st_size) == count else { return false }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        let step = 16 * CacheFile.blockSize
        return stride(from: 0, to: count, by: step).allSatisfy { start in
            let range = start..<min(start + step, count)
            guard let own = try? handle.read(upToCount: range.count) else { return false }
            return own == (try? stored.read(range))
        }
    }

    /// Returns whether the link leads to an open file.
    func isSame(as descriptor: Int32) -> Bool {
        FileIdentity(at: path).map { $0 == FileIdentity(of: descriptor) } ?? false
    }

    /// Returns the inode and the change time of the file, which detect a change. Nil unless the file has this size.
    func stamp(_ size: Int) -> [UInt8]? {
        SharedFile.detach(path)
        var information = stat()
        guard lstat(path, &information) == 0, Int(information.st_size) == size else { return nil }
        return Self.stamp(information)
    }

    /// Opens the body of a stored response. Nil when the file is gone or has changed, -1 when it may be readable later.
    static func open(_ path: String, _ size: Int, stamp: UnsafeRawBufferPointer) -> Int32? {
        let link = Self.path(of: path)
        var information = stat()
        func isUnchanged() -> Bool {
            information.st_mode & S_IFMT == S_IFREG && Int(information.st_size) == size
                && Self.stamp(information).elementsEqual(stamp)
        }
        // The app may have locked a file that it changed. A process that closes a file ends its POSIX locks on it.
        guard lstat(link, &information) == 0 else { return errno == ENOENT ? nil : -1 }
        guard isUnchanged() else { return nil }
        let descriptor = Foundation.open(link, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT || errno == ELOOP ? nil : -1 }
        guard fstat(descriptor, &information) == 0, isUnchanged() else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Gives the body its name, in place of another one.
    func commit(to file: String) -> Bool {
        guard rename(path, Self.path(of: file)) == 0 else { return false }
        isCommitted = true
        // Between two names of one file, `rename` does nothing.
        unlink(path)
        return true
    }

    /// Returns the inode of the file that has a stamp.
    static func inode(of stamp: UnsafeRawBufferPointer) -> UInt64 {
        UInt64(littleEndian: stamp.loadUnaligned(as: UInt64.self))
    }

    private static func stamp(_ information: stat) -> [UInt8] {
        let words = [UInt64(information.st_ino), UInt64(bitPattern: information.changed)].map(\.littleEndian)
        return words.withUnsafeBytes { Array($0) }
    }
}
