/// The size limits of a response. A larger response fails.
public struct ResponseLimits: Sendable, Hashable {
    /// The largest body in memory, in bytes after decompression. Default 64 MiB. A larger one ends the exchange with
    /// ``NetworkError/Code/responseTooLarge`` while it is still arriving.
    public var responseBody: Int

    /// The largest body downloaded into a file, in bytes after decompression. Default 16 GiB. A larger one fails with
    /// ``NetworkError/Code/responseTooLarge``. It also limits the unread bytes of a stream of a ``FoundationSession``,
    /// which wait in a temporary file.
    public var downloadedFile: Int64
    /// The largest header of a response, in bytes. Default 256 KiB. ``CurlSession`` includes interim heads and
    /// trailers. A larger one fails with ``NetworkError/Code/headersTooLarge``. libcurl, which URLSession uses on
    /// Linux, also refuses a line above 100 KiB and a head above 300 KiB, and libcurl 7.88 also a head above 128 KiB
    /// over HTTP/2.
    public var responseHeaders: Int

    /// The largest ratio of a body's size after decompression to its size on the wire, once it exceeds 1 MiB. Default
    /// 250, which text and JSON do not reach. A larger ratio fails with ``NetworkError/Code/responseTooLarge``, because
    /// such a body is probably a decompression bomb. ``CurlSession`` enforces it; URLSession does not report the size
    /// on the wire.
    public var decompressionRatio: Int

    /// Creates limits.
    public init(
        responseBody: Int = 64 << 20, downloadedFile: Int64 = 16 << 30, responseHeaders: Int = 256 << 10,
        decompressionRatio: Int = 250
    ) {
        self.responseBody = responseBody
        self.downloadedFile = downloadedFile
        self.responseHeaders = responseHeaders
        self.decompressionRatio = decompressionRatio
    }

    /// Returns the error for a body larger than ``responseBody``. `what` describes the size.
    package func bodyTooLarge(_ what: String) -> NetworkError {
        NetworkError(.responseTooLarge, reason: "\(what), limits.responseBody is \(responseBody)")
    }
}
