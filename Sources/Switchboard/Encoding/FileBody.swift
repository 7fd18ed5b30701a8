import Foundation

/// A file's bytes, read while they are sent: never as a whole in memory.
///
/// The file is opened anew for each sending, so that a retry and a 307 send it again. One that cannot be read ends the
/// request with ``NetworkError/Code/encodingFailed``, which names it; so does one that changes its size on the way.
public struct FileBody: HTTPBody {
    /// The file.
    public let url: URL
    /// The file's `Content-Type`.
    public let additionalHeaders: HTTPHeaders

    /// Makes a body of a file's bytes.
    public init(_ url: URL, contentType: String = "application/octet-stream") {
        self.url = url
        additionalHeaders = [.contentType(contentType)]
    }

    /// True: the bytes are read as they are sent.
    public var isStreamed: Bool { true }

    /// The file's size now; nil when there is no such file, which sending then reports.
    public var length: Int64? {
        var information = stat()
        guard url.isFileURL, stat(url.path, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return Int64(information.st_size)
    }

    /// The whole file in memory.
    public func encode() throws -> Data {
        try readable { try Data(contentsOf: url) }
    }

    /// The bytes in chunks of 256 KiB.
    public func makeStream() throws -> HTTPBodyStream {
        guard length != nil else { throw unreadable(nil) }
        let file = try readable { try FileReader(url) }
        return HTTPBodyStream { try readable { try file.next() } }
    }

    private func readable<Output>(_ body: () throws -> Output) throws -> Output {
        do {
            return try body()
        } catch {
            throw unreadable(error)
        }
    }

    private func unreadable(_ error: (any Error)?) -> NetworkError {
        NetworkError(
            .encodingFailed, reason: "\(url.path.quotedForMessage) is no file that can be read", underlying: error)
    }
}
