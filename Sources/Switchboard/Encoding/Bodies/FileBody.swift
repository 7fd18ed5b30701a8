import Foundation
import SwitchboardText

/// The bytes of a file, or a stretch of them, read as they are sent. The file may be any size.
///
/// A file that is not there or cannot be read ends the request with ``NetworkError/Code/unreadableFile``, which names
/// it; so does one that changes its size on the way.
public struct FileBody: HTTPBody {
    /// The file.
    public let url: URL
    /// The file's `Content-Type`.
    public let additionalHeaders: HTTPHeaders
    /// The bytes that are sent, counted from 0; nil for all.
    public let range: Range<Int64>?

    /// Makes a body of a file's bytes. A nil `contentType` is the one that the file's name suggests, as in a
    /// ``MultipartBody``: `application/octet-stream` for a name that suggests none.
    public init(_ url: URL, contentType: String? = nil) {
        self.init(url, range: nil, contentType: contentType)
    }

    /// Makes a body of some of a file's bytes. A range that the file does not have is found out when it is sent, as an
    /// unreadable file is.
    public init(_ url: URL, range: Range<Int64>?, contentType: String? = nil) {
        self.url = url
        self.range = range
        additionalHeaders = [.contentType(contentType ?? MIMEType.forFile(named: url.lastPathComponent))]
    }

    /// True: the bytes are read as they are sent.
    public var isStreamed: Bool { true }

    /// The number of bytes: of the range, or of the file now. Nil when there is no such file, which sending then
    /// reports.
    public var length: Int64? {
        guard let size = url.sizeOfFile else { return nil }
        guard let range else { return size }
        return range.lowerBound >= 0 && range.upperBound <= size ? Int64(range.count) : nil
    }

    /// The bytes in memory.
    public func encode() throws -> Data {
        let file = try open()
        return try readable {
            var data = Data()
            while let chunk = try file.next() { data += chunk }
            return data
        }
    }

    /// The bytes in chunks of 256 KiB.
    public func makeStream() throws -> HTTPBodyStream {
        let file = try open()
        return HTTPBodyStream { try readable { try file.next() } }
    }

    private func open() throws -> FileReader {
        guard length != nil else { throw unreadable(nil) }
        return try readable { try FileReader(url, range: range) }
    }

    private func readable<Output>(_ body: () throws -> Output) throws -> Output {
        do {
            return try body()
        } catch {
            throw unreadable(error)
        }
    }

    private func unreadable(_ error: (any Error)?) -> NetworkError {
        let part = range.map { "bytes \($0.lowerBound) to \($0.upperBound) of " } ?? ""
        return NetworkError(
            .unreadableFile, reason: "\(part)\(url.path.quotedForMessage)",
            underlying: error)
    }
}

extension URL {
    /// The bytes of the regular file there; nil when there is none.
    package var sizeOfFile: Int64? {
        var information = stat()
        guard isFileURL, stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(information.st_size)
    }
}
