import SwitchboardPlatform
import Foundation

/// Another body, compressed: `Content-Encoding: gzip` ([RFC 9110
/// §8.4.1.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1.3)).
///
/// ```swift
/// case .add(let todo): .requestBody(GzipBody(JSONBody(todo)))
/// ```
///
/// Only for a server that is known to understand it; others answer 415 or worse. ``RequestOptions/compressesBody`` does
/// the same for every request. The content type stays that of the content. Not for a part of a ``MultipartBody``, which
/// has no such field: wrap the form.
///
/// A body in memory is compressed in memory, a streamed one while it is sent. It is the system's zlib that compresses;
/// where there is none, sending fails with ``NetworkError/Code/unsupported``.
public struct GzipBody: HTTPBody {
    /// What is compressed.
    public let body: any HTTPBody

    /// zlib, or what is missing.
    fileprivate let zlib: Result<Zlib, DynamicLibrary.Failure>

    /// Makes a body of another one.
    public init(_ body: any HTTPBody) {
        self.init(body, zlib: Zlib.loaded)
    }

    init(_ body: any HTTPBody, zlib: Result<Zlib, DynamicLibrary.Failure>) {
        self.body = body
        self.zlib = zlib
    }

    /// The fields of the content with `Content-Encoding: gzip`, behind the encodings that it has already.
    public var additionalHeaders: HTTPHeaders {
        var headers = body.additionalHeaders
        headers["Content-Encoding"] = (headers.values(for: "Content-Encoding") + ["gzip"]).joined(separator: ", ")
        return headers
    }

    /// Whether there is no content: then nothing is compressed and nothing sent.
    public var isEmpty: Bool { body.isEmpty }
    /// Whether the content is read while it is sent.
    public var isStreamed: Bool { body.isStreamed }
    /// Whether the content can be sent a second time. It then goes out as the same bytes.
    public var isReplayable: Bool { body.isReplayable }

    /// The whole body in memory. Content of no bytes stays that.
    ///
    /// - Throws: What the content throws; ``NetworkError/Code/unsupported`` without zlib.
    public func encode() throws -> Data {
        let content = try body.encode()
        guard !content.isEmpty else { return content }
        let deflater = try makeDeflater()
        var compressed = Data()
        deflater.feed(content)
        deflater.finish()
        while let piece = try Self.supported({ () throws(DynamicLibrary.Failure) in try deflater.next() }) {
            compressed += piece
        }
        return compressed
    }

    /// The compressed bytes in pieces of 64 KiB, made as they are asked for. A stream of no bytes becomes the 20 of an
    /// empty gzip.
    ///
    /// - Throws: What the content throws; ``NetworkError/Code/unsupported`` without zlib.
    public func makeStream() throws -> HTTPBodyStream {
        let reader = GzipReader(try body.makeStream(), isEmptyKept: !isStreamed, try makeDeflater())
        return HTTPBodyStream { try await reader.next() }
    }

    private func makeDeflater() throws(NetworkError) -> GzipDeflater {
        try Self.supported { () throws(DynamicLibrary.Failure) in try GzipDeflater(try zlib.get()) }
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

/// Compresses a stream as it is read.
private actor GzipReader {
    private var source: HTTPBodyStream?
    private var isEmptyKept: Bool
    private let deflater: GzipDeflater

    /// `isEmptyKept` says that content of no bytes stays that.
    init(_ source: HTTPBodyStream, isEmptyKept: Bool, _ deflater: sending GzipDeflater) {
        self.source = source
        self.isEmptyKept = isEmptyKept
        self.deflater = deflater
    }

    /// The next bytes, nil at the end. Not to be called twice at once.
    func next() async throws -> Data? {
        while true {
            if deflater.isHungry {
                // Megabytes of one letter make no piece: that is no reason not to hear of the end.
                try Task.checkCancellation()
                guard let chunk = try await source?.next() else {
                    source = nil
                    if isEmptyKept { return nil }
                    deflater.finish()
                    continue
                }
                isEmptyKept = false
                deflater.feed(chunk)
            }
            if let piece = try GzipBody.supported({ () throws(DynamicLibrary.Failure) in try deflater.next() }) {
                return piece
            }
            if source == nil { return nil }
        }
    }
}

extension HTTPBody {
    /// The body with this encoder where it is a ``JSONBody`` that was given none, within a ``GzipBody`` too.
    func withEncoder(_ encoder: any RequestEncoder) -> any HTTPBody {
        switch self {
        case var json as JSONBody:
            json.encoder = json.encoder ?? encoder
            return json
        case let gzip as GzipBody: return GzipBody(gzip.body.withEncoder(encoder), zlib: gzip.zlib)
        default: return self
        }
    }
}
