import Foundation

/// An unnamed temporary file, appended at its end and read from its start. Not thread-safe.
package final class SpillFile: @unchecked Sendable {  // protected by the lock of its pipe
    /// The reason why the file cannot store bytes.
    package enum Failure: Error {
        /// The unread bytes reached the limit.
        case full(unread: Int64, limit: Int64)
        case system(POSIXError)
    }

    private let descriptor: Int32
    private let limit: Int64
    private var start: Int64 = 0
    private var end: Int64 = 0

    init(limit: Int64) throws(Failure) {
        self.limit = limit
        let folder = FileManager.default.temporaryDirectory
        var name = Array(folder.appendingPathComponent("switchboard-XXXXXX").path.utf8CString)
        descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw .system(.last) }
        unlink(name)
        // A child process must not inherit the file.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit {
        close(descriptor)
    }

    var isEmpty: Bool { start == end }

    func append(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        let unread = end - start
        guard unread + Int64(bytes.count) <= limit else { throw .full(unread: unread, limit: limit) }
        do throws(POSIXError) { try bytes.write(to: descriptor, at: &end) } catch { throw .system(error) }
    }

    /// Reads the oldest bytes, at most `maximum`.
    func read(_ maximum: Int) throws(Failure) -> Data {
        var data = Data(count: Int(min(end - start, Int64(maximum))))
        let count = data.withUnsafeMutableBytes { buffer in
            while true {
                let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(start))
                if count >= 0 || errno != EINTR { return count }
            }
        }
        guard count > 0 else { throw .system(.last) }
        start += Int64(count)
        if isEmpty {
            (start, end) = (0, 0)
            ftruncate(descriptor, 0)
        }
        return data.prefix(count)
    }
}
