#if os(Linux)

/// The exchanges of one server that wait until libcurl can serve them, in the order of their starts, and the number of
/// those that it serves. libcurl's memory and time for an exchange grow with the number that it was given.
final class CurlQueue {
    let server: Substring
    let limit: Int
    /// The number of exchanges that have left the queue and have not ended.
    var count = 0
    /// Whether the loop will look at the queue at the end of its pass.
    var isFreed = false
    private var waiting: [Int: CurlExchange] = [:]
    private var indices = 0..<0

    init(_ server: Substring, limit: Int) {
        self.server = server
        self.limit = limit
    }

    var isEmpty: Bool { waiting.isEmpty }

    func append(_ exchange: CurlExchange) {
        exchange.queueIndex = indices.upperBound
        waiting[indices.upperBound] = exchange
        indices = indices.lowerBound..<indices.upperBound + 1
    }

    /// Removes an exchange. Does nothing if it has left the queue.
    func remove(_ exchange: CurlExchange) { waiting[exchange.queueIndex] = nil }

    /// Returns the next exchange if libcurl can serve one more.
    func next() -> CurlExchange? {
        guard count < limit else { return nil }
        while let index = indices.popFirst() {
            if let exchange = waiting.removeValue(forKey: index) {
                count += 1
                return exchange
            }
        }
        return nil
    }
}
#endif
