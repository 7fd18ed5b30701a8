import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// Keeps tokens in a file that only its owner can read: mode 0600 from the moment it is made, replaced as a whole.
///
/// A folder that is missing is made, with mode 0700. Several processes may share the file: a change waits for that of
/// another, by a lock file beside it, for 10 seconds at most. It is not encrypted; on Apple's systems write a ``TokenStore`` over the keychain.
public actor FileTokenStore: TokenStore {
    private struct Contents: Codable {
        var version = 1
        /// The token of requests without a partition.
        var token: OAuthToken?
        var partitions: [String: OAuthToken] = [:]

        var isEmpty: Bool { token == nil && partitions.isEmpty }
    }

    private let file: URL
    private let clock: any Clock<Duration>
    /// The last change so far: those of one store are made one after the other, and end though their callers are cancelled.
    private var last: Task<Void, any Error>?
    /// A file of tokens has some kilobytes; what is far beyond is none.
    private static let limit = 16 << 20

    /// Makes a store. Nothing is read or written yet.
    public init(_ file: URL) {
        self.init(file, clock: ContinuousClock())
    }

    /// The clock measures the wait for another process.
    init(_ file: URL, clock: any Clock<Duration>) {
        self.file = file
        self.clock = clock
    }

    /// The token; nil when there is no file, or none of this partition in it.
    ///
    /// - Throws: `NetworkError.Code.cannotAuthenticate` for a file that holds something else, which stays until
    ///   ``removeAll()``; `NetworkError.Code.unreadableFile` when it cannot be read.
    public func load(_ partition: String?) throws -> OAuthToken? {
        let contents = try read()
        guard let partition else { return contents.token }
        return contents.partitions[partition]
    }

    /// Keeps a token in place of the one before.
    ///
    /// - Throws: `NetworkError.Code.cannotWriteFile`, also when the file cannot be read or another process does not let go
    ///   of its lock, and
    ///   `NetworkError.Code.cannotAuthenticate` for a file that holds something else: then nothing is written.
    public func save(_ token: OAuthToken, _ partition: String?) async throws {
        try await change { if let partition { $0.partitions[partition] = token } else { $0.token = token } }
    }

    /// Removes the token, and the file with the last one.
    ///
    /// - Throws: What ``save(_:_:)`` throws.
    public func remove(_ partition: String?) async throws {
        guard hasFolder else { return }
        try await change { if let partition { $0.partitions[partition] = nil } else { $0.token = nil } }
    }

    /// Removes the file.
    ///
    /// - Throws: `NetworkError.Code.cannotWriteFile`.
    public func removeAll() async throws {
        guard hasFolder else { return }
        try await locked { try $0.unlinkFile() }
    }

    // MARK: The file

    private func read() throws -> Contents {
        let name = file.path.quotedForMessage
        let data: Data
        do {
            guard let read = try PrivateFile.read(file, limit: Self.limit) else { return Contents() }
            data = read
        } catch {
            throw NetworkError(
                .unreadableFile, reason: "the token file \(name) cannot be read: \(error.localizedDescription)",
                underlying: error)
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        guard let contents = try? decoder.decode(Contents.self, from: data), contents.version == 1 else {
            throw NetworkError(
                .cannotAuthenticate, reason: "\(name) is not a token file: remove it, or reset its store")
        }
        return contents
    }

    private func change(_ change: @escaping @Sendable (inout Contents) -> Void) async throws {
        try makeFolder()
        try await locked { store in
            var contents: Contents
            do {
                contents = try store.read()
            } catch let error as NetworkError where error.code == .unreadableFile {
                throw store.failure("be changed, because it cannot be read", error.underlying ?? error)
            }
            change(&contents)
            try store.write(contents)
        }
    }

    private func write(_ contents: Contents) throws {
        guard !contents.isEmpty else { return try unlinkFile() }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = .sortedKeys
        do {
            try PrivateFile.write(encoder.encode(contents), to: file)
        } catch {
            throw failure("be written", error)
        }
    }

    /// Runs `body` while nobody else changes the file.
    private func locked(_ body: @escaping @Sendable (isolated FileTokenStore) throws -> Void) async throws {
        let before = last
        let turn = Task {
            _ = await before?.result
            try await FileLock.hold(for: file, clock: clock) { try body(self) }
        }
        last = turn
        do {
            try await turn.value
        } catch let error as POSIXError {
            throw failure("be locked", error)
        } catch let busy as FileLock.Busy {
            let wait = FileLock.patience.components.seconds
            throw NetworkError(
                .cannotWriteFile,
                reason:
                    "\(file.path.quotedForMessage) cannot be changed: another process held its lock \(busy.path.quotedForMessage) for \(wait) s; end that process or try again"
            )
        }
    }

    private func unlinkFile() throws {
        guard unlink(file.path) != 0, errno != ENOENT else { return }
        throw failure("be removed", POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO))
    }

    private var folder: URL { file.deletingLastPathComponent() }

    private var hasFolder: Bool { access(folder.path, F_OK) == 0 || errno != ENOENT }

    /// Makes the folder of the file.
    private func makeFolder() throws {
        if !FileManager.default.fileExists(atPath: folder.path) {
            do {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw NetworkError(
                    .cannotWriteFile, reason: "the folder \(folder.path.quotedForMessage) cannot be made",
                    underlying: error)
            }
        }
    }

    private func failure(_ what: String, _ error: any Error) -> NetworkError {
        NetworkError(
            .cannotWriteFile, reason: "\(file.path.quotedForMessage) cannot \(what): \(error.localizedDescription)",
            underlying: error)
    }
}
