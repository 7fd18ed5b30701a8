import Foundation

/// An unnamed temporary file for bytes that are read in their order. Space that was read is used again, so that the file of
/// a slow reader does not grow without end. Not thread-safe.
package final class SpillFile: @unchecked Sendable {  // protected by the lock of its pipe
    /// The reason why the file cannot store bytes.
    package enum Failure: Error {
        /// The unread bytes reached the limit.
        case full(unread: Int64, limit: Int64)
        case system(POSIXError)
    }

    private let descriptor: Int32
    private let limit: Int64
    /// The ranges of the unread bytes in the file, in the order of reading.
    private var extents: [Range<Int64>] = []

    init(limit: Int64) throws(Failure) {
        self.limit = limit
        let path: String
        do throws(POSIXError) { (path, descriptor) = try TemporaryFile.create() } catch { throw .system(error) }
        unlink(path)
    }

    deinit {
        close(descriptor)
    }

    var isEmpty: Bool { extents.isEmpty }

    func append(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        let (unread, count) = (extents.reduce(0) { $0 + $1.upperBound - $1.lowerBound }, Int64(bytes.count))
        guard unread + count <= limit else { throw .full(unread: unread, limit: limit) }
        let start = offset(for: count, minimumGap: max(unread, count))
        var end = start
        do throws(POSIXError) { try bytes.write(to: descriptor, at: &end) } catch { throw .system(error) }
        if let last = extents.last, last.upperBound == start {
            extents[extents.count - 1] = last.lowerBound..<end
        } else if start < end {
            extents.append(start..<end)
        }
    }

    /// Returns the offset for the next bytes: the start of the file once `minimumGap` of it was read, or else the end of
    /// the last bytes if the next ones fit there, or else the end of the file.
    private func offset(for count: Int64, minimumGap: Int64) -> Int64 {
        guard let last = extents.last, let first = extents.map(\.lowerBound).min() else { return 0 }
        if first >= max(minimumGap, 1 << 20) { return 0 }
        let next = extents.map(\.lowerBound).filter { $0 >= last.upperBound }.min() ?? .max
        return count <= next - last.upperBound ? last.upperBound : size
    }

    /// The end of the last unread bytes in the file.
    private var size: Int64 { extents.map(\.upperBound).max() ?? 0 }

    /// Reads the oldest bytes, at most `maximum`.
    func read(_ maximum: Int) throws(Failure) -> Data {
        guard let first = extents.first else { return Data() }
        var data = Data(count: Int(min(first.upperBound - first.lowerBound, Int64(maximum))))
        let count = data.withUnsafeMutableBytes { buffer in
            while true {
                let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(first.lowerBound))
                if count >= 0 || errno != EINTR { return count }
            }
        }
        guard count > 0 else { throw .system(.last) }
        extents[0] = first.lowerBound + Int64(count)..<first.upperBound
        if extents[0].isEmpty {
            extents.removeFirst()
            ftruncate(descriptor, off_t(size))
        }
        return data.prefix(count)
    }
}
