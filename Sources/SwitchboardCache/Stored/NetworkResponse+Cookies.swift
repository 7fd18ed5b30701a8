import Switchboard

extension HTTPHeaders {
    /// The values of `Set-Cookie`. No stored response has them, but a user agent must process them, whatever the status
    /// ([RFC 6265 §3](https://www.rfc-editor.org/rfc/rfc6265#section-3)).
    var cookies: [String] { values(for: "Set-Cookie") }
}

extension NetworkResponse {
    /// Returns the response with the cookies of responses that it replaces, before its own ones.
    func adding(cookies: [String]) -> NetworkResponse {
        guard !cookies.isEmpty else { return self }
        var response = self
        let own = headers.cookies
        response.headers.remove("Set-Cookie")
        for cookie in cookies + own { response.headers.add("Set-Cookie", cookie) }
        return response
    }
}
