import Foundation

extension MockResponse {
    /// This response, held back for a time once the request is read. Delays add up.
    ///
    /// A server notices a client that leaves meanwhile, and drops the answer; a client that closed only its sending
    /// half counts as one that left. A stub waits on its clock, and no longer than the request's timeouts allow.
    public func delayed(by duration: Duration) -> MockResponse {
        with { $0.pace.delay += max(.zero, duration) }
    }

    /// This response in chunks (`Transfer-Encoding: chunked`) of these sizes, the last size for all that follow.
    ///
    /// `.text("abcdefg").chunked(1, 3)` sends `a`, `bcd`, `efg`. Without a size the body is one chunk. Every chunk is a
    /// write of its own. HTTP/1.0 knows no chunks: such a client gets the body as it is, up to the end of the
    /// connection. A stub hands the chunks out one by one when the request streams its response.
    public func chunked(_ sizes: Int...) -> MockResponse {
        with { $0.chunkSizes = sizes.map { max(1, $0) } }
    }

    /// This response in chunks with that time between one and the next; one chunk for each byte unless it is
    /// ``chunked(_:)`` already.
    public func paced(every time: Duration) -> MockResponse {
        with {
            $0.pace.betweenChunks = max(.zero, time)
            $0.chunkSizes = $0.chunkSizes ?? [1]
        }
    }

    /// This response with a body that comes no faster than so many bytes a second, at least one.
    public func throttled(bytesPerSecond: Int) -> MockResponse {
        with { $0.pace.bytesPerSecond = max(1, bytesPerSecond) }
    }

    /// This response one byte at a time, status line and header fields too: what a client waits for that has no
    /// limit to its patience.
    public func dripping(every time: Duration) -> MockResponse {
        with { $0.pace.betweenBytes = max(.zero, time) }
    }

    /// This response for so many requests in a row, when it comes from a queue; without a count for all that follow.
    ///
    /// Behind an unlimited one nothing else of the queue is used.
    public func repeated(_ count: Int? = nil) -> MockResponse {
        with { $0.repeats = count.map { max(1, $0) } }
    }
}
