import SwitchboardPlatform
import Foundation
import Switchboard

/// An open file of a stored response, whose body is read in blocks. The file stays readable after its removal.
final class CacheFile: Sendable {
    /// The number of bytes that have one checksum.
    static let blockSize = 64 << 10
    /// The largest body that is read when the response is found.
    static let wholeLimit = 1 << 20

    /// The result of reading a stored response.
    enum Content {
        case missing
        /// The file may be readable later: too many files may be open.
        case unreadable
        case damaged(DamagedFile)
        /// The body is in the file if it is larger than ``wholeLimit``.
        case found(CacheHead.Found)
    }

    private let path: String
    private let descriptor: Int32
    let bodyCount: Int

    private init(_ path: String, _ descriptor: Int32, _ bodyCount: Int) {
        (self.path, self.descriptor, self.bodyCount) = (path, descriptor, bodyCount)
    }

    deinit { close(descriptor) }

    // MARK: Offsets

    static func blockCount(_ count: Int) -> Int { (count + blockSize - 1) / blockSize }

    /// Returns the size of a body with its padding.
    static func padded(_ count: Int) -> Int { (count + 7) / 8 * 8 }

    /// Returns the offset of the head after a body of this size.
    static func headStart(_ bodyCount: Int) -> Int { padded(bodyCount) + blockCount(bodyCount) * 8 }

    // MARK: Opening

    /// Opens a file and reads the response. A small response takes four system calls. `url` is the probable URL of the
    /// response. If the URL is right, its text allocates no memory.
    static func read(_ path: String, expecting url: String? = nil) -> Content {
        let descriptor = open(path)
        guard descriptor >= 0 else { return openFailure(path) }
        guard isTrusted(descriptor) else { return closeUnreadable(path, descriptor) }
        // The memory is shortened to the body.
        guard let room = malloc(firstRead) else {
            close(descriptor)
            return .unreadable
        }
        var count: Int
        repeat { count = pread(descriptor, room, firstRead, 0) } while count < 0 && errno == EINTR
        guard count < firstRead else {
            free(room)
            return readLarge(path, descriptor)
        }
        let bytes = UnsafeRawBufferPointer(start: room, count: max(0, count))
        let lengths = CacheHead.lengths(bytes).flatMap { $0.size == bytes.count ? $0 : nil }
        guard let lengths, isSound(bytes, lengths.body),
            let found = CacheHead.read(
                UnsafeRawBufferPointer(rebasing: bytes[lengths.headStart...]), expecting: url,
                body: {
                    let body = realloc(room, max(1, lengths.body)) ?? room
                    return Data(bytesNoCopy: body, count: lengths.body, deallocator: .free)
                })
        else {
            free(room)
            return closeUnreadable(path, descriptor, count)
        }
        close(descriptor)
        return .found(found)
    }

    /// Reads a response without its body.
    static func readHead(_ path: String) -> Content {
        let descriptor = open(path)
        guard descriptor >= 0 else { return openFailure(path) }
        guard isTrusted(descriptor) else { return closeUnreadable(path, descriptor) }
        guard let found = head(descriptor)?.withUnsafeBytes({ CacheHead.read($0) }) else {
            return closeUnreadable(path, descriptor)
        }
        close(descriptor)
        return .found(found)
    }

    private static func readLarge(_ path: String, _ descriptor: Int32) -> Content {
        guard let head = head(descriptor), let lengths = head.withUnsafeBytes(CacheHead.lengths) else {
            return closeUnreadable(path, descriptor)
        }
        let file = CacheFile(path, descriptor, lengths.body)
        let isWhole = lengths.body <= wholeLimit
        guard let data = isWhole ? file.read(0..<lengths.body) : Data(),
            let found = head.withUnsafeBytes({ CacheHead.read($0, isWhole ? nil : file) { data } })
        else { return .damaged(file.damaged) }
        return .found(found)
    }

