import Foundation

/// What the server answered, whatever its status.
public struct NetworkResponse: Sendable {
    /// The status code, 100 to 599 and beyond as the server sent it.
    public var statusCode: Int
    /// The header fields, repeats apart where the session can tell them.
    public var headers: HTTPHeaders
    /// The body, after decompression. Empty for a download, see ``fileURL``.
    public var body: Data
    /// The URL that answered: the last one, when redirects were followed. Unless a session says another, that of the request.
    public var url: URL? {
        get { ownURL ?? request?.url }
        set { ownURL = newValue }
    }
    /// What a session says of the URL; nil when it is the request's.
    private(set) var ownURL: URL?
    /// The request that was answered: the last one, when redirects were followed.
    public var request: NetworkRequest?
    /// Where a downloaded body was written.
    public var fileURL: URL?
    /// The fields that came after a chunked body ([RFC 9110
    /// §6.5](https://www.rfc-editor.org/rfc/rfc9110#section-6.5)); URLSession cannot show them.
    public var trailers = HTTPHeaders()
    /// What the exchange took.
    public var metrics: ExchangeMetrics {
        get { measured?.value ?? ExchangeMetrics() }
        set { measured = CopyOnWrite(newValue) }
    }
    /// The same; nil when a session measured nothing.
    private(set) var measured: CopyOnWrite<ExchangeMetrics>?
    /// How old it is, when a `ResponseCache` had it: as its `Age` field says; nothing when the server just said that it is
    /// still right. Nil when it came from the server.
    public package(set) var cacheAge: Duration?
    /// Whether it was sent for an equal request: it may be older than its own request.
    package var isShared = false
    /// What is still arriving, when the request asked for a stream.
    package var stream: ResponseBytes?

    /// Makes a response, in an interceptor or a stub.
    public init(status: Int, headers: HTTPHeaders = [:], body: Data = Data(), url: URL? = nil) {
        statusCode = status
        self.headers = headers
        self.body = body
        ownURL = url
    }

    /// The body in chunks: as it arrives when the request set ``RequestOptions/streamsResponse``, what ``body`` holds
    /// otherwise. Set it in an interceptor that changes what arrives, or in a session of your own.
    public var bytes: ResponseBytes {
        get { stream ?? ResponseBytes(body) }
        set { stream = newValue }
    }

    /// The body as text, by the charset of its `Content-Type`: UTF-8 unless it is ISO 8859-1 or UTF-16. Bytes that do
    /// not fit become U+FFFD.
    public var text: String {
        let type = (headers["Content-Type"] ?? "").lowercased()
        if type.contains("charset=iso-8859-1") || type.contains("charset=latin1") {
            return String(data: body, encoding: .isoLatin1) ?? ""
        }
        if type.contains("charset=utf-16"), let text = String(data: body, encoding: .utf16) { return text }
        return String(decoding: body, as: UTF8.self)
    }

    /// The response as Foundation has it, made anew on each call: for code that wants a `URLResponse`. Nil when there
    /// is no URL.
    public var urlResponse: HTTPURLResponse? {
        guard let url else { return nil }
        return HTTPURLResponse(
            url: url, statusCode: statusCode, httpVersion: metrics.protocolVersion, headerFields: headers.joinedByName)
    }
}

extension NetworkResponse: CustomStringConvertible, CustomReflectable {
    /// Status, size and where it came from, secrets replaced.
    public var description: String {
        let size = fileURL == nil ? "\(body.count) bytes" : "\(metrics.bytesReceived) bytes in a file"
        let place = url.map { " from \(Redaction.standard.url($0.absoluteString))" } ?? ""
        return "\(statusCode), \(size)\(place)"
    }

    /// Shows the redacted line only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
