import Foundation

/// Where a response's body goes as it arrives. Used under its exchange's lock, unless it has a lock of its own.
protocol ResponseSink: AnyObject, Sendable {
    /// The bytes written so far.
    var count: Int64 { get }
    /// What can still be shown of a body that did not become whole.
    var partialBody: Data { get }
    /// Hears the announced length, before the first byte.
    func expect(_ length: Int64) throws
    func write(_ data: Data) throws
    /// Puts the whole body where the response shows it.
    func finish(_ response: inout NetworkResponse) throws
    /// Forgets what was written. Harmless after `finish`.
    func discard()
}

extension ResponseSink {
    /// - Throws: ``NetworkError/Code/truncatedBody`` when fewer bytes came than were announced.
    func checkLength(_ announced: Int64?) throws(NetworkError) {
        guard let announced, count < announced else { return }
        throw NetworkError(.truncatedBody, reason: "\(count) of \(announced) bytes arrived")
    }
}

/// Keeps the body in memory, up to a limit.
final class MemorySink: ResponseSink, @unchecked Sendable {  // used under its exchange's lock
    private var data = Data()
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    var count: Int64 { Int64(data.count) }
    var partialBody: Data { data }

    func expect(_ length: Int64) throws {
        guard length <= limit else { throw tooLarge("Content-Length announces \(length) bytes") }
        data.reserveCapacity(Int(min(length, 1 << 20)))
    }

    func write(_ chunk: Data) throws {
        guard data.count + chunk.count <= limit else {
            throw tooLarge("more than \(data.count) bytes arrived")
        }
        data.append(chunk)
    }

    func finish(_ response: inout NetworkResponse) {
        response.body = data
    }

    func discard() {
        data = Data()
    }

    private func tooLarge(_ what: String) -> NetworkError {
        NetworkError(.responseTooLarge, reason: "\(what), limits.responseBody is \(limit)")
    }
}

/// Writes the body to a file beside its destination, and moves it there when it is whole.
final class FileSink: ResponseSink, @unchecked Sendable {  // used under its exchange's lock
    private let destination: URL
    private let partial: URL
    private let limit: Int64
    private var file: FileHandle?
    private var isPartialThere = false
    private(set) var count: Int64 = 0
    var partialBody: Data { Data() }

    init(destination: URL, limit: Int64) throws {
        self.destination = destination
        self.limit = limit
        partial = destination.deletingLastPathComponent()
            .appendingPathComponent(".\(UUID().uuidString).part")
        guard destination.isFileURL else {
            throw NetworkError(
                .cannotWriteFile, reason: "\(destination.absoluteString.quotedForMessage) is not a file URL")
        }
        guard FileManager.default.createFile(atPath: partial.path, contents: nil) else {
            throw NetworkError(
                .cannotWriteFile, reason: "no file can be made beside \(destination.path.quotedForMessage)")
        }
        isPartialThere = true
        file = try wrapped { try FileHandle(forWritingTo: partial) }
    }

    func expect(_ length: Int64) throws {
        guard length <= limit else {
            throw NetworkError(
                .responseTooLarge, reason: "Content-Length announces \(length) bytes, limits.downloadedFile is \(limit)"
            )
        }
    }

    func write(_ chunk: Data) throws {
        guard count + Int64(chunk.count) <= limit else {
            throw NetworkError(
                .responseTooLarge, reason: "more than \(count) bytes arrived, limits.downloadedFile is \(limit)")
        }
        try wrapped { try file?.write(contentsOf: chunk) }
        count += Int64(chunk.count)
    }

    func finish(_ response: inout NetworkResponse) throws {
        try wrapped {
            try file?.close()
            file = nil
            // One step, over a file that may be there: rename(2) replaces, and a reader sees the old file or the new
            // one.
            guard rename(partial.path, destination.path) == 0 else {
                throw NetworkError(
                    .cannotWriteFile,
                    reason: "\(destination.path.quotedForMessage): \(String(cString: strerror(errno)))")
            }
        }
        isPartialThere = false
        response.fileURL = destination
    }

    func discard() {
        guard isPartialThere else { return }
        isPartialThere = false
        try? file?.close()
        file = nil
        try? FileManager.default.removeItem(at: partial)
    }

    private func wrapped<Output>(_ body: () throws -> Output) throws -> Output {
        do {
            return try body()
        } catch {
            throw error as? NetworkError
                ?? NetworkError(.cannotWriteFile, reason: destination.path.quotedForMessage, underlying: error)
        }
    }
}
