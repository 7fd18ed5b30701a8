import SwitchboardPlatform
import Foundation

/// A body's bytes that URLSession can read repeatedly: in memory, or in a file for a streamed body.
final class RequestPayload: Sendable {
    private enum Source: Sendable {
        case data(Data)
        case file(TemporaryFile)
    }

    /// A file that is removed with its last reference, also when a timeout has discarded the result of the reading. Only
    /// its owner can read it. A later process removes it if this one is killed.
    private final class TemporaryFile: Sendable {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "switchboard-\(UUID.randomText()).body")
        /// Holds the lock that tells other processes that the file is in use.
        let descriptor: Int32

        /// Removes the files of ended processes, once.
        private static let sweep: Void = FileLock.removeLeftovers(in: FileManager.default.temporaryDirectory) {
            $0.hasPrefix("switchboard-") && $0.hasSuffix(".body")
        }

        init() throws(NetworkError) {
            _ = Self.sweep
            descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw fileFailure(POSIXError.last) }
            flock(descriptor, LOCK_EX | LOCK_NB)
        }

        deinit {
            unlink(url.path)
            close(descriptor)
        }
    }

    private let source: Source
    let length: Int64

    /// Creates a payload. Nil without a body. The attempt timeout also limits the reading of a streamed body.
    init?(_ body: any HTTPBody, within timeouts: Timeouts) async throws {
        guard !body.isEmpty else { return nil }
        guard body.isStreamed else {
            let data = try body.encode()
            source = .data(data)
            length = Int64(data.count)
            return
        }
        do {
            // URLSession reads a body through a blocking InputStream, so an async body is first written to a file.
            let (file, length) = try await Self.spool(body, within: timeouts)
            try Task.checkCancellation()  // the stream of a canceled task may have ended early
            source = .file(file)
            self.length = length
            if let announced = body.length, announced != length {
                throw NetworkError(
                    .encodingFailed,
                    reason: "the body's stream produced \(length) bytes, but its length announces \(announced)")
            }
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw NetworkError.encoding(error, by: "the body's stream")
        }
    }

    /// The bytes, if they are in memory.
    var data: Data? {
        if case .data(let data) = source { data } else { nil }
    }

    /// Returns a new stream over the bytes, from the start.
    func makeInputStream() -> InputStream? {
        switch source {
        case .data(let data): InputStream(data: data)
        case .file(let file): InputStream(url: file.url)
        }
    }

    private static func spool(_ body: any HTTPBody, within timeouts: Timeouts) async throws -> (TemporaryFile, Int64) {
        guard let limit = timeouts.attempt?.clamped else { return try await spool(body) }
        return try await withTimeout(
            limit,
            error: NetworkError(
                .timedOut, reason: "the body was not read within \(limit.secondsText) (timeouts.attempt)")
        ) {
            try await spool(body)
        }
    }

    private static func spool(_ body: any HTTPBody) async throws -> (TemporaryFile, Int64) {
        let temporary = try TemporaryFile()
        var length: Int64 = 0
        for try await chunk in try body.makeStream() {
            try Task.checkCancellation()
            do {
                try chunk.withUnsafeBytes { try $0.write(to: temporary.descriptor, at: &length) }
            } catch {
                throw fileFailure(error)
            }
        }
        return (temporary, length)
    }

    private static func fileFailure(_ error: any Error) -> NetworkError {
        NetworkError(
            .cannotWriteFile,
            reason: "the temporary file for the streamed body failed: \(PrivateFile.cause(of: error))",
            underlying: error)
    }
}
