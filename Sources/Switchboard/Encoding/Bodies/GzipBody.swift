import SwitchboardPlatform
import Foundation

/// Compresses another body and adds `Content-Encoding: gzip` ([RFC 9110
/// §8.4.1.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1.3)).
///
/// ```swift
/// let task: HTTPTask = .requestBody(GzipBody(JSONBody(todo)))
/// ```
///
/// Use it only with a server that is known to accept gzip; others answer 415 or worse.
/// ``RequestOptions/compressesBody`` compresses the body of every request. The `Content-Type` describes the
/// uncompressed content. A part of a ``MultipartBody`` cannot be compressed, because parts have no `Content-Encoding`:
/// compress the whole form instead.
///
/// A body in memory is compressed in memory, and a streamed body is compressed while it is sent. The system's zlib
/// compresses. On a system without zlib, sending fails with ``NetworkError/Code/unsupported``.
public struct GzipBody: HTTPBody {
    /// The content to compress.
    public let body: any HTTPBody

    fileprivate let zlib: Result<Zlib, DynamicLibrary.Failure>

    /// Creates a body that compresses another one.
    public init(_ body: any HTTPBody) {
        self.init(body, zlib: Zlib.loaded)
    }

    init(_ body: any HTTPBody, zlib: Result<Zlib, DynamicLibrary.Failure>) {
        self.body = body
        self.zlib = zlib
    }

    /// The content's fields with `gzip` appended to its `Content-Encoding`.
    public var additionalHeaders: HTTPHeaders {
        var headers = body.additionalHeaders
        headers["Content-Encoding"] = (headers.values(for: "Content-Encoding") + ["gzip"]).joined(separator: ", ")
        return headers
    }

    /// Whether the content is empty. Empty content is neither compressed nor sent.
    public var isEmpty: Bool { body.isEmpty }
    /// Whether the content is read while it is sent.
    public var isStreamed: Bool { body.isStreamed }
    /// Whether the content can be sent again. A second sending has the same bytes.
    public var isReplayable: Bool { body.isReplayable }

    /// Returns the compressed body in memory. Empty content stays empty.
    ///
    /// - Throws: The content's error, or ``NetworkError/Code/unsupported`` without zlib.
    public func encode() throws -> Data {
        let content = try body.encode()
        guard !content.isEmpty else { return content }
        let deflater = try makeDeflater()
        var compressed = Data()
        deflater.feed(content, .finish)
        while let piece = try Self.supported({ () throws(DynamicLibrary.Failure) in try deflater.next() }) {
            compressed += piece
        }
        return compressed
    }

    /// Returns a stream that compresses while it is read, in pieces of 64 KiB. An empty stream becomes the 20 bytes of
    /// an empty gzip file.
    ///
    /// - Throws: The content's error, or ``NetworkError/Code/unsupported`` without zlib.
    public func makeStream() throws -> HTTPBodyStream {
        let reader = GzipReader(try body.makeStream(), keepsEmpty: !isStreamed, try makeDeflater())
        return HTTPBodyStream { try await reader.next() }
    }

    private func makeDeflater() throws(NetworkError) -> Deflater {
        try Self.supported { () throws(DynamicLibrary.Failure) in try Deflater(try zlib.get(), .gzip) }
    }

    fileprivate static func supported<Output>(
        _ body: () throws(DynamicLibrary.Failure) -> Output
    ) throws(NetworkError) -> Output {
        do {
            return try body()
        } catch {
            throw NetworkError(.unsupported, reason: "gzip needs zlib, and \(error.text)")
        }
    }
}

private actor GzipReader {
    private var source: HTTPBodyStream?
    private var keepsEmpty: Bool
    private let deflater: Deflater

    /// Creates a reader. With `keepsEmpty`, empty content stays empty instead of becoming an empty gzip file.
    init(_ source: HTTPBodyStream, keepsEmpty: Bool, _ deflater: sending Deflater) {
        self.source = source
        self.keepsEmpty = keepsEmpty
        self.deflater = deflater
    }

    /// Returns the next bytes, or nil at the end. Concurrent calls are not allowed.
    func next() async throws -> Data? {
        while true {
            if let piece = try GzipBody.supported({ () throws(DynamicLibrary.Failure) in try deflater.next() }) {
                return piece
            }
            guard let source else { return nil }
            // Highly repetitive input can run for megabytes without output, so the loop checks for cancellation itself.
            try Task.checkCancellation()
            if let chunk = try await source.next() {
                keepsEmpty = false
                deflater.feed(chunk)
            } else {
                self.source = nil
                if keepsEmpty { return nil }
                deflater.feed(Data(), .finish)
            }
        }
    }
}

extension HTTPBody {
    /// Returns the body with this encoder, if it is a ``JSONBody`` without an encoder, also inside a ``GzipBody`` or a
    /// ``MultipartBody``.
    func withEncoder(_ encoder: any RequestEncoder) -> any HTTPBody {
        switch self {
        case var json as JSONBody:
            json.encoder = json.encoder ?? encoder
            return json
        case let gzip as GzipBody: return GzipBody(gzip.body.withEncoder(encoder), zlib: gzip.zlib)
        case var form as MultipartBody:
            form.parts = form.parts.map { $0.withEncoder(encoder) }
            return form
        default: return self
        }
    }
}
