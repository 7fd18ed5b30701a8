import SwitchboardPlatform
import Foundation

/// A body's bytes that URLSession can read repeatedly: in memory, or in a file for a streamed body.
final class RequestPayload: Sendable {
    /// A file that is removed with its last reference, also when a timeout has discarded the result of the reading. A
    /// later process removes it if this one is killed.
    private final class BodyFile: Sendable {
        let path: String
        /// Holds the lock that tells other processes that the file is in use.
        let descriptor: Int32

        /// Removes the files of ended processes, once.
        private static let sweep: Void = FileLock.removeLeftovers(in: TemporaryFile.folder) {
            $0.hasPrefix("switchboard-") && $0.hasSuffix(".body")
        }

        init() throws(NetworkError) {
            _ = Self.sweep
            do throws(POSIXError) {
                (path, descriptor) = try TemporaryFile.create(suffix: ".body")
            } catch {
                throw fileFailure(error)
            }
            flock(descriptor, LOCK_EX | LOCK_NB)
        }

        deinit {
            unlink(path)
            close(descriptor)
        }
    }

    /// The bytes, if they are in memory.
    let data: Data?
    private let file: BodyFile?
    let length: Int64

    /// Creates a payload. Nil without a body. The attempt timeout also limits the reading of a streamed body.
    init?(_ body: any HTTPBody, within timeouts: Timeouts) async throws {
        guard !body.isEmpty else { return nil }
        guard body.isStreamed else {
            let data = try body.encode()
            (self.data, file, length) = (data, nil, Int64(data.count))
            return
        }
        do {
            // URLSession reads a body through a blocking InputStream, so an async body is first written to a file.
            let (file, length) = try await Self.spool(body, within: timeouts)
            try Task.checkCancellation()  // the stream of a canceled task may have ended early
            (data, self.file, self.length) = (nil, file, length)
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

    func makeInputStream() -> InputStream? {
        data.map { InputStream(data: $0) } ?? file.flatMap { InputStream(fileAtPath: $0.path) }
    }

    private static func spool(_ body: any HTTPBody, within timeouts: Timeouts) async throws -> (BodyFile, Int64) {
        guard let limit = timeouts.attempt?.clamped else { return try await spool(body) }
        return try await withTimeout(
            limit,
            error: NetworkError(
                .timedOut, reason: "the body was not read within \(limit.secondsText) (timeouts.attempt)")
        ) {
            try await spool(body)
        }
    }

    private static func spool(_ body: any HTTPBody) async throws -> (BodyFile, Int64) {
        let file = try BodyFile()
        var length: Int64 = 0
        for try await chunk in try body.makeStream() {
            try Task.checkCancellation()
            do {
                try chunk.withUnsafeBytes { try $0.write(to: file.descriptor, at: &length) }
            } catch {
                throw fileFailure(error)
            }
        }
        return (file, length)
    }

    private static func fileFailure(_ error: any Error) -> NetworkError {
        NetworkError(
            .cannotWriteFile,
            reason: "the temporary file for the streamed body failed: \(PrivateFile.cause(of: error))",
            underlying: error)
    }
}
