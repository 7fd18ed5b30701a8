#if os(Linux)
/// The values that callbacks return to libcurl.
enum CurlAnswer {
    /// Pauses the transfer. libcurl calls again after a resume.
    static let pause = 0x1000_0001
    /// Ends the transfer, from the callback that reads.
    static let abortReading = 0x1000_0000
}
#endif
