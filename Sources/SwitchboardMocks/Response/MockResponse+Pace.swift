import Foundation

extension MockResponse {
    /// This response, held back for a time once the request is read. Delays add up.
    ///
    /// A server notices a client that leaves meanwhile, and drops the answer; a client that closed only its sending
    /// half counts as one that left. A stub waits on its clock, and no longer than the request's timeouts allow.
    public func delayed(by duration: Duration) -> MockResponse {
        var response = self
        response.delay += duration
        return response
    }

    /// This response in chunks (`Transfer-Encoding: chunked`) of these sizes, the last size for all that follow.
    ///
    /// `.text("abcdefg").chunked(1, 3)` sends `a`, `bcd`, `efg`. Without a size the body is one chunk. Every chunk is a
    /// write of its own. HTTP/1.0 knows no chunks: such a client gets the body as it is, up to the end of the
    /// connection. A stub ignores the sizes.
    public func chunked(_ sizes: Int...) -> MockResponse {
        var response = self
        response.chunkSizes = sizes.map { max(1, $0) }
        return response
    }
}
