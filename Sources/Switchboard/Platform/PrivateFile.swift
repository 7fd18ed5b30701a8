import Foundation

/// A file that its owner alone can read, from the moment it is made, and that is replaced as a whole or not at all.
enum PrivateFile {
    /// Writes a file beside it, with mode 0600, and gives that one its name. The folder must exist.
    ///
    /// - Parameters:
    ///   - data: The content.
    ///   - file: The file.
    ///   - isSynchronized: Whether it is on the disk when this returns, so that a loss of power leaves one of the two.
    /// - Throws: `POSIXError`, or what `FileHandle` throws; then the file is as it was.
    static func write(_ data: Data, to file: URL, isSynchronized: Bool = true) throws {
        let name = ".\(file.lastPathComponent).\(UUID().uuidString.prefix(8)).part"
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
