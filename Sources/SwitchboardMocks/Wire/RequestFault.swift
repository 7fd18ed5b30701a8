/// An error in a request, with the status to answer. The connection is closed afterwards.
struct RequestFault: Error {
    let status: Int
    let reason: String

    init(_ status: Int, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    /// Creates a fault with status 400.
    init(_ reason: String) {
        self.init(400, reason)
    }

    var response: MockResponse {
        .text("MockServer: \(reason)\n", status: status)
    }
}
