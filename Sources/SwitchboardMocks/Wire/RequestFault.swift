/// What is wrong with a request, and the status that says so. The connection is closed behind it.
struct RequestFault: Error {
    let status: Int
    let reason: String

    init(_ status: Int, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    /// A 400.
    init(_ reason: String) {
        self.init(400, reason)
    }

    var response: MockResponse {
        .text("MockServer: \(reason)\n", status: status)
    }
}
