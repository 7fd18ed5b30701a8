#if os(Linux)
import SwitchboardCurlC

/// The system's libcurl, loaded at its first use.
package enum CurlLibrary {
    /// The reason why libcurl is not available: the loader's message, or a version older than 7.78. Nil when it is
    /// available.
    package static let failure: String? = swcurl_load().map { String(cString: $0) }

    /// The version, such as 0x075801 for 7.88.1.
    package static let version = failure == nil ? swcurl_version_number() : 0
    /// The version as text, such as `7.88.1`.
    package static let versionText = failure == nil ? String(cString: swcurl_version_text()) : ""
    package static let hasHTTP2 = failure == nil && swcurl_features() & (1 << 16) != 0

    /// Whether the second use of a plain HTTP/2 connection by prior knowledge fails, as in 7.88.0 and 7.88.1 ([curl
    /// 10634](https://github.com/curl/curl/issues/10634)).
    package static let breaksPlainHTTP2: Bool = version >> 8 == 0x07_58

    /// Whether a reader that pauses stalls the other streams of its HTTP/2 connection, as before 7.88.
    package static let stallsSharedConnections: Bool = version < 0x07_58_00

    /// Whether a reused handle joins a first header line that begins with a blank to a freed header field of its last
    /// response, as from 7.83 until 8.2 ([curl 11103](https://github.com/curl/curl/pull/11103)).
    static let readsFreedHeaders: Bool = version >= 0x07_53_00 && version < 0x08_03_00

    /// The content codings that this build of libcurl decodes.
    package static let encodings: Set<String> = {
        guard failure == nil else { return [] }
        let features = swcurl_features()
        let builtWith = [(3, ["gzip", "x-gzip", "deflate"]), (23, ["br"]), (26, ["zstd"])]
        return Set(builtWith.flatMap { bit, names in features & (1 << bit) != 0 ? names : [] })
    }()

    /// The value of `Accept-Encoding`, as libcurl would write it. Empty without any coding.
    static let acceptedEncodings = ["deflate", "gzip", "br", "zstd"].filter(encodings.contains).joined(separator: ", ")

    /// Whether libcurl omits the `?` of an empty query, as since 8.8.
    package static let dropsEmptyQuery: Bool = version >= 0x08_08_00

    /// Whether decoding can still be turned off after the head of a response, as before 8.5.
    package static let decodesLate: Bool = version < 0x08_05_00

    /// Returns the reason why another library cannot be used, or nil. The library is not kept.
    package static func failure(loading name: String) -> String? {
        swcurl_try_load(name).map { String(cString: $0) }
    }

    /// Returns libcurl's message for one of its result codes.
    package static func text(of code: Int32) -> String { String(cString: swcurl_error_text(code)) }
}

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
    static let interface: Int32 = 10_062
    static let sslVerifyPeer: Int32 = 64
    static let caInfo: Int32 = 10_065
    static let freshConnect: Int32 = 74
    static let forbidReuse: Int32 = 75
    static let httpGet: Int32 = 80
    static let sslVerifyHost: Int32 = 81
    static let httpVersion: Int32 = 84
    static let httpContentDecoding: Int32 = 158
    static let caPath: Int32 = 10_097
    static let bufferSize: Int32 = 98
    static let noSignal: Int32 = 99
    static let proxyType: Int32 = 101
    static let acceptEncoding: Int32 = 10_102
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
    static let proxyCAInfo: Int32 = 10_246
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

/// The numbers of the options of libcurl's multi handle.
enum CurlMultiOption {
    static let pipelining: Int32 = 3
    static let maxConnects: Int32 = 6
    static let maxHostConnections: Int32 = 7
    static let maxTotalConnections: Int32 = 13
}

/// The result codes of libcurl that are handled separately.
enum CurlCode {
    /// A framing error. Up to 7.88 also the result of a stream that a GOAWAY excludes.
    static let framing: Int32 = 16
    /// The result of a pause while the transfer has no connection, so that nothing is paused.
    static let badArgument: Int32 = 43
    /// The result of a repetition that libcurl before 7.80 was prevented from sending.
    static let tooManyRedirects: Int32 = 47
    static let gotNothing: Int32 = 52
    static let sendError: Int32 = 55
    static let receiveError: Int32 = 56
}

/// The values that callbacks return to libcurl.
enum CurlAnswer {
    /// Pauses the transfer. libcurl calls again after a resume.
    static let pause = 0x1000_0001
    /// Ends the transfer, from the callback that reads.
    static let abortReading = 0x1000_0000
}
#endif
