import Switchboard
import SwitchboardTesting

extension MockResponse {
    /// Returns the response with a header field.
    func with(_ name: String, _ value: String) -> MockResponse {
        var response = self
        response.headers[name] = value
        return response
    }

    /// Returns the response with changed header fields.
    func with(_ change: (inout HTTPHeaders) -> Void) -> MockResponse {
        var response = self
        change(&response.headers)
        return response
    }

    /// Returns the response with these cookies.
    func setting(_ cookies: String...) -> MockResponse {
        with { headers in for cookie in cookies { headers.add("Set-Cookie", cookie) } }
    }
}
