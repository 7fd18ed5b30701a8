import Switchboard

extension MockResponse {
    /// A redirect: 302 unless another status is given, with a `Location` as written.
    public static func redirect(to location: String, status: Int = 302, headers: HTTPHeaders = [:]) -> MockResponse {
        MockResponse(status: status, headers: headers.merging(["Location": location]))
    }

    /// A redirect to itself, for every request that follows: through a router
    /// ``/Switchboard/NetworkError/Code/tooManyRedirects``.
    public static var redirectLoop: MockResponse { redirect(to: "/loop").repeated() }
}
