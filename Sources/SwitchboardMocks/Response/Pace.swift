import Foundation

/// The delays of an answer. When all are zero or nil, the answer comes at once.
struct Pace: Sendable, Equatable {
    /// The delay after the request is read.
    var delay = Duration.zero
    /// The time between two chunks of the body.
    var betweenChunks = Duration.zero
    /// The time between two bytes of the whole answer, head included.
    var betweenBytes = Duration.zero
    var bytesPerSecond: Int?

    /// Returns the time that a body of `count` bytes takes in that many chunks.
    func time(for count: Int, inChunks chunks: Int) -> Duration {
        var time = betweenChunks * max(0, chunks - 1) + betweenBytes * count
        if let bytesPerSecond { time += .seconds(Double(count) / Double(bytesPerSecond)) }
        return time
    }
}
