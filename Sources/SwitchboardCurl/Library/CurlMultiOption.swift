#if os(Linux)
/// The numbers of the options of libcurl's multi handle.
enum CurlMultiOption {
    static let pipelining: Int32 = 3
    static let maxConnects: Int32 = 6
    static let maxHostConnections: Int32 = 7
    static let maxTotalConnections: Int32 = 13
}
#endif
