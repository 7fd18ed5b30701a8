import Foundation

/// Reads a file in large pieces with `read(2)`. On Linux, `FileHandle` reads only 4 KiB at a time.
final class FileReader: @unchecked Sendable {  // only one caller reads at a time
    private let descriptor: Int32
    /// The number of bytes left to read. `Int64.max` reads to the end of the file.
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

    /// Returns the next bytes, or nil at the end. Concurrent calls are not allowed.
    func next() throws -> Data? {
        guard rest > 0 else { return nil }
        let size = Int(min(rest, Int64(Self.size)))
        // `Data(count:)` would first fill the memory with zeros.
        guard let memory = malloc(size) else { throw POSIXError(.ENOMEM) }
        var count: Int
        repeat { count = read(descriptor, memory, size) } while count < 0 && errno == EINTR
        guard count > 0 else {
            let failure = Self.failure
            free(memory)
            if count < 0 { throw failure }
            return nil
        }
        rest -= Int64(count)
        guard count > size / 2 else {
            // A copy releases the rest of the chunk.
            defer { free(memory) }
            return Data(bytes: memory, count: count)
        }
        return Data(bytesNoCopy: memory, count: count, deallocator: .free)
    }

    private static var failure: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
