#if os(Linux)
import SwitchboardCurlC

/// The system's libcurl, loaded at its first use. Its version and features are read once.
package enum CurlLibrary {
    /// The reason why libcurl is not available: the loader's message, or a version older than 7.78. Nil when it is
    /// available. After a failure, each access tries again.
    package static var failure: String? { swcurl_load("libcurl.so.4").map { String(cString: $0) } }

    /// Whether a failure may pass, because the process has no free descriptor now.
    package static var lacksDescriptors: Bool { !swcurl_has_descriptors() }

    /// The version, such as 0x075801 for 7.88.1.
    package static let version = failure == nil ? swcurl_version_number() : 0
    /// The version as text, such as `7.88.1`.
    package static let versionText = failure == nil ? String(cString: swcurl_version_text()) : ""
    /// The CURL_VERSION_ bits.
    static let features = failure == nil ? swcurl_features() : 0
    package static let hasHTTP2 = features & (1 << 16) != 0

    /// Whether the second use of a plain HTTP/2 connection by prior knowledge fails, as in 7.88.0 and 7.88.1 ([curl
    /// 10634](https://github.com/curl/curl/issues/10634)).
    package static let breaksPlainHTTP2: Bool = version >> 8 == 0x07_58

    /// Whether a reader that pauses stalls the other streams of its HTTP/2 connection, as before 7.88.
    package static let stallsSharedConnections: Bool = version < 0x07_58_00

    /// Whether libcurl does not read on after the bytes of an HTTP/2 stream have filled its buffer, until the connection
    /// receives more, as before 8.1. What it holds may be the last bytes of other streams.
    static let leavesBytesUnread: Bool = version < 0x08_01_00

    /// Whether a reused handle joins a first header line that begins with a blank to a freed header field of its last
    /// response, as from 7.83 until 8.2 ([curl 11103](https://github.com/curl/curl/pull/11103)).
    static let readsFreedHeaders: Bool = version >= 0x07_53_00 && version < 0x08_03_00

    /// The value of `Accept-Encoding`, as libcurl would write it. Empty without any coding.
    static let acceptedEncodings: String = {
        // The first use of `joined(separator:)` resolves generic types at run time.
        var text = ""
        for coding in ["deflate", "gzip", "br", "zstd"] where ContentDecoder.names.contains(coding) {
            text += text.isEmpty ? coding : ", " + coding
        }
        return text
    }()

    package static func text(of code: Int32) -> String { String(cString: swcurl_error_text(code)) }
}
#endif
