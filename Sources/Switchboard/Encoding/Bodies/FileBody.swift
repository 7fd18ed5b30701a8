import Foundation
import SwitchboardText

/// The bytes of a file, or of a range in it, read while they are sent. The file may have any size.
///
/// A missing or unreadable file ends the request with ``NetworkError/Code/unreadableFile``, which names the file. A
/// file whose size changes during the upload ends the request too. With a range, it does so only if bytes of the range
/// are missing.
public struct FileBody: HTTPBody {
    /// The file.
    public let url: URL
    /// The file's `Content-Type`.
    public let additionalHeaders: HTTPHeaders
    /// The range of bytes that is sent, counted from 0. Nil sends the whole file.
    public let range: Range<Int64>?

    /// Creates a body from a file's bytes, or from a range of them. A range outside the file fails when the body is
    /// sent, like an unreadable file. With a nil `contentType`, the file's name determines the type, as in a
    /// ``MultipartBody``: `application/octet-stream` for an unknown name.
    public init(_ url: URL, range: Range<Int64>? = nil, contentType: String? = nil) {
        self.url = url
        self.range = range
        additionalHeaders = [.contentType(contentType ?? MIMEType.forFile(named: url.lastPathComponent))]
    }

    /// Whether the bytes are read while they are sent: always true.
    public var isStreamed: Bool { true }

    /// The number of bytes in the range, or in the file now. Nil when no such file exists, or the range is outside of
    /// it. Sending then fails.
    public var length: Int64? {
        guard let size = url.sizeOfFile else { return nil }
        guard let range else { return size }
        return range.lowerBound >= 0 && range.upperBound <= size ? range.upperBound - range.lowerBound : nil
    }

    /// Reads the bytes into memory.
    public func encode() throws -> Data {
        let file = try open()
        return try readable {
            var data = Data()
            while let chunk = try file.next() { data += chunk }
            return data
        }
    }

    /// Returns a stream that reads the file in chunks of 256 KiB.
    public func makeStream() throws -> HTTPBodyStream {
        let file = try open()
        return HTTPBodyStream { try readable { try file.next() } }
    }

    private func open() throws -> FileReader {
        guard length != nil else { throw unreadable(nil) }
        return try readable { try FileReader(url, range: range) }
    }

    private func readable<Output>(_ body: () throws -> Output) throws -> Output {
        try Result(catching: body).mapError(unreadable).get()
    }

    fileprivate func unreadable(_ error: (any Error)?) -> NetworkError {
        let part = range.map { "bytes \($0.lowerBound) to \($0.upperBound) of " } ?? ""
        let cause = error.map { ": \(($0 as? NetworkError)?.reason ?? $0.localizedDescription)" } ?? ""
        return NetworkError(.unreadableFile, reason: "\(part)\(url.path.quotedInFull)\(cause)", underlying: error)
    }
}

extension HTTPBody {
    /// The reason why the body cannot be sent: a missing file, or the fault of a form. Nil without one. Opens no file.
    var fileFault: NetworkError? {
        switch self {
        case let file as FileBody: file.length == nil ? file.unreadable(nil) : nil
        case let form as MultipartBody: form.fault
        case let gzip as GzipBody: gzip.body.fileFault
        default: nil
        }
    }
}

extension URL {
    /// The number of bytes in the regular file at this URL, or nil when no such file exists.
    package var sizeOfFile: Int64? {
        var information = stat()
        guard isFileURL, stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(information.st_size)
    }
}
