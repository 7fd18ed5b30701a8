import Foundation

/// How fast an answer comes. All zero or nil: at once.
struct Pace: Sendable, Equatable {
    /// How long the answer is held back once the request is read.
    var delay = Duration.zero
    /// The time between two chunks of the body.
    var betweenChunks = Duration.zero
    /// The time between two bytes of the whole answer, head included.
    var betweenBytes = Duration.zero
    var bytesPerSecond: Int?

    /// How long a body takes that comes in so many chunks.
    func time(for count: Int, inChunks chunks: Int) -> Duration {
        var time = betweenChunks * max(0, chunks - 1) + betweenBytes * count
        if let bytesPerSecond { time += .seconds(Double(count) / Double(bytesPerSecond)) }
        return time
    }
}
