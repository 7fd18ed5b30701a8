import SwitchboardPlatform
import Foundation
import SwitchboardJSON
import SwitchboardText

/// The temporary file of a download, in the folder of its destination.
///
/// A kept file has a name derived from the destination. A second file, the sidecar, records the origin of its bytes. A
/// later call, also of another process, resumes it. A file that is not kept has a unique name. The end of the download
/// removes it, and also a kept file of unknown origin. A lock on the file limits it to one download at a time.
final class PartialFile: @unchecked Sendable {  // only the actor of its download uses it
    struct Origin: Codable, Equatable {
        /// The URL, with secrets replaced.
        var url: String
        /// The value for `If-Range`: the strong entity tag, or else the modification date.
        var validator: String
        /// The size of the complete file in bytes, or nil when it is unknown.
        var size: Int64?

        /// Whether a request can name the origin. A server's entity tag or a damaged sidecar may have any characters.
        var isUsable: Bool {
            !validator.isEmpty && HTTPHeader(name: "If-Range", value: validator).fault == nil && size ?? 0 >= 0
        }
    }

    let url: URL
    private let destination: URL
    private let sidecar: URL?
    private var descriptor: Int32
    private(set) var count: Int64 = 0
    /// The origin of the bytes. Nil when it is unknown, so that nothing can be appended later.
    private(set) var origin: Origin?
    /// Whether a later call can resume the file.
    var isKept: Bool { sidecar != nil }
    /// Whether a kept file no longer has its name, because it ended or an app removed it. Another download may use the
    /// name and the sidecar.
    var hasLostName: Bool { isKept && !FileLock.isNamed(descriptor, url.path) }

