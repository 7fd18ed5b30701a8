import SwitchboardPlatform
import Foundation
import Switchboard

/// An open file of a stored response, whose body is read in pieces. It stays readable after its removal.
final class CacheFile: Sendable {
    /// The bytes of a body that have one checksum.
    static let piece = 64 << 10
    /// The largest body that is read whole when the response is found.
    static let wholeLimit = 1 << 20

    enum Damage: Error { case damaged }

    /// The result of reading a stored response.
    enum Content {
        case missing
        /// The file may be readable later: too many files may be open.
        case unreadable
        case damaged
        case head(CacheHead)
        case whole(CacheHead, Data)
        /// The body is larger than ``wholeLimit``.
        case open(CacheHead, CacheFile)
    }

    private let path: String
    private let descriptor: Int32
    private let bodyStart: Int
    let bodyCount: Int

    private init(_ path: String, _ descriptor: Int32, bodyStart: Int, bodyCount: Int) {
        self.path = path
        self.descriptor = descriptor
        self.bodyStart = bodyStart
        self.bodyCount = bodyCount
    }

    deinit {
        close(descriptor)
    }

    static func pieces(_ count: Int) -> Int { (count + piece - 1) / piece }

    /// Opens a file and reads the response: four system calls for a small one.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - isHeadOnly: Whether the body is not read, and the response does not count as used.
    /// - Returns: The content, or why there is none.
    static func read(_ path: String, isHeadOnly: Bool = false) -> Content {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT ? .missing : errno == ELOOP ? .damaged : .unreadable }
        var isKept = false
        defer { if !isKept { close(descriptor) } }
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { return .unreadable }
        guard information.st_mode & S_IFMT == S_IFREG else { return .damaged }
        let size = Int(information.st_size)
        let room = UnsafeMutableRawBufferPointer.allocate(
            byteCount: min(size, isHeadOnly ? 4_096 : start), alignment: 8)
        defer { room.deallocate() }
        guard let count = fill(room, from: descriptor, at: nil) else { return .unreadable }
        guard let (headCount, bodyCount) = CacheHead.lengths(UnsafeRawBufferPointer(room)), count == room.count,
            let head = head(UnsafeRawBufferPointer(room), CacheHead.prologue + headCount, descriptor)
        else { return .damaged }
        let bodyStart = CacheHead.prologue + headCount
        guard size == bodyStart + bodyCount + pieces(bodyCount) * 8 else { return .damaged }
        if isHeadOnly { return .head(head) }
        // The file's time of change is the time of its last use, exact to a minute.
        if information.changed < CacheTime.now - CacheTime.lag { futimens(descriptor, nil) }
        if count == size {
            let body = UnsafeRawBufferPointer(rebasing: room[bodyStart..<(bodyStart + bodyCount)])
            let sums = UnsafeRawBufferPointer(rebasing: room[(bodyStart + bodyCount)...])
            return isSound(body, sums) ? .whole(head, Data(body)) : .damaged
        }
        isKept = true
        let file = CacheFile(path, descriptor, bodyStart: bodyStart, bodyCount: bodyCount)
        guard bodyCount <= wholeLimit else { return .open(head, file) }
        return (try? file.read(0..<bodyCount)).map { .whole(head, $0) } ?? .damaged
    }

    /// The bytes of a file that are read at once.
    private static let start = 96 << 10

    private static func head(_ start: UnsafeRawBufferPointer, _ bodyStart: Int, _ descriptor: Int32) -> CacheHead? {
        if bodyStart <= start.count { return CacheHead(UnsafeRawBufferPointer(rebasing: start[..<bodyStart])) }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: bodyStart, alignment: 8)
        defer { room.deallocate() }
        guard fill(room, from: descriptor, at: 0) == bodyStart else { return nil }
        return CacheHead(UnsafeRawBufferPointer(room))
    }

    /// Reads bytes of the body. Throws ``Damage`` when they are not those that were written.
    func read(_ range: Range<Int>) throws(Damage) -> Data {
        guard range.lowerBound >= 0, range.upperBound <= bodyCount else { throw .damaged }
        guard !range.isEmpty else { return Data() }
        // Checks whole pieces.
        let first = range.lowerBound / Self.piece
        let last = (range.upperBound - 1) / Self.piece
        let start = first * Self.piece
        let end = min((last + 1) * Self.piece, bodyCount)
        var data = Data(count: end - start)
        var sums = [UInt64](repeating: 0, count: last - first + 1)
        let sumsStart = bodyStart + bodyCount + first * 8
        let isSound = data.withUnsafeMutableBytes { body in
            sums.withUnsafeMutableBytes { sums in
                Self.fill(body, from: descriptor, at: bodyStart + start) == body.count
                    && Self.fill(sums, from: descriptor, at: sumsStart) == sums.count
                    && Self.isSound(UnsafeRawBufferPointer(body), UnsafeRawBufferPointer(sums))
            }
        }
        guard isSound else { throw .damaged }
        return data.count == range.count ? data : data[(range.lowerBound - start)..<(range.upperBound - start)]
    }

    /// Removes the file because it is damaged.
    func discard() { unlink(path) }

    /// Returns bytes of the body in chunks. A damaged piece throws, and its bytes are not delivered.
    func bytes(_ range: Range<Int>, for request: NetworkRequest?) -> ResponseBytes {
        ResponseBytes(FileBytes(self, range, request))
    }

    private static func isSound(_ body: UnsafeRawBufferPointer, _ sums: UnsafeRawBufferPointer) -> Bool {
        for index in 0..<pieces(body.count) {
            let bytes = body[(index * piece)..<min((index + 1) * piece, body.count)]
            let sum = UInt64(littleEndian: sums.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
            guard CacheChecksum.of(UnsafeRawBufferPointer(rebasing: bytes)) == sum else { return false }
        }
        return true
    }

    /// Reads until the memory is full or the file ends. Returns the number of bytes, or nil on failure.
    private static func fill(_ room: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int?) -> Int? {
        var count = 0
        while count < room.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: room[count...])
            let read =
                offset.map { pread(descriptor, rest.baseAddress, rest.count, off_t($0 + count)) }
                ?? Foundation.read(descriptor, rest.baseAddress, rest.count)
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { return nil }
            count += read
            // A file is read whole unless a signal interrupts.
            if read == 0 || offset == nil { break }
        }
        return count
    }
}

/// Reads the body of a file at its reader's pace.
private final class FileBytes: ResponseBytes.Source {
    private static let chunk = 4 * CacheFile.piece
    private let file: CacheFile
    let request: NetworkRequest?
    private let rest: Protected<Range<Int>>

    init(_ file: CacheFile, _ range: Range<Int>, _ request: NetworkRequest?) {
        self.file = file
        rest = Protected(range)
        self.request = request
    }

    func next() async throws -> Data? {
        try Task.checkCancellation()
        let range = rest.withLock { rest in
            // Ends with a piece, so that no piece is read twice.
            let end = min((rest.lowerBound / Self.chunk + 1) * Self.chunk, rest.upperBound)
            defer { rest = end..<rest.upperBound }
            return rest.lowerBound..<end
        }
        guard !range.isEmpty else { return nil }
        do {
            return try file.read(range)
        } catch {
            file.discard()
            throw NetworkError(.truncatedBody, reason: "the stored response is damaged")
        }
    }
}
