/// How much a response may hold before it is given up as an error.
public struct ResponseLimits: Sendable, Hashable {
    /// The bytes of a body held in memory, after decompression. Default 64 MiB. More ends the exchange with
    /// ``NetworkError/Code/responseTooLarge`` while it is still arriving.
    public var responseBody: Int

    /// The bytes of a body that is downloaded into a file, after decompression. Default 16 GiB. More is
    /// ``NetworkError/Code/responseTooLarge``.
    public var downloadedFile: Int64
    /// The bytes of a response's header fields. Default 256 KiB. More is ``NetworkError/Code/headersTooLarge``;
    /// libcurl, under URLSession on Linux, takes no line over 100 KiB and no head over 300.
    public var responseHeaders: Int

    /// How many times its size on the wire a body may have after decompression, once it is larger than a mebibyte.
    /// Default 250, more than text and JSON reach. More is ``NetworkError/Code/responseTooLarge``: a few kilobytes that
    /// unpack to gigabytes are an attack. Kept by ``CurlSession``; URLSession does not say what came over the wire.
    public var decompressionRatio: Int

    /// Makes a set of limits.
    public init(
        responseBody: Int = 64 << 20, downloadedFile: Int64 = 16 << 30, responseHeaders: Int = 256 << 10,
        decompressionRatio: Int = 250
    ) {
        self.responseBody = responseBody
        self.downloadedFile = downloadedFile
        self.responseHeaders = responseHeaders
        self.decompressionRatio = decompressionRatio
    }

    /// The error of a body that is larger than ``responseBody``; `what` says how that is known.
    func bodyTooLarge(_ what: String) -> NetworkError {
        NetworkError(.responseTooLarge, reason: "\(what), limits.responseBody is \(responseBody)")
    }
}
