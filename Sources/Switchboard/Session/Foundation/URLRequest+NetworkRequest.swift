import SwitchboardPlatform
import Foundation
import SwitchboardText

extension URLRequest {
    /// Converts a request for URLSession. Throws for an option that URLSession would silently ignore.
    init(
        _ request: NetworkRequest, payload: RequestPayload?, quirks: URLSessionQuirks = .current
    ) throws(NetworkError) {
        guard let url = request.url else { throw NetworkError(.missingURL) }
        if let option = Self.unsupported(request, url, quirks) {
            throw NetworkError(.unsupported, reason: "FoundationSession does not support \(option)")
        }
        // A request has a timeout of 60 seconds by default, which takes precedence over the session's.
        self.init(url: url.withLowercasedScheme.withoutUserInfo.url, timeoutInterval: URLSessionQuirks.timeout)
        httpMethod = request.method.rawValue
        httpShouldHandleCookies = false
        var headers = try request.sentHeaders()
        // URLSession sends the URL's credentials at once or after a challenge, which this session declines.
        if let authorization = request.urlAuthorization { headers.addMissing(["Authorization": authorization]) }
        // A range counts bytes of the coded body, which cannot be decoded from its middle (Fetch,
        // HTTP-network-or-cache fetch).
        if headers.contains("Range") { headers.addMissing(["Accept-Encoding": "identity"]) }
        if let payload {
            headers["Content-Length"] = String(payload.length)
            if quirks.bodiesMustBeStreams || payload.data == nil {
                httpBodyStream = payload.makeInputStream()
            } else {
                httpBody = payload.data
            }
        }
        var fields = headers.joinedByName
        if quirks.blankValueRemovesHeader {
            // URLSession then sends a stream of known length with that length instead of in chunks, and adds no media
            // type to a body without one.
            if payload != nil { fields["Transfer-Encoding"] = " " }
            if !headers.contains("Content-Type") { fields["Content-Type"] = " " }
        } else if payload != nil, !headers.contains("Content-Type") {
            // URLSession would send the type of a form. A receiver may assume this type without the field (RFC 9110
            // §8.3).
            fields["Content-Type"] = "application/octet-stream"
        }
        // Assigned once. Setting each field would silently drop a value with a line break, and is ten times slower.
        allHTTPHeaderFields = fields
    }

    /// Converts a request without a body.
    package init(_ request: NetworkRequest) throws(NetworkError) {
        try self.init(request, payload: nil)
    }

    private static func unsupported(
        _ request: NetworkRequest, _ url: URL, _ quirks: URLSessionQuirks
    ) -> String? {
        if request.timeouts.connect != nil { return "a connect timeout" }
        if request.method == .connect { return "the method CONNECT" }
        if quirks.refusesIPv6Literals,
            url.absoluteString.contains("://[") || url.absoluteString.contains("@[")
        {
            return "IPv6 addresses in URLs on this platform"
        }
        return nil
    }
}

extension URL {
    /// The same URL with a lower-case scheme. Schemes ignore case ([RFC 3986
    /// §3.1](https://www.rfc-editor.org/rfc/rfc3986#section-3.1)), but URLSession on Linux accepts only lower case.
    fileprivate var withLowercasedScheme: URL {
        let text = absoluteString
        guard let colon = text.firstIndex(of: ":"), text[..<colon].contains(where: \.isUppercase) else { return self }
        return URL(string: text[..<colon].lowercased() + text[colon...]) ?? self
    }
}
