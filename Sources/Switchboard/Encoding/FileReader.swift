import Foundation

/// A file's bytes in large pieces, by `read(2)`: `FileHandle` reads 4 KiB at a time on Linux.
final class FileReader: Sendable {
    private let descriptor: Int32
    private static let size = 256 << 10

    init(_ url: URL) throws {
        descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure }
    }

    deinit {
        close(descriptor)
    }

    /// The next bytes; nil at the end. Not to be called twice at once.
    func next() throws -> Data? {
        var data = Data(count: Self.size)
        let count = data.withUnsafeMutableBytes { buffer in
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                if count >= 0 || errno != EINTR { return count }
            }
        }
        guard count >= 0 else { throw Self.failure }
        return count == 0 ? nil : data.prefix(count)
    }

    private static var failure: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
