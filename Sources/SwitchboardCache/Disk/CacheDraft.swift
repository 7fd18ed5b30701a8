import Foundation
import Switchboard
import SwitchboardPlatform

/// The temporary file of a response that is being stored. It is removed unless it is committed.
///
/// One task at a time uses it.
final class CacheDraft: @unchecked Sendable {
    private let folder: CacheFolder
    private let path: String
    private let descriptor: Int32
    private var head: [UInt8]
    /// The largest size of the file.
    private let limit: Int
    /// The bytes that are not written yet.
    private var pending: [UInt8] = []
    /// The start in `pending` of the incomplete block.
    private var blockStart = 0
    private var sums: [UInt64] = []
    private var written: Int64 = 0
    private(set) var bodyCount = 0
    private var isCommitted = false

    /// Creates the file of a response with this head.
    init(_ head: [UInt8], in folder: CacheFolder, limit: Int) throws {
        self.head = head
        self.limit = limit
        self.folder = folder
        path = folder.temporaryPath()
        var descriptor = Self.create(path, in: folder)
        if descriptor < 0, errno == ENOENT {
            // The system may delete the whole cache folder.
            try folder.make()
            descriptor = Self.create(path, in: folder)
        }
        guard descriptor >= 0 else { throw POSIXError.last }
        self.descriptor = descriptor
    }

    deinit {
        if !isCommitted { _ = folder.change { unlink(path) } }
        close(descriptor)
    }

    private static func create(_ path: String, in folder: CacheFolder) -> Int32 {
        folder.change { open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600) }
    }

    /// Prevents other caches from removing the file while the body arrives. A body in memory needs no lock: it is
    /// written before they would remove the file, and a file that was ever locked is slower to read.
    func lock() { flock(descriptor, LOCK_EX | LOCK_NB) }

    var size: Int { CacheHead.Lengths(head: head.count, body: bodyCount).size }

    /// The bytes by which the file may still grow.
    var room: Int { limit - size }

    /// The inode of the file.
    var inode: UInt64 {
        var information = stat()
        return fstat(descriptor, &information) == 0 ? information.inode : 0
    }

    /// Appends bytes of the body.
    ///
    /// - Throws: `POSIXError`: `EFBIG` when the file becomes larger than its limit.
    func append(_ data: Data) throws {
        let lengths = CacheHead.Lengths(head: head.count, body: bodyCount + data.count)
        guard lengths.size <= limit else { throw POSIXError(.EFBIG) }
        try data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = rest.prefix(CacheFile.blockSize - (pending.count - blockStart))
                pending.append(contentsOf: part)
                rest = rest.dropFirst(part.count)
                guard pending.count - blockStart == CacheFile.blockSize else { continue }
                endBlock()
                if pending.count >= 4 * CacheFile.blockSize { try flush() }
            }
        }
        bodyCount += data.count
    }

    func append(bodyOf response: StoredResponse) throws {
        guard let file = response.file else { return try append(response.body) }
        for start in stride(from: 0, to: file.bodyCount, by: 4 * CacheFile.blockSize) {
            try append(try file.checked(start..<min(start + 4 * CacheFile.blockSize, file.bodyCount)))
        }
    }

    private func endBlock() {
        sums.append(
            pending.withUnsafeBytes { CacheChecksum.of(UnsafeRawBufferPointer(rebasing: $0[blockStart...])) }
                .littleEndian)
        blockStart = pending.count
    }

    /// Writes the rest of the file: padding, checksums, head and trailer.
    ///
    /// - Parameter numbers: The position of the bytes. These numbers replace the last numbers of the head.
    /// - Throws: `POSIXError`.
    func finish(_ numbers: [Int]? = nil) throws {
        for (index, number) in (numbers ?? []).reversed().enumerated() {
            let offset = head.count - (index + 1) * 8
            withUnsafeBytes(of: UInt64(truncatingIfNeeded: number).littleEndian) {
                head.replaceSubrange(offset..<(offset + 8), with: $0)
            }
        }
        pending.append(contentsOf: repeatElement(0, count: CacheFile.padded(bodyCount) - bodyCount))
        if blockStart < pending.count { endBlock() }
        sums.withUnsafeBytes { pending.append(contentsOf: $0) }
        pending += CacheHead.end(head, bodyCount: bodyCount)
        try flush()
    }

    /// Gives the file its name, in place of another file of this name.
    func commit(to path: String) throws {
        isCommitted = folder.change { rename(self.path, path) == 0 }
        guard isCommitted else { throw POSIXError.last }
    }

    private func flush() throws {
        try pending.withUnsafeBytes { try $0.write(to: descriptor, at: &written) }
        pending.removeAll(keepingCapacity: true)
        blockStart = 0
    }
}
