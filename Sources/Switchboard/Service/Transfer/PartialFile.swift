import SwitchboardPlatform
import Foundation
import SwitchboardText

/// The file that a download is written to beside its destination, until it is whole.
///
/// One that is kept has a name made of the destination's, and a second file, the sidecar, that says what its bytes are
/// of; a later call, of another process too, goes on with it. Any other has a name of its own, and is gone when the
/// download ends. Used by one download at a time, which a lock on the file sees to.
final class PartialFile: @unchecked Sendable {
    /// What the bytes are of.
    struct Origin: Codable, Equatable {
        /// The URL, secrets replaced.
        var url: String
        /// The strong entity tag, or else the date of last change: what `If-Range` takes.
        var validator: String
        /// The bytes of the whole, when they are known.
        var size: Int64?
    }

    let url: URL
    private let destination: URL
    private let sidecar: URL?
    private let descriptor: Int32
    /// The bytes that are there.
    private(set) var count: Int64 = 0
    /// What they are of; nil when that cannot be told, so that nothing can be added to them later.
    private(set) var origin: Origin?
    private var isPlaced = false

    /// - Throws: ``NetworkError/Code/cannotWriteFile``, also when another download has it.
    init(for destination: URL, isKept: Bool) throws(NetworkError) {
        guard destination.isFileURL else {
            throw Self.failure("\(destination.absoluteString.quotedForMessage) is not a file URL")
        }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: destination.path, isDirectory: &isFolder), isFolder.boolValue {
            throw Self.failure("\(destination.path.quotedForMessage) is a folder")
        }
        // A device or a pipe would be replaced by a file.
        var there = stat()
        guard lstat(destination.path, &there) != 0 || [S_IFREG, S_IFLNK].contains(there.st_mode & S_IFMT) else {
            throw Self.failure("\(destination.path.quotedForMessage) is not a regular file")
        }
        self.destination = destination
        let folder = destination.deletingLastPathComponent()
        // A process that is killed leaves it behind: its name says what it was to become.
        let own = ".\(destination.lastPathComponent.prefix(40)).\(UUID().uuidString.prefix(8)).part"
        let name = isKept ? ".\(destination.lastPathComponent).download" : own
        url = folder.appendingPathComponent(name)
        sidecar = isKept ? folder.appendingPathComponent(name + ".json") : nil
        descriptor = try Self.open(url, for: destination)
        guard let sidecar else { return }
        var information = stat()
        fstat(descriptor, &information)
        count = Int64(information.st_size)
        origin = (try? Data(contentsOf: sidecar)).flatMap { try? JSONDecoder().decode(Origin.self, from: $0) }
    }

    deinit {
        if sidecar == nil || count == 0 { discard() }
        close(descriptor)
    }

    private static func open(_ url: URL, for destination: URL) throws(NetworkError) -> Int32 {
        // The file may be moved away by the download that had it between the opening and the lock: then again.
        for _ in 0..<10 {
            let descriptor = Foundation.open(url.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
            guard descriptor >= 0 else {
                throw failure("cannot create a file beside \(destination.path.quotedForMessage)", errno)
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                throw failure("another download to \(destination.path.quotedForMessage) is in progress")
            }
            var opened = stat()
            var named = stat()
            if fstat(descriptor, &opened) == 0, stat(url.path, &named) == 0, opened.st_ino == named.st_ino {
                return descriptor
            }
            close(descriptor)
        }
        throw failure("another download to \(destination.path.quotedForMessage) is in progress")
    }

    /// Forgets what is there.
    func restart() throws(NetworkError) {
        if let sidecar { unlink(sidecar.path) }
        origin = nil
        try cut(to: 0)
    }

    /// Keeps only so many bytes.
    func cut(to size: Int64) throws(NetworkError) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw failure(errno) }
        count = size
    }

    /// Notes what the bytes are of, before the first of them is written: a process may be killed at any time.
    func note(_ origin: Origin?) throws(NetworkError) {
        guard self.origin != origin else { return }
        self.origin = origin
        guard let sidecar else { return }
        guard let origin else {
            unlink(sidecar.path)
            return
        }
        do {
            try PrivateFile.write(JSONEncoder().encode(origin), to: sidecar, isSynchronized: false)
        } catch {
            throw NetworkError(.cannotWriteFile, reason: sidecar.path.quotedForMessage, underlying: error)
        }
    }

    func append(_ data: Data) throws(NetworkError) {
        let result = data.withUnsafeBytes { buffer -> Int32 in
            var rest = buffer[...]
            while !rest.isEmpty {
                let bytes = UnsafeRawBufferPointer(rebasing: rest)
                let written = pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(count))
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return errno }
                count += Int64(written)
                rest = rest.dropFirst(written)
            }
            return 0
        }
        guard result == 0 else { throw failure(result) }
    }

    /// Gives the whole file its name, in one step.
    func place() throws(NetworkError) {
        guard rename(url.path, destination.path) == 0 else { throw failure(errno) }
        isPlaced = true
        if let sidecar { unlink(sidecar.path) }
    }

    /// Removes it, kept or not.
    func discard() {
        guard !isPlaced else { return }
        unlink(url.path)
        if let sidecar { unlink(sidecar.path) }
    }

    private func failure(_ number: Int32) -> NetworkError {
        Self.failure(destination.path.quotedForMessage, number)
    }

    private static func failure(_ reason: String, _ number: Int32? = nil) -> NetworkError {
        guard let number else { return NetworkError(.cannotWriteFile, reason: reason) }
        return NetworkError(.cannotWriteFile, reason: "\(reason): \(String(cString: strerror(number)))")
    }
}
