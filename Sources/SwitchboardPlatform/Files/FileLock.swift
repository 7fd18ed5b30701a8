import Foundation

/// Keeps processes, and whoever else in this one, from changing a file at the same time.
package enum FileLock {
    /// Somebody else held the lock for as long as this one waits.
    package struct Busy: Error {
        /// The file beside the one to be changed.
        package let path: String
    }

    /// How long a change waits for those of others, which take milliseconds.
    package static let patience = Duration.seconds(10)

    /// Runs `body` while nobody else does so for the same file. Waits for its turn, without a thread, by `flock(2)` on a file
    /// beside it, which is gone afterwards.
    ///
    /// - Throws: ``Busy`` after ``patience``; `POSIXError` when no file can be made there; what `body` throws.
    package static func hold<Output>(
        for file: URL, clock: any Clock<Duration>, isolation: isolated (any Actor)? = #isolation,
        _ body: () throws -> Output
    ) async throws -> Output {
        let stem = String(decoding: file.lastPathComponent.utf8.prefix(240), as: UTF8.self)
        let path = file.deletingLastPathComponent().appendingPathComponent(".\(stem).lock").path
        let elapsed = clock.stopwatch()
        var pause = Duration.milliseconds(1)
        while true {
            if let descriptor = try acquire(path) {
                defer {
                    unlink(path)
                    close(descriptor)
                }
                return try body()
            }
            guard elapsed() < patience else { throw Busy(path: path) }
            try await clock.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    /// Nil when somebody else holds it.
    private static func acquire(_ path: String) throws -> Int32? {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        var result = flock(descriptor, LOCK_EX | LOCK_NB)
        while result != 0, errno == EINTR { result = flock(descriptor, LOCK_EX | LOCK_NB) }
        let code = errno
        // Whoever held it has removed the file: only the lock of the one that is there now counts.
        var held = stat()
        var named = stat()
        if result == 0, fstat(descriptor, &held) == 0, lstat(path, &named) == 0, held.st_ino == named.st_ino,
            held.st_dev == named.st_dev
        {
            return descriptor
        }
        close(descriptor)
        guard result == 0 || code == EWOULDBLOCK else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        return nil
    }
}
