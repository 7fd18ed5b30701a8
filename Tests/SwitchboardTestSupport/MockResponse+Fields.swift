import Switchboard
import SwitchboardMocks

extension MockResponse {
    /// Returns the response with a header field.
    package func with(_ name: String, _ value: String) -> MockResponse {
        var response = self
        response.headers[name] = value
        return response
    }

    /// Returns the response with changed header fields.
    package func with(_ change: (inout HTTPHeaders) -> Void) -> MockResponse {
        var response = self
        change(&response.headers)
        return response
    }

    /// Returns the response with these cookies.
    package func setting(_ cookies: String...) -> MockResponse {
        with { headers in for cookie in cookies { headers.add("Set-Cookie", cookie) } }
    }
}
