import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardText

/// Stores tokens in a file that only its owner can read. The file has mode 0600 from its creation, and is written
/// atomically.
///
/// A missing folder is created, with mode 0700. Several processes may share the file. A lock file in its folder
/// serializes their changes, and a change waits at most 10 seconds for the lock. Another lock file serializes their
/// refreshes of a partition's token; after 10 seconds a refresh runs without it. The file is not encrypted. On Apple's
/// systems, write a ``TokenStore`` over the keychain; on tvOS, an app can write only to `URL.cachesDirectory`, which
/// the system may empty.
///
/// A file that other users own or can write is rejected, because they could have chosen its tokens. A file that other
/// users can read is rejected too, as `ssh` rejects a private key, unless the superuser owns it. ``removeAll()``
/// removes a rejected file.
public actor FileTokenStore: TokenStore {
    private struct Contents: Codable {
        var version = 1
        /// The token of requests without a partition.
        var token: OAuthToken?
        var partitions: [String: OAuthToken] = [:]

        var isEmpty: Bool { token == nil && partitions.isEmpty }

        subscript(partition: String?) -> OAuthToken? {
            get { partition.map { partitions[$0] } ?? token }
            set { if let partition { partitions[partition] = newValue } else { token = newValue } }
        }
    }

    private let file: URL
    private let clock: any Clock<Duration>
    private let changes = SerialTasks()
    /// The maximum size of the file, in bytes. A file of tokens has a few kilobytes.
    private static let limit = 16 << 20

    /// Creates a store. It reads and writes nothing yet.
    public init(_ file: URL) {
        // While the device sleeps, no other process can release its lock.
        self.init(file, clock: SuspendingClock())
    }

    /// Creates a store with a clock that measures the wait for another process.
    init(_ file: URL, clock: any Clock<Duration>) {
        self.file = PrivateFile.target(of: file)  // the lock lies next to it
        self.clock = clock
    }

    /// Returns the token, or nil when the file does not exist or has none for this partition.
    ///
    /// - Throws: `NetworkError.Code.cannotAuthenticate` for a file with other contents, which stays until
    ///   ``removeAll()``; `NetworkError.Code.unreadableFile` when the file cannot be read, or other users own it, can
    ///   write it or can read it.
    public func load(in partition: String?) throws -> OAuthToken? {
        try read()[partition]
    }

    /// Stores a token in place of the previous one.
    ///
    /// - Throws: `NetworkError.Code.cannotWriteFile`, also when the file cannot be read or another process keeps its
    ///   lock. `NetworkError.Code.cannotAuthenticate` for a file with other contents, which is not changed.
    public func save(_ token: OAuthToken, in partition: String?) async throws {
        try await change {
            $0[partition] = token
            return true
        }
    }

    /// Stores a token in place of one with any of these identities. An empty one represents a missing token. Does
    /// nothing for another token.
    func save(_ token: OAuthToken, in partition: String?, replacing replaced: Set<String>) async throws {
        try await change { contents in
            guard replaced.contains(contents[partition]?.identity ?? "") else { return false }
            contents[partition] = token
            return true
        }
    }

    /// Removes the token, and the file with the last token.
    ///
    /// - Throws: The errors of ``save(_:in:)``.
    public func remove(in partition: String?) async throws {
        try await remove(in: partition) { _ in true }
    }

    /// Removes the token if the closure returns true for it.
    func remove(in partition: String?, where isRemoved: @escaping @Sendable (OAuthToken) -> Bool) async throws {
        guard hasFolder else { return }
        try await change { contents in
            guard let token = contents[partition], isRemoved(token) else { return false }
            contents[partition] = nil
            return true
        }
        PrivateFile.removeLeftovers(of: file)
    }

    /// Runs a refresh while no other process refreshes the token of the partition. Runs it also if another one does so for
    /// more than 10 seconds, and if the folder accepts no lock file.
    ///
    /// - Throws: The error of the refresh, or `CancellationError` while it waits.
    public nonisolated func withRefreshLock<Value: Sendable>(
        in partition: String?, _ refresh: @Sendable () async throws -> Value
    ) async throws -> Value {
        let name = (partition ?? "").stableHash.hexText + "." + file.lastPathComponent
        let result: Result<Value, any Error>
        do {
            result = try await FileLock.withLock(
                for: file.deletingLastPathComponent().appendingPathComponent(name), clock: clock
            ) {
                do { return .success(try await refresh()) } catch { return .failure(error) }
            }
        } catch let error where error is FileLock.Busy || error is POSIXError {
            return try await refresh()
        }
        return try result.get()
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
        let name = file.path.quotedInFull
        let data: Data
        do {
            guard let read = try PrivateFile.read(file, limit: Self.limit) else { return Contents() }
            data = read
        } catch {
            throw NetworkError(
                .unreadableFile, reason: "the token file \(name) cannot be read: \(error.localizedDescription)",
                underlying: error)
        }
        var decoder = FastJSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        guard let contents = try? decoder.decode(Contents.self, from: data), contents.version == 1 else {
            throw NetworkError(
                .cannotAuthenticate, reason: "\(name) is not a token file: remove it, or reset its store")
        }
        return contents
    }

    /// Writes the file if the closure changes its contents, and returns true.
    private func change(_ change: @escaping @Sendable (inout Contents) -> Bool) async throws {
        try makeFolder()
        try await locked { store in
            var contents: Contents
            do {
                contents = try store.read()
            } catch let error as NetworkError where error.code == .unreadableFile {
                throw store.failure("be changed, because it cannot be read", error.underlying ?? error)
            }
            if change(&contents) { try store.write(contents) }
        }
    }

    private func write(_ contents: Contents) throws {
        guard !contents.isEmpty else { return try unlinkFile() }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = .sortedKeys
        do {
            try PrivateFile.write(encoder.encode(contents), to: file, limit: Self.limit)
        } catch {
            throw failure("be written", error)
        }
    }

    /// Runs `body` while no other store changes the file.
    private func locked(_ body: @escaping @Sendable (isolated FileTokenStore) throws -> Void) async throws {
        do {
            try await changes.run { try await self.withFileLock(body) }
        } catch let error as POSIXError {
            throw failure("be locked", error)
        } catch let busy as FileLock.Busy {
            let wait = FileLock.timeout.components.seconds
            throw NetworkError(
                .cannotWriteFile,
                reason:
                    "\(file.path.quotedInFull) cannot be changed: another process held its lock \(busy.path.quotedInFull) for \(wait) s; end that process or try again"
            )
        }
    }

    private func withFileLock(_ body: @Sendable (isolated FileTokenStore) throws -> Void) async throws {
        try await FileLock.withLock(for: file, clock: clock) { try body(self) }
    }

    private func unlinkFile() throws {
        do { try PrivateFile.remove(file) } catch { throw failure("be removed", error) }
    }

    private var folder: URL { file.deletingLastPathComponent() }

    private var hasFolder: Bool { access(folder.path, F_OK) == 0 || errno != ENOENT }

    private func makeFolder() throws {
        if !FileManager.default.fileExists(atPath: folder.path) {
            do {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw NetworkError(
                    .cannotWriteFile,
                    reason: "the folder \(folder.path.quotedInFull) cannot be created: \(error.localizedDescription)",
                    underlying: error)
            }
        }
    }

    private func failure(_ action: String, _ error: any Error) -> NetworkError {
        NetworkError(
            .cannotWriteFile, reason: "\(file.path.quotedInFull) cannot \(action): \(error.localizedDescription)",
            underlying: error)
    }
}
