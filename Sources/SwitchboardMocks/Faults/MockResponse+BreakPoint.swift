extension MockResponse {
    /// A point of an exchange at which a ``MockServer`` closes, resets or stalls.
    ///
    /// The points in the request come before it is complete, so a ``MockServer`` does not record such a request. When a connection
    /// breaks without an answer, a client may send its request again on a new one, and take the next response of the
    /// queue. libcurl and URLSession do so when the connection was kept alive.
    public struct BreakPoint: Sendable, Hashable, CustomStringConvertible {
        enum Location: Sendable, Hashable {
            case accept, requestLine, requestHead
            case requestBody(after: Int)
            case response, statusLine, head
            case body(after: Int)
        }

        let location: Location

        /// The moment the connection is open. On a connection that was kept alive, the moment after the next request's
        /// line.
        public static let accept = BreakPoint(location: .accept)
        /// After the first line of the request.
        public static let requestLine = BreakPoint(location: .requestLine)
        /// After the header fields of the request, before its body is read.
        public static let requestHead = BreakPoint(location: .requestHead)

        /// Creates a point after this many bytes of the request's body, or after all of it when it is shorter.
        public static func requestBody(after count: Int) -> BreakPoint {
            BreakPoint(location: .requestBody(after: max(0, count)))
        }

        /// After the whole request, before the first byte of the response.
        public static let response = BreakPoint(location: .response)
        /// After the response's status line.
        public static let statusLine = BreakPoint(location: .statusLine)
        /// After the response's header fields.
        public static let head = BreakPoint(location: .head)

        /// Creates a point after this many bytes of the response's body. The head announces the whole body, or one byte
        /// more when the count does not cut the body. A chunked body lacks its last chunk.
        public static func body(after count: Int) -> BreakPoint {
            BreakPoint(location: .body(after: max(0, count)))
        }

        /// The point in words.
        public var description: String {
            switch location {
            case .accept: "on accept"
            case .requestLine: "after the request line"
            case .requestHead: "after the request's head"
            case .requestBody(let count): "after \(count) bytes of the request's body"
            case .response: "before the response"
            case .statusLine: "after the status line"
            case .head: "after the head"
            case .body(let count): "after \(count) bytes"
            }
        }

        /// The part of the request that must be read, or nil for a point in the response.
        var requestStage: Int? {
            switch location {
            case .accept: 0
            case .requestLine: 1
            case .requestHead: 2
            case .requestBody: 3
            case .response, .statusLine, .head, .body: nil
            }
        }
    }
}
