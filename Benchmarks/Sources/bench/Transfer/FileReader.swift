import Foundation

/// Reads a file in chunks with `read(2)`. `FileHandle` reads 4 KiB at a time on Linux, which would dominate the
/// measurement.
final class FileReader: Sendable {
    private let descriptor: Int32
    private let chunk = 256 << 10

    init(_ file: URL) throws {
        descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CocoaError(.fileReadNoSuchFile) }
    }

    deinit { close(descriptor) }

    /// Reads the next bytes. Returns nil at the end.
    func next() throws -> Data? {
        guard let memory = malloc(chunk) else { throw CocoaError(.fileReadTooLarge) }
        let count = read(descriptor, memory, chunk)
        guard count > 0 else {
            free(memory)
            guard count == 0 else { throw CocoaError(.fileReadUnknown) }
            return nil
        }
        return Data(bytesNoCopy: memory, count: count, deallocator: .free)
    }
}
