import Switchboard

extension MockResponse {
    /// Creates a redirect, with `location` as written in its `Location` field. The default status is 302.
    public static func redirect(to location: String, status: Int = 302, headers: HTTPHeaders = [:]) -> MockResponse {
        MockResponse(status: status, headers: headers.merging(["Location": location]))
    }

    /// A redirect to itself, for every request that follows. A router throws
    /// ``/Switchboard/NetworkError/Code/tooManyRedirects`` for it.
    public static var redirectLoop: MockResponse { redirect(to: "/loop").repeated() }
}
