import Foundation

/// A file that its owner alone can read, from the moment it is made, and that is replaced as a whole or not at all.
package enum PrivateFile {
    /// The content; nil when there is no such file, and for no other reason.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - limit: In bytes. A longer file is an error.
    /// - Returns: The content.
    /// - Throws: `POSIXError`.
    package static func read(_ file: URL, limit: Int) throws -> Data? {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw failure }
            return nil
        }
        defer { close(descriptor) }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Foundation.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else {
                guard errno == EINTR else { throw failure }
                continue
            }
            guard count > 0 else { return data }
            data += buffer[..<count]
            guard data.count <= limit else { throw POSIXError(.EFBIG) }
        }
    }

    /// Writes a file beside it, with mode 0600, and gives that one its name. The folder must exist.
    ///
    /// - Parameters:
    ///   - data: The content.
    ///   - file: The file.
    ///   - isSynchronized: Whether it is on the disk when this returns, so that a loss of power leaves one of the two.
    /// - Throws: `POSIXError`, or what `FileHandle` throws; then the file is as it was.
    package static func write(_ data: Data, to file: URL, isSynchronized: Bool = true) throws {
        // Its name is longer by fifteen bytes, and may have 255.
        let stem = String(decoding: file.lastPathComponent.utf8.prefix(224), as: UTF8.self)
        let name = ".\(stem).\(UUID().uuidString.prefix(8)).part"
        let part = file.deletingLastPathComponent().appendingPathComponent(name)
        let descriptor = open(part.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: data)
            if isSynchronized { try handle.synchronize() }
            try handle.close()
            guard rename(part.path, file.path) == 0 else { throw failure }
        } catch {
            unlink(part.path)
            throw error
        }
    }

    private static var failure: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
