import Foundation

/// Keeps processes, and whoever else in this one, from changing a file at the same time.
enum FileLock {
    /// Runs `body` while nobody else does so for the same file. Waits for its turn, by `flock(2)` on a file beside it, which is
    /// gone afterwards.
    ///
    /// - Throws: `POSIXError` when no file can be made there; what `body` throws.
    static func hold<Output>(for file: URL, _ body: () throws -> Output) throws -> Output {
        let stem = String(decoding: file.lastPathComponent.utf8.prefix(240), as: UTF8.self)
        let path = file.deletingLastPathComponent().appendingPathComponent(".\(stem).lock").path
        let descriptor = try acquire(path)
        defer {
            unlink(path)
            close(descriptor)
        }
        return try body()
    }

    private static func acquire(_ path: String) throws -> Int32 {
        // Each time it is lost, somebody else has done his work.
        for _ in 0..<100_000 {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            var result = flock(descriptor, LOCK_EX)
            while result != 0, errno == EINTR { result = flock(descriptor, LOCK_EX) }
            guard result == 0 else {
                let code = errno
                close(descriptor)
                throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
            }
            // Whoever held it has removed the file: only the lock of the one that is there now counts.
            var held = stat()
            var named = stat()
            if fstat(descriptor, &held) == 0, lstat(path, &named) == 0, held.st_ino == named.st_ino,
                held.st_dev == named.st_dev
            {
                return descriptor
            }
            close(descriptor)
        }
        throw POSIXError(.EDEADLK)
    }
}