    /// Opens and locks the file.
    ///
    /// - Throws: ``NetworkError/Code/cannotWriteFile``, also when another download uses the file.
    init(for destination: URL, isKept: Bool) throws(NetworkError) {
        guard destination.isFileURL else {
            throw Self.failure("\(destination.absoluteString.quotedForMessage) is not a file URL")
        }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: destination.path, isDirectory: &isFolder), isFolder.boolValue {
            throw Self.failure("\(destination.path.quotedInFull) is a folder")
        }
        // The download would replace a device or a pipe with a file.
        var existing = stat()
        let isMissing = lstat(destination.path, &existing) != 0
        if isMissing, errno == ENAMETOOLONG { throw Self.failure(destination.path.quotedInFull, ENAMETOOLONG) }
        guard isMissing || [S_IFREG, S_IFLNK].contains(existing.st_mode & S_IFMT) else {
            throw Self.failure("\(destination.path.quotedInFull) is not a regular file")
        }
        self.destination = destination
        let folder = destination.deletingLastPathComponent()
        // A killed process does not remove this file, so its name contains that of the destination.
        let start = String(destination.lastPathComponent.unicodeScalars.prefix(40))
        let unique = ".\(start).\(UUID.randomText().prefix(8)).part"
        let name = isKept ? ".\(Self.keptName(of: destination.lastPathComponent)).download" : unique
        url = folder.appendingPathComponent(name)
        sidecar = isKept ? folder.appendingPathComponent(name + ".json") : nil
        let descriptor = try Self.open(url, for: destination)
        var saved: Data?
        if let sidecar {
            do {
                saved = try Data(contentsOf: sidecar)
            } catch CocoaError.fileReadNoSuchFile {
                // The file is new, or of another program.
            } catch {
                close(descriptor)
                throw Self.failure(sidecar, error)
            }
        }
        self.descriptor = descriptor
        guard sidecar != nil else { return }
        var information = stat()
        fstat(descriptor, &information)
        count = Int64(information.st_size)
        let origin = saved.flatMap { try? FastJSONDecoder().decode(Origin.self, from: $0) }
        if let origin, origin.isUsable { self.origin = origin }
    }

    deinit { finish() }

    /// Unlocks a file that a later call can resume, and removes any other one. Does nothing the second time.
    func finish() {
        guard descriptor >= 0 else { return }
        if sidecar == nil || origin == nil || count == 0 { discard() }
        close(descriptor)
        descriptor = -1
    }

    /// Returns the name itself, or its start and its hash if the sidecar's name would exceed 255 bytes.
    private static func keptName(of name: String) -> String {
        guard name.utf8.count > 240 else { return name }
        return String(name.unicodeScalars.prefix(40)) + "." + String(name.stableHash, radix: 16)
    }

    private static func open(_ url: URL, for destination: URL) throws(NetworkError) -> Int32 {
        // Another download may rename the file between opening and locking. It is then opened again.
        for _ in 0..<10 {
            do throws(POSIXError) {
                if let descriptor = try FileLock.open(url.path, mode: 0o666) { return descriptor }
            } catch {
                guard error.code != .ENOENT else {
                    throw failure("the folder of \(destination.path.quotedInFull) does not exist")
                }
                throw failure("cannot create a file next to \(destination.path.quotedInFull)", error.code.rawValue)
            }
        }
        throw failure("another download to \(destination.path.quotedInFull) is in progress")
    }

    func restart() throws(NetworkError) {
        try checkName()
        if let sidecar { unlink(sidecar.path) }
        origin = nil
        try cut(to: 0)
        // After a loss of power, the removed bytes must not have the origin that follows.
        try synchronize()
    }

    func cut(to size: Int64) throws(NetworkError) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw failure(errno) }
        count = size
    }

    /// Records the origin of the bytes before the first of them is written, because a process may be killed at any
    /// time.
    func record(_ origin: Origin?) throws(NetworkError) {
        let origin = origin?.isUsable == true ? origin : nil
        guard self.origin != origin else { return }
        try checkName()
        self.origin = origin
        guard let sidecar else { return }
        unlink(sidecar.path)
        guard let origin else { return }
        do {
            try PrivateFile.create(sidecar, JSONEncoder().encode(origin), isSynchronized: false)
        } catch {
            throw Self.failure(sidecar, error)
        }
    }

    func append(_ data: Data) throws(NetworkError) {
        let result = data.withUnsafeBytes { bytes in
            Result { () throws(POSIXError) in try bytes.write(to: descriptor, at: &count) }
        }
        if case .failure(let error) = result { throw failure(error.code.rawValue) }
    }

    /// Renames the complete file to its destination, atomically. After a loss of power, the destination is the old or
    /// the new file.
    func moveToDestination() throws(NetworkError) {
        try synchronize()
        try checkName()
        guard rename(url.path, destination.path) == 0 else { throw failure(errno) }
        if let sidecar { unlink(sidecar.path) }
    }

    /// Throws for a kept file that an app removed.
    func checkName() throws(NetworkError) {
        guard hasLostName else { return }
        throw Self.failure("the temporary file next to \(destination.path.quotedInFull) was removed")
    }

    private func synchronize() throws(NetworkError) {
        do {
            try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).synchronizeDisk()
        } catch {
            throw Self.failure(destination, error)
        }
    }

    /// Removes the file and its sidecar, even if it is a kept file.
    func discard() {
        guard !hasLostName else { return }
        unlink(url.path)
        if let sidecar { unlink(sidecar.path) }
    }

    private func failure(_ number: Int32) -> NetworkError {
        Self.failure(destination.path.quotedInFull, number)
    }

    private static func failure(_ file: URL, _ error: any Error) -> NetworkError {
        NetworkError(
            .cannotWriteFile, reason: "\(file.path.quotedInFull): \(PrivateFile.cause(of: error))", underlying: error)
    }

    private static func failure(_ reason: String, _ number: Int32? = nil) -> NetworkError {
        guard let number else { return NetworkError(.cannotWriteFile, reason: reason) }
        return NetworkError(.cannotWriteFile, reason: "\(reason): \(String(cString: strerror(number)))")
    }
}
