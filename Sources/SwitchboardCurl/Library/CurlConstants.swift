#if os(Linux)
/// The numbers of the libcurl options that are set here. They are part of its ABI.
enum CurlOption {
    static let proxy: Int32 = 10_004
    static let errorBuffer: Int32 = 10_010
    static let userAgent: Int32 = 10_018
    static let url: Int32 = 10_002
    static let httpHeader: Int32 = 10_023
    static let keyPassword: Int32 = 10_026
    static let sslVersion: Int32 = 32
    static let proxyTunnel: Int32 = 61
    static let customRequest: Int32 = 10_036
    static let header: Int32 = 42
    static let noBody: Int32 = 44
    static let upload: Int32 = 46
    static let copyPostFields: Int32 = 10_165
    static let postFieldSize: Int32 = 30_120
    static let interface: Int32 = 10_062
    static let sslVerifyPeer: Int32 = 64
    static let caInfo: Int32 = 10_065
    static let freshConnect: Int32 = 74
    static let forbidReuse: Int32 = 75
    static let longestIdleTime: Int32 = 288
    static let httpGet: Int32 = 80
    static let sslVerifyHost: Int32 = 81
    static let httpVersion: Int32 = 84
    static let caPath: Int32 = 10_097
    static let bufferSize: Int32 = 98
    static let noSignal: Int32 = 99
    static let ipResolve: Int32 = 113
    static let inFileSize: Int32 = 30_115
    static let connectTimeout: Int32 = 156
    static let proxyUserName: Int32 = 10_175
    static let proxyPassword: Int32 = 10_176
    static let noProxy: Int32 = 10_177
    static let protocols: Int32 = 181
    static let resolve: Int32 = 10_203
    static let requestTarget: Int32 = 10_266
    static let parsedURL: Int32 = 10_282
    static let pinnedPublicKey: Int32 = 10_230
    static let unixSocketPath: Int32 = 10_231
    static let pathAsIs: Int32 = 234
    static let pipeWait: Int32 = 237
    static let proxyCAPath: Int32 = 10_247
    static let proxySSLVerifyPeer: Int32 = 248
    static let proxySSLVerifyHost: Int32 = 249
    static let proxySSLVersion: Int32 = 250
    static let suppressConnectHeaders: Int32 = 265
    static let uploadBufferSize: Int32 = 280
    static let sslCertBlob: Int32 = 40_291
    static let sslKeyBlob: Int32 = 40_292
    static let caInfoBlob: Int32 = 40_309
    static let proxyCAInfoBlob: Int32 = 40_310
    static let quickExit: Int32 = 322
}

enum CurlMultiOption {
    static let pipelining: Int32 = 3
    static let maxConnects: Int32 = 6
    static let maxHostConnections: Int32 = 7
    static let maxTotalConnections: Int32 = 13
    static let maxResolverThreads: Int32 = 20
    static let quickExit: Int32 = 21
}

/// The result codes of libcurl that are handled separately.
enum CurlCode {
    /// Also the result of an HTTP/2 stream that ends without an answer.
    static let partialFile: Int32 = 18
    /// A framing error. Up to 7.88 also the result of a stream that a GOAWAY excludes.
    static let framing: Int32 = 16
    /// The result of a pause while the transfer has no connection, so that nothing is paused.
    static let badArgument: Int32 = 43
    /// The result of a repeated request before 7.80, because redirects are limited to none.
    static let tooManyRedirects: Int32 = 47
    static let gotNothing: Int32 = 52
    static let sendError: Int32 = 55
    static let receiveError: Int32 = 56
    static let badEncoding: Int32 = 61
    static let unreadableAuthorities: Int32 = 77
    /// The result of a resume in 8.16 that pauses again ([curl 19334](https://github.com/curl/curl/issues/19334)).
    static let again: Int32 = 81
    /// CURLE_HTTP2_STREAM.
    static let stream: Int32 = 92
}

/// The values that callbacks return to libcurl.
enum CurlCallbackResult {
    /// Pauses the transfer. libcurl calls again after a resume.
    static let pause = 0x1000_0001
    /// Ends the transfer, from the callback that reads.
    static let abortReading = 0x1000_0000
}
#endif
