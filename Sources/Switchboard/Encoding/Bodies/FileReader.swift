import SwitchboardPlatform
import Foundation

/// Reads a file in large pieces with `read(2)`. On Linux, `FileHandle` reads only 4 KiB at a time.
final class FileReader: @unchecked Sendable {  // only one caller reads at a time
    private let descriptor: Int32
    /// The size of the file when it was opened. Nil for a range.
    private var fileSize: Int64?
    private var rest: Int64 = 0
    private static let chunkSize = 256 << 10

    init(_ url: URL, range: Range<Int64>?) throws {
        descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError.last }
        if let range {
            guard lseek(descriptor, off_t(range.lowerBound), SEEK_SET) >= 0 else { throw POSIXError.last }
            rest = range.upperBound - range.lowerBound
        } else {
            rest = try size
            fileSize = rest
        }
    }

    deinit {
        close(descriptor)
    }

    /// Returns the next bytes, or nil at the end. Concurrent calls are not allowed.
    func next() throws -> Data? {
        guard rest > 0 else {
            if let fileSize, try size != fileSize { throw Self.changed }
            return nil
        }
        let size = Int(min(rest, Int64(Self.chunkSize)))
        // `Data(count:)` would first fill the memory with zeros.
        guard let memory = malloc(size) else { throw POSIXError(.ENOMEM) }
        var count: Int
        repeat { count = read(descriptor, memory, size) } while count < 0 && errno == EINTR
        guard count > 0 else {
            let failure = POSIXError.last
            free(memory)
            throw count < 0 ? failure : Self.changed
        }
        rest -= Int64(count)
        guard count > size / 2 else {
            // A copy releases the rest of the chunk.
            defer { free(memory) }
            return Data(bytes: memory, count: count)
        }
        return Data(bytesNoCopy: memory, count: count, deallocator: .free)
    }

    private var size: Int64 {
        get throws {
            var information = stat()
            guard fstat(descriptor, &information) == 0 else { throw POSIXError.last }
            return Int64(information.st_size)
        }
    }

    private static var changed: NetworkError {
        NetworkError(.unreadableFile, reason: "its size changed while it was read")
    }
}
