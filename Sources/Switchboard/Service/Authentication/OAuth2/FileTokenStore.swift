import Foundation

/// Keeps tokens in a file that only its owner can read: mode 0600 from the moment it is made, replaced as a whole.
///
/// A folder that is missing is made, with mode 0700. The file is for one process at a time: of two that save at once, one
/// wins. It is not encrypted; on Apple's systems write a ``TokenStore`` over the keychain.
public actor FileTokenStore: TokenStore {
    private struct Contents: Codable {
        var version = 1
        /// The token of requests without a partition.
        var token: OAuthToken?
        var partitions: [String: OAuthToken] = [:]

        var isEmpty: Bool { token == nil && partitions.isEmpty }
    }

    private let file: URL
    /// A file of tokens has some kilobytes; what is far beyond is none.
    private static let limit = 16 << 20

    /// Makes a store. Nothing is read or written yet.
    public init(_ file: URL) {
        self.file = file
    }

    /// The token; nil when there is no file, or none of this partition in it.
    ///
    /// - Throws: ``NetworkError/Code/cannotAuthenticate`` for a file that holds something else, which stays until it is
    ///   replaced by a ``save(_:_:)`` or removed by ``removeAll()``; `CocoaError` when it cannot be read.
    public func load(_ partition: String?) throws -> OAuthToken? {
        let contents = try read()
        guard let partition else { return contents.token }
        return contents.partitions[partition]
    }

    /// Keeps a token in place of the one before. A file that holds something else is replaced.
    ///
    /// - Throws: ``NetworkError/Code/cannotWriteFile``.
    public func save(_ token: OAuthToken, _ partition: String?) throws {
        try change { if let partition { $0.partitions[partition] = token } else { $0.token = token } }
    }

    /// Removes the token, and the file with the last one.
    ///
    /// - Throws: ``NetworkError/Code/cannotWriteFile``.
    public func remove(_ partition: String?) throws {
        try change { if let partition { $0.partitions[partition] = nil } else { $0.token = nil } }
    }

    /// Removes the file.
    ///
    /// - Throws: ``NetworkError/Code/cannotWriteFile``.
    public func removeAll() throws {
        guard unlink(file.path) != 0, errno != ENOENT else { return }
        throw failure("be removed")
    }

    // MARK: The file

    private func read() throws -> Contents {
        guard FileManager.default.fileExists(atPath: file.path) else { return Contents() }
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        let data = try handle.read(upToCount: Self.limit + 1) ?? Data()
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        guard data.count <= Self.limit, let contents = try? decoder.decode(Contents.self, from: data),
            contents.version == 1
        else {
            let name = file.path.quotedForMessage
            throw NetworkError(
                .cannotAuthenticate, reason: "\(name) is no file of tokens: a login replaces it, a reset removes it")
        }
        return contents
    }

    private func change(_ change: (inout Contents) -> Void) throws {
        var contents = (try? read()) ?? Contents()
        change(&contents)
        guard !contents.isEmpty else { return try removeAll() }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = .sortedKeys
        try write(encoder.encode(contents))
    }

    /// Writes the file, and makes its folder.
    private func write(_ data: Data) throws {
        let folder = file.deletingLastPathComponent()
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
        do {
            try PrivateFile.write(data, to: file)
        } catch {
            throw NetworkError(
                .cannotWriteFile,
                reason: "\(file.path.quotedForMessage) cannot be written: \(error.localizedDescription)",
                underlying: error)
        }
    }

    private func failure(_ what: String) -> NetworkError {
        NetworkError(
            .cannotWriteFile,
            reason: "\(file.path.quotedForMessage) cannot \(what): \(String(cString: strerror(errno)))")
    }
}