    private static func open(_ path: String) -> Int32 {
        // Without the closure, Swift copies the path into an array.
        path.withCString { Foundation.open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
    }

    /// Returns whether the user of this process owns a file. Others may have created it before the folder became
    /// private.
    private static func isTrusted(_ descriptor: Int32) -> Bool {
        var information = stat()
        return fstat(descriptor, &information) == 0 && information.isOfTrustedUser(user)
    }

    private static let user = geteuid()

    /// Returns the reason why a file could not be opened.
    private static func openFailure(_ path: String) -> Content {
        if errno == ENOENT { return .missing }
        guard errno == ELOOP else { return .unreadable }
        var link = stat()
        return .damaged(DamagedFile(path: path, inode: lstat(path, &link) == 0 ? link.inode : nil))
    }

    /// The bytes that the first read of a file requests. A smaller file is read at once.
    private static let firstRead = 96 << 10

    /// Closes a file that could not be read as a response, and returns the reason. An interrupted read is not damage.
    private static func closeUnreadable(_ path: String, _ descriptor: Int32, _ count: Int? = nil) -> Content {
        defer { close(descriptor) }
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { return .unreadable }
        let isInterrupted =
            count.map { information.st_mode & S_IFMT == S_IFREG && $0 != information.st_size } ?? false
        return isInterrupted ? .unreadable : .damaged(DamagedFile(path: path, inode: information.inode))
    }

    /// Reads the head and the trailer from the end of a file. Nil for a file whose size differs from the stated size.
    private static func head(_ descriptor: Int32) -> [UInt8]? {
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
            let size = Int(exactly: information.st_size)
        else { return nil }
        var count = min(size, 4_096)
        while true {
            var bytes = [UInt8](repeating: 0, count: count)
            guard bytes.withUnsafeMutableBytes({ fill($0, from: descriptor, at: size - count) }),
                let lengths = bytes.withUnsafeBytes(CacheHead.lengths), size == lengths.size
            else { return nil }
            let wanted = lengths.head + CacheHead.trailerSize
            guard wanted > count else { return Array(bytes.suffix(wanted)) }
            count = wanted
        }
    }

    // MARK: Reading a body

    /// Reads bytes of the body. Nil when a checksum differs.
    func read(_ range: Range<Int>) -> Data? {
        guard range.lowerBound >= 0, range.upperBound <= bodyCount else { return nil }
        guard !range.isEmpty else { return Data() }
        // Each checksum covers a complete block.
        let first = range.lowerBound / Self.blockSize
        let last = (range.upperBound - 1) / Self.blockSize
        let start = first * Self.blockSize
        let end = min((last + 1) * Self.blockSize, Self.padded(bodyCount))
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: end - start, alignment: 16)
        var sums = [UInt64](repeating: 0, count: last - first + 1)
        let isSound = sums.withUnsafeMutableBytes { sums in
            Self.fill(room, from: descriptor, at: start)
                && Self.fill(sums, from: descriptor, at: Self.padded(bodyCount) + first * 8)
                && Self.isSound(UnsafeRawBufferPointer(room), UnsafeRawBufferPointer(sums))
        }
        guard isSound, let base = room.baseAddress else {
            room.deallocate()
            return nil
        }
        if range.lowerBound > start { memmove(base, base + (range.lowerBound - start), range.count) }
        return Data(bytesNoCopy: base, count: range.count, deallocator: .custom { base, _ in base.deallocate() })
    }

    private var damaged: DamagedFile {
        var information = stat()
        return DamagedFile(path: path, inode: fstat(descriptor, &information) == 0 ? information.inode : nil)
    }

    /// Reads bytes of the body. Removes a damaged file.
    func checked(_ range: Range<Int>) throws(NetworkError) -> Data {
        if let bytes = read(range) { return bytes }
        damaged.remove()
        throw NetworkError(.truncatedBody, reason: "the stored response is damaged")
    }

    /// Returns bytes of the body in chunks. A damaged block throws, and its bytes are not delivered.
    func bytes(_ range: Range<Int>, for request: NetworkRequest?) -> ResponseBytes {
        ResponseBytes(FileBytes(self, range, request))
    }

    /// Returns whether the checksums of a whole file match its body.
    private static func isSound(_ file: UnsafeRawBufferPointer, _ bodyCount: Int) -> Bool {
        let end = padded(bodyCount)
        return isSound(
            UnsafeRawBufferPointer(rebasing: file[..<end]),
            UnsafeRawBufferPointer(rebasing: file[end..<headStart(bodyCount)]))
    }

    /// Returns whether bytes have these checksums, one for each block.
    private static func isSound(_ body: UnsafeRawBufferPointer, _ sums: UnsafeRawBufferPointer) -> Bool {
        for index in 0..<blockCount(body.count) {
            let bytes = body[(index * blockSize)..<min((index + 1) * blockSize, body.count)]
            let sum = UInt64(littleEndian: sums.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
            guard CacheChecksum.of(UnsafeRawBufferPointer(rebasing: bytes)) == sum else { return false }
        }
        return true
    }

    /// Fills memory from an offset in a file. Returns false when the file ends before, or on failure.
    private static func fill(_ room: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int) -> Bool {
        var count = 0
        while count < room.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: room[count...])
            let read = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + count))
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { return false }
            count += read
        }
        return true
    }
}

/// Reads the body of a file at its reader's pace.
private final class FileBytes: ResponseBytes.Source {
    private static let chunk = 4 * CacheFile.blockSize
    private let file: CacheFile
    private let first: Int
    let request: NetworkRequest?
    private let rest: Protected<Range<Int>>

    init(_ file: CacheFile, _ range: Range<Int>, _ request: NetworkRequest?) {
        (self.file, first) = (file, range.lowerBound)
        rest = Protected(range)
        self.request = request
    }

    var storedCount: Int64 { Int64(rest.withLock { $0.lowerBound } - first) }

    func next() async throws -> Data? {
        try Task.checkCancellation()
        let range = rest.withLock { rest in
            // Ends with a block, so that no block is read twice.
            let end = min((rest.lowerBound / Self.chunk + 1) * Self.chunk, rest.upperBound)
            defer { rest = end..<rest.upperBound }
            return rest.lowerBound..<end
        }
        return range.isEmpty ? nil : try file.checked(range)
    }
}

/// The damaged file of a stored response. Another process may replace it.
struct DamagedFile {
    let path: String
    /// The inode of the file. A replacement has another one.
    let inode: UInt64?

    /// Removes the file, unless another one replaced it.
    func remove() {
        var information = stat()
        guard lstat(path, &information) == 0, information.inode == inode else { return }
        unlink(path)
    }
}

extension stat {
    var inode: UInt64 { UInt64(st_ino) }
}
