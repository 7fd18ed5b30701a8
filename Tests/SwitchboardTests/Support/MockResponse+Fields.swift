import Switchboard
import SwitchboardTesting

extension MockResponse {
    /// Returns the response with a header field.
    func with(_ name: String, _ value: String) -> MockResponse {
        var response = self
        response.headers[name] = value
        return response
    }
}
