import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardText

/// A request prepared for comparison: split into parts, with the secrets of known names replaced.
struct ComparedRequest: Sendable {
    let method: String
    let url: String
    /// Scheme, host and port as in `https://h.example:8443`, in lower case and without the scheme's default port.
    let origin: String
    let path: String
    let query: [HAR.Field]
    let headers: HTTPHeaders
    let contentType: String
    /// The body. A `multipart` body has a constant boundary.
    let body: Data

    /// Creates the value from a request that is already masked.
    init(_ request: HAR.Request) {
        method = request.method.uppercased()
        url = request.url
        headers = HTTPHeaders(request.headers)
        let type = headers["Content-Type"] ?? request.postData?.mimeType ?? ""
        contentType = type
        let body = request.postData?.data ?? Data()
        self.body =
            type.multipartBoundary.map { boundary in
                Data(body.pieces(around: Data(boundary.utf8)).joined(separator: Data("boundary".utf8)))
            } ?? body

        let sent = url.prefix { $0 != "#" }
        let authorityStart = sent.range(of: "://")?.upperBound ?? sent.startIndex
        let authority = sent[authorityStart...].prefix { $0 != "/" && $0 != "?" }
        let afterPath = sent[authority.endIndex...].firstIndex(of: "?") ?? sent.endIndex
        path = authority.endIndex == afterPath ? "/" : String(sent[authority.endIndex..<afterPath])
        query = HAR.Field.query(of: url)
        let scheme = sent[..<authorityStart].lowercased()
        var host = (authority.split(separator: "@").last ?? "").lowercased()
        if let port = ["http://": ":80", "https://": ":443"][scheme], host.hasSuffix(port) {
            host.removeLast(port.count)
        }
        origin = scheme + host
    }

    /// Method and URL, on one line.
    var line: String { "\(method) \(url)" }

    /// The value as a request, for custom rules.
    var request: NetworkRequest {
        NetworkRequest(HTTPMethod(rawValue: method), URL(string: url), headers: headers, body: DataBody(body))
    }
}

extension HTTPHeaders {
    /// Creates headers from the fields of an archive.
    init(_ fields: [HAR.Field]) {
        self.init(fields.map { HTTPHeader(name: $0.name, value: $0.value) })
    }
}
