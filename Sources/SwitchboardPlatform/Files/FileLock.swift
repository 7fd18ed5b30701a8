import Foundation

/// Prevents this process and others from doing something at the same time, such as changing a file.
package enum FileLock {
    /// The error when another holder has the lock for the whole timeout.
    package struct Busy: Error {
        /// The path of the lock file, which is in the same folder as the file to change.
        package let path: String
    }

    /// The maximum wait for other holders. A change of a file holds the lock for milliseconds, a refresh of a token for
    /// the time of its request.
    package static let timeout = Duration.seconds(10)

    /// Runs `body` while holding the lock of a file. It waits without blocking a thread, uses `flock(2)` on a lock file
    /// in the same folder, and removes that file afterwards.
    ///
    /// - Throws: ``Busy`` after ``timeout``, `POSIXError` when the lock file cannot be created, `CancellationError`
    ///   when the task is canceled while it waits, or the error of `body`.
    package static func withLock<Output>(
        for file: URL, clock: any Clock<Duration>, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Output
    ) async throws -> Output {
        let stem = String(decoding: file.lastPathComponent.utf8.prefix(240), as: UTF8.self)
        let path = file.deletingLastPathComponent().appendingPathComponent(".\(stem).lock").path
        let elapsed = clock.stopwatch()
        var pause = Duration.milliseconds(1)
        while true {
            if let descriptor = try open(path, mode: 0o600) {
                defer {
                    // If another program removed the lock file, the next holder has a new one.
                    if isNamed(descriptor, path) { unlink(path) }
                    close(descriptor)
                }
                return try await body()
            }
            guard elapsed() < timeout else { throw Busy(path: path) }
            try await clock.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    /// Opens and locks a file, which it creates with `mode` if there is none.
    ///
    /// - Returns: The descriptor. Nil when another holder has the lock, or has just removed or renamed the file.
    package static func open(_ path: String, mode: mode_t) throws(POSIXError) -> Int32? {
        let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw POSIXError.last }
        var result: Int32
        repeat { result = flock(descriptor, LOCK_EX | LOCK_NB) } while result != 0 && errno == EINTR
        let code = errno
        // The previous holder may have removed the file: only a lock on the file that now has this path counts.
        if result == 0, isNamed(descriptor, path) { return descriptor }
        close(descriptor)
        guard result == 0 || code == EWOULDBLOCK else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        return nil
    }

    /// Returns whether an open file is the one that has this path now.
    package static func isNamed(_ descriptor: Int32, _ path: String) -> Bool {
        var opened = stat()
        var named = stat()
        return fstat(descriptor, &opened) == 0 && lstat(path, &named) == 0 && opened.st_ino == named.st_ino
            && opened.st_dev == named.st_dev
    }
}

extension FileLock {
    /// The age in seconds above which an unlocked temporary file counts as left by an ended process.
    private static let gracePeriod = 10.0

    /// Removes the temporary files that ended processes left in a folder. The closure returns whether a name is that of
    /// a temporary file.
    package static func removeLeftovers(in folder: URL, where isTemporary: (String) -> Bool) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] where isTemporary(name) {
            removeLeftover(folder.appendingPathComponent(name).path)
        }
    }

    /// Removes a temporary file, except one that a process locks, or has just changed: it may be about to lock the
    /// file, or lock none. With `ignoresAge`, removes such a young file too.
    package static func removeLeftover(_ path: String, ignoresAge: Bool = false) {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { return }
        let age = Date().timeIntervalSince1970 - Double(information.changed) / 1e9
        // The file system may have another clock.
        guard ignoresAge || !(-60..<gracePeriod).contains(age) else { return }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
    }
}
