import SwitchboardPlatform
import Foundation
import SwitchboardText

extension URLRequest {
    /// The request as URLSession takes it.
    ///
    /// - Throws: ``NetworkError/Code/unsupported`` for what URLSession cannot do and would get wrong silently.
    init(_ request: NetworkRequest, payload: RequestPayload?) throws(NetworkError) {
        guard let url = request.url else { throw NetworkError(.missingURL) }
        if let what = Self.unsupported(request, url) {
            throw NetworkError(.unsupported, reason: "FoundationSession does not support \(what)")
        }
        let (bareURL, credentials) = url.withLowercasedScheme.withoutUserInfo
        self.init(url: bareURL)
        httpMethod = request.method.rawValue
        httpShouldHandleCookies = false
        var headers = try request.sentHeaders()
        // Some URLSessions send it and some wait to be asked, and are not, here.
        if let credentials, !headers.contains("Authorization") { headers["Authorization"] = "Basic \(credentials)" }
        if let payload {
            headers["Content-Length"] = String(payload.length)
            if URLSessionQuirks.bodiesMustBeStreams || payload.data == nil {
                httpBodyStream = payload.makeInputStream()
            } else {
                httpBody = payload.data
            }
        }
        var fields = headers.joinedByName
        if URLSessionQuirks.blankValueRemovesHeader {
            // A stream of known length is sent with that length, not in chunks; and no media type is made up for a body
            // without one.
            if payload != nil { fields["Transfer-Encoding"] = " " }
            if !headers.contains("Content-Type") { fields["Content-Type"] = " " }
        }
        // Assigned once: setting fields one by one drops a value with a line break silently and costs ten times as
        // much.
        allHTTPHeaderFields = fields
    }

    private static func unsupported(_ request: NetworkRequest, _ url: URL) -> String? {
        if request.timeouts.connect != nil { return "a connect timeout" }
        if request.method == .connect { return "the method CONNECT" }
        if URLSessionQuirks.refusesIPv6Literals,
            url.absoluteString.contains("://[") || url.absoluteString.contains("@[")
        {
            return "IPv6 addresses in URLs on this platform"
        }
        return nil
    }
}

extension URL {
    /// The same URL; a scheme has no case ([RFC 3986 §3.1](https://www.rfc-editor.org/rfc/rfc3986#section-3.1)), but
    /// URLSession on Linux knows the lower one only.
    fileprivate var withLowercasedScheme: URL {
        let text = absoluteString
        guard let colon = text.firstIndex(of: ":"), text[..<colon].contains(where: \.isUppercase) else { return self }
        return URL(string: text[..<colon].lowercased() + text[colon...]) ?? self
    }
}
