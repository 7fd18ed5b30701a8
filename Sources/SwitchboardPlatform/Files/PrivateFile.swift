import Foundation

/// A file that only its owner can read from its creation on, and that is replaced atomically.
package enum PrivateFile {
    /// The refusal of a file that other users can change or read.
    package struct Refusal: LocalizedError {
        /// The reason, and what to do.
        package let errorDescription: String?
    }

    /// Reads the file. Nil only when it does not exist.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - limit: The maximum size in bytes. A longer file throws an error.
    /// - Returns: The content.
    /// - Throws: `POSIXError`, or ``Refusal`` for a file that other users own, can write or can read.
    package static func read(_ file: URL, limit: Int) throws -> Data? {
        try check(file)
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw POSIXError.last }
            return nil
        }
        defer { close(descriptor) }
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { throw POSIXError.last }
        if let fault = information.fault() { throw Refusal(errorDescription: "it \(fault)") }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Foundation.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else {
                guard errno == EINTR else { throw POSIXError.last }
                continue
            }
            guard count > 0 else { return data }
            data += buffer[..<count]
            guard data.count <= limit else { throw POSIXError(.EFBIG) }
        }
    }

    /// Writes a temporary file with mode 0600 in the same folder, which must exist, and renames it to the file's name.
    ///
    /// - Parameters:
    ///   - data: The content.
    ///   - file: The file.
    ///   - isSynchronized: True to wait until the content is on the disk, so that a loss of power leaves the old or the
    ///     new file. On a volume of an Apple system that cannot empty the disk's cache, the content may be lost instead.
    ///     Default true.
    ///   - limit: The maximum size in bytes: that of the later read. Default none.
    /// - Throws: `POSIXError`, or the error of `FileHandle`. The file is then unchanged.
    package static func write(_ data: Data, to file: URL, isSynchronized: Bool = true, limit: Int = .max) throws {
        try check(file)
        guard data.count <= limit else { throw POSIXError(.EFBIG) }
        let file = target(of: file)
        let name = "\(partPrefix(of: file))\(UUID.randomText().prefix(8)).part"
        let part = file.deletingLastPathComponent().appendingPathComponent(name)
        try create(part, data, isSynchronized: isSynchronized)
        guard rename(part.path, file.path) == 0 else {
            let failure = POSIXError.last
            unlink(part.path)
            throw failure
        }
    }

    /// Returns the file that a symbolic link names, which may not exist yet. A loop of links is returned unchanged.
    package static func target(of file: URL) -> URL {
        guard isFile(file) else { return file }
        var target = file
        for _ in 0..<32 {
            guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: target.path) else {
                return target
            }
            // The system resolves `..` in the path, because a folder before it may be a link.
            let folder = target.absoluteURL.deletingLastPathComponent()
            target = path.hasPrefix("/") ? URL(fileURLWithPath: path) : folder.appendingPathComponent(path)
        }
        return file
    }

    /// Removes the file, or the one that a symbolic link names, and the temporary files of processes that were killed
    /// while they wrote it. Does nothing for a URL of another scheme, which was never written.
    ///
    /// - Throws: `POSIXError`.
    package static func remove(_ file: URL) throws(POSIXError) {
        guard isFile(file) else { return }
        let file = target(of: file)
        guard unlink(file.path) == 0 || errno == ENOENT else { throw .last }
        removeLeftovers(of: file)
    }

    /// Removes the temporary files of processes that were killed while they wrote the file, or the one that a symbolic
    /// link names.
    package static func removeLeftovers(of file: URL) {
        let file = target(of: file)
        let prefix = partPrefix(of: file)
        FileLock.removeLeftovers(in: file.deletingLastPathComponent()) { name in
            let id = name.dropFirst(prefix.count).dropLast(5)
            return name.hasPrefix(prefix) && name.hasSuffix(".part") && id.count == 8 && id.allSatisfy(\.isHexDigit)
        }
    }

    /// Returns the start of the names of a file's temporary files.
    private static func partPrefix(of file: URL) -> String {
        // The name becomes fifteen bytes longer, and the limit is 255.
        ".\(String(decoding: file.lastPathComponent.utf8.prefix(224), as: UTF8.self))."
    }

    /// Returns the reason why a file could not be written, for the text of an error.
    package static func cause(of error: any Error) -> String {
        guard let error = error as? POSIXError else { return error.localizedDescription }
        return error.code == .ENOENT ? "its folder does not exist" : String(cString: strerror(error.code.rawValue))
    }

    private static func check(_ file: URL) throws(Refusal) {
        guard isFile(file) else { throw Refusal(errorDescription: "it is not a file URL") }
    }

    /// Returns false for a URL of another scheme, whose path names a file that the app did not mean.
    private static func isFile(_ url: URL) -> Bool { url.isFileURL || url.scheme == nil }

    /// Creates a file with mode 0600. No file of this name may exist.
    ///
    /// - Throws: `POSIXError`, or the error of `FileHandle`. A file that this call created is then removed.
    package static func create(_ file: URL, _ data: Data, isSynchronized: Bool) throws {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError.last }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            var end: Int64 = 0
            try data.withUnsafeBytes { try $0.write(to: descriptor, at: &end) }
            if isSynchronized { try handle.synchronizeDisk() }
            try handle.close()
        } catch {
            unlink(file.path)
            throw error
        }
    }
}

extension FileHandle {
    /// Waits until the written bytes are on the disk. On Apple's systems `fsync` leaves them in the disk's cache, and
    /// `F_FULLFSYNC` empties it
    /// ([page](https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man2/fsync.2.html)).
    /// Some volumes support only `fsync`.
    package func synchronizeDisk() throws {
        #if canImport(Darwin)
        if fcntl(fileDescriptor, F_FULLFSYNC) == 0 { return }
        #endif
        try synchronize()
    }
}

extension POSIXError {
    /// The error of the last system call that failed on this thread.
    package static var last: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}

#if canImport(Glibc)
private var fileSize: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_FSIZE.rawValue) }
#else
private var fileSize: Int32 { RLIMIT_FSIZE }
#endif

extension UnsafeRawBufferPointer {
    /// Writes the bytes to a file at an offset, and advances the offset by the number of written bytes, also before an error.
    ///
    /// - Throws: `POSIXError`: `EFBIG` for a file larger than the process may write. The system would end the process.
    package func write(to descriptor: Int32, at offset: inout Int64) throws(POSIXError) {
        var limit = rlimit()
        let most = getrlimit(fileSize, &limit) == 0 ? Int64(clamping: limit.rlim_cur) : .max
        var rest = self[...]
        while !rest.isEmpty {
            guard offset < most else { throw POSIXError(.EFBIG) }
            let bytes = UnsafeRawBufferPointer(rebasing: rest.prefix(Int(clamping: most - offset)))
            let count = pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .last }
            offset += Int64(count)
            rest = rest.dropFirst(count)
        }
    }
}
