import Foundation

/// A file's bytes in large pieces, by `read(2)`: `FileHandle` reads 4 KiB at a time on Linux.
final class FileReader: @unchecked Sendable {  // read by one at a time
    private let descriptor: Int32
    /// How many bytes are still to be read; all there are at `Int64.max`.
    private var rest = Int64.max
    private static let size = 256 << 10

    init(_ url: URL, range: Range<Int64>? = nil) throws {
        descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure }
        guard let range else { return }
        guard lseek(descriptor, off_t(range.lowerBound), SEEK_SET) >= 0 else { throw Self.failure }
        rest = Int64(range.count)
    }

    deinit {
        close(descriptor)
    }

    /// The next bytes; nil at the end. Not to be called twice at once.
    func next() throws -> Data? {
        guard rest > 0 else { return nil }
        var data = Data(count: Int(min(rest, Int64(Self.size))))
        let count = data.withUnsafeMutableBytes { buffer in
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                if count >= 0 || errno != EINTR { return count }
            }
        }
        guard count >= 0 else { throw Self.failure }
        rest -= Int64(count)
        return count == 0 ? nil : data.prefix(count)
    }

    private static var failure: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
