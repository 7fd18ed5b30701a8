#if os(Linux)
/// The result codes of libcurl that are handled separately.
enum CurlCode {
    /// Also the result of an HTTP/2 stream that ends without an answer.
    static let partialFile: Int32 = 18
    /// A framing error. Up to 7.88 also the result of a stream that a GOAWAY excludes.
    static let framing: Int32 = 16
    /// The result of a pause while the transfer has no connection, so that nothing is paused.
    static let badArgument: Int32 = 43
    /// The result of a repetition that libcurl before 7.80 was prevented from sending.
    static let tooManyRedirects: Int32 = 47
    static let gotNothing: Int32 = 52
    static let sendError: Int32 = 55
    static let receiveError: Int32 = 56
    /// The result of a resume in 8.16 that pauses again ([curl 19334](https://github.com/curl/curl/issues/19334)).
    static let again: Int32 = 81
    /// CURLE_HTTP2_STREAM.
    static let stream: Int32 = 92
}
#endif
