import Switchboard

/// Sends a W3C `traceparent` with each exchange.
struct TraceParent: Interceptor, ExchangeInterceptor, RequestAdapter {
    /// The trace of the current task. 32 hexadecimal digits.
    @TaskLocal static var traceID: String?

    func adapt(_ request: inout NetworkRequest) async throws {
        let trace = Self.traceID ?? Self.digits(2)
        let parent = Self.digits(1)
        request.headers["traceparent"] = "00-\(trace)-\(parent)-01"
    }

    /// Returns random hexadecimal digits, 16 for each word. Zeros
    /// only would be invalid.
    private static func digits(_ words: Int) -> String {
        (0..<words).map { _ in
            let text = String(UInt64.random(in: 1 ... .max), radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
    }
}
