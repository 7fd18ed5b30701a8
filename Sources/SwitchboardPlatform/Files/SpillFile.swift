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
        if start >= max(unread, 1 << 20) { try moveToStart() }
        try write(bytes, at: &end)
    }

    /// Reads the oldest bytes, at most `maximum`.
    func read(_ maximum: Int) throws(Failure) -> Data {
        let data = try read(maximum, at: start)
        start += Int64(data.count)
        if isEmpty {
            (start, end) = (0, 0)
            ftruncate(descriptor, 0)
        }
        return data
    }

    /// Moves the unread bytes over the first ones, which were read. The file of a reader that stays behind is never empty, and
    /// would grow without end.
    private func moveToStart() throws(Failure) {
        var (source, target) = (start, Int64(0))
        while source < end {
            let data = try read(64 << 10, at: source)
            source += Int64(data.count)
            try data.withUnsafeBytes { bytes in
                Result { () throws(Failure) in try write(bytes, at: &target) }
            }.get()
        }
        (start, end) = (0, target)
        ftruncate(descriptor, off_t(end))
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: inout Int64) throws(Failure) {
        do throws(POSIXError) { try bytes.write(to: descriptor, at: &offset) } catch { throw .system(error) }
    }

    private func read(_ maximum: Int, at offset: Int64) throws(Failure) -> Data {
        var data = Data(count: Int(min(end - offset, Int64(maximum))))
        let count = data.withUnsafeMutableBytes { buffer in
            while true {
                let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
                if count >= 0 || errno != EINTR { return count }
            }
        }
        guard count > 0 else { throw .system(.last) }
        return data.prefix(count)
    }
}
