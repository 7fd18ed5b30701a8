import Foundation
import SwitchboardPlatform

extension MockResponse {
    /// Returns this response, delayed after the request is read. Delays add up.
    ///
    /// A server drops the answer when its client leaves during the delay, or during a pause of ``paced(every:)`` and
    /// the like. A client that closed only its sending half counts as one that left. A stub waits on its clock, and no
    /// longer than the request's timeouts allow.
    public func delayed(by duration: Duration) -> MockResponse {
        with { $0.pace.delay = ($0.pace.delay + duration.clamped).clamped }
    }

    /// Returns this response in chunks (`Transfer-Encoding: chunked`) of these sizes. The last size applies to all
    /// chunks that follow.
    ///
    /// `.text("abcdefg").chunked(1, 3)` sends `a`, `bcd`, `efg`. Without a size the body is one chunk. The server
    /// writes each chunk separately. HTTP/1.0 has no chunks: such a client receives the plain body up to the end of the
    /// connection. A response with a scripted `Content-Length` is sent in the same pieces, without the framing of chunks.
    /// A stub delivers the chunks one by one when the request streams its response.
    public func chunked(_ sizes: Int...) -> MockResponse {
        with { $0.chunkSizes = sizes.map { max(1, $0) } }
    }

    /// Returns this response in chunks with that time between two of them. Each chunk is one byte unless the response
    /// is already ``chunked(_:)``.
    public func paced(every time: Duration) -> MockResponse {
        with {
            $0.pace.betweenChunks = time.clamped
            $0.chunkSizes = $0.chunkSizes ?? [1]
        }
    }

    /// Returns this response with a body that comes no faster than this many bytes a second. Values below 1 count as 1.
    public func throttled(bytesPerSecond: Int) -> MockResponse {
        with { $0.pace.bytesPerSecond = max(1, bytesPerSecond) }
    }

    /// Returns this response sent one byte at a time, with that time between two bytes, status line and header fields
    /// included. A stub delays only the body.
    public func dripping(every time: Duration) -> MockResponse {
        with { $0.pace.betweenBytes = time.clamped }
    }

    /// Returns this response for `count` requests in a row when it comes from a queue, or for all requests that follow
    /// when `count` is nil.
    ///
    /// A queue never reaches the responses after one that repeats without limit.
    public func repeated(_ count: Int? = nil) -> MockResponse {
        with { $0.repeats = count.map { max(1, $0) } }
    }
}

/// The delays of an answer. When all are zero or nil, the answer comes at once.
struct Pace: Sendable {
    var delay = Duration.zero
    var betweenChunks = Duration.zero
    /// The time between two bytes of the whole answer, head included.
    var betweenBytes = Duration.zero
    var bytesPerSecond: Int?

    /// The longest time without a byte.
    var silence: Duration { max(betweenChunks, betweenBytes) }

    /// Returns the time that a body of `count` bytes takes in that many chunks.
    func time(for count: Int, inChunks chunks: Int) -> Duration {
        var time = betweenChunks * max(0, chunks - 1) + betweenBytes * count
        if let bytesPerSecond { time += .taken(by: Int64(count), at: bytesPerSecond) }
        return time
    }
}
