import Foundation

/// The response of a server, whatever its status.
public struct NetworkResponse: Sendable {
    /// The status code, as the server sent it: usually 100 to 599.
    public var statusCode: Int
    /// The header fields. Repeated fields are separate if the session can distinguish them.
    public var headers: HTTPHeaders
    /// The body, after decompression. Empty for a download, see ``fileURL``.
    public var body: Data
    /// The URL of the response: the last one if redirects were followed. By default that of the request.
    public var url: URL? {
        get { ownURL ?? request?.url }
        set { ownURL = newValue }
    }
    /// The URL that a session reported. Nil if it is the request's.
    private(set) var ownURL: URL?
    /// The request of this response: the last one if redirects were followed.
    public var request: NetworkRequest?
    /// The file that contains a downloaded body.
    public var fileURL: URL?
    /// The fields after a chunked body ([RFC 9110 §6.5](https://www.rfc-editor.org/rfc/rfc9110#section-6.5)). Empty
    /// with URLSession, which does not report them.
    public var trailers = HTTPHeaders()
    /// The measurements of the exchange.
    public var metrics: ExchangeMetrics {
        get { measured?.value ?? ExchangeMetrics() }
        set { measured = CopyOnWrite(newValue) }
    }
    /// The measurements, or nil if the session made none.
    private(set) var measured: CopyOnWrite<ExchangeMetrics>?
    /// The age of a cached response, as in its `Age` field. Close to zero if the server has just confirmed it. Nil for
    /// a response from the server.
    public package(set) var cacheAge: Duration?
    /// Whether an equal request's exchange produced this response, which may then be older than its own request.
    package var isShared = false
    /// The body that is still arriving, if the request asked for a stream.
    package var stream: ResponseBytes?

    /// Creates a response, in an interceptor or a stub.
    public init(status: Int, headers: HTTPHeaders = [:], body: Data = Data(), url: URL? = nil) {
        statusCode = status
        self.headers = headers
        self.body = body
        ownURL = url
    }

    /// The body in chunks. With ``RequestOptions/streamsResponse`` they arrive while they are read; otherwise they come
    /// from ``body``. Set this property in an interceptor that changes the body, or in a custom session.
    public var bytes: ResponseBytes {
        get { stream ?? ResponseBytes(body) }
        set { stream = newValue }
    }

    /// The body as text, in the charset of its `Content-Type`: UTF-8, unless it is ISO 8859-1 or UTF-16. Invalid bytes
    /// become U+FFFD.
    public var text: String {
        let type = (headers["Content-Type"] ?? "").lowercased()
        if type.contains("charset=iso-8859-1") || type.contains("charset=latin1") {
            return String(data: body, encoding: .isoLatin1) ?? ""
        }
        if type.contains("charset=utf-16"), let text = String(data: body, encoding: .utf16) { return text }
        return String(decoding: body, as: UTF8.self)
    }

    /// The response as a Foundation type, created on each access, for code that needs a `URLResponse`. Nil without a
    /// URL.
    public var urlResponse: HTTPURLResponse? {
        guard let url else { return nil }
        return HTTPURLResponse(
            url: url, statusCode: statusCode, httpVersion: metrics.protocolVersion, headerFields: headers.joinedByName)
    }
}

extension NetworkResponse: CustomStringConvertible, CustomReflectable {
    /// Status, size and URL, with secrets redacted.
    public var description: String {
        let size = fileURL == nil ? "\(body.count) bytes" : "\(metrics.bytesReceived) bytes received for a file"
        let place = url.map { " from \(Redaction.standard.url($0.absoluteString))" } ?? ""
        return "\(statusCode), \(size)\(place)"
    }

    /// A mirror with only the redacted line, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
