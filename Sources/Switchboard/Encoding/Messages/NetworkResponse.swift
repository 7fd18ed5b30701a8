import SwitchboardText
import Foundation

/// The response of a server, whatever its status.
public struct NetworkResponse: Sendable {
    /// The status code, as the server sent it: usually 100 to 599.
    public var statusCode: Int
    /// The header fields. Repeated fields are separate if the session can distinguish them.
    public var headers: HTTPHeaders
    /// The body, after decompression. Over ``CurlSession``, a body in an unknown content encoding stays encoded. Empty
    /// for a download, see ``fileURL``.
    public var body: Data
    /// The URL of the response: the last one if redirects were followed. By default that of the request.
    public var url: URL? {
        get { reportedURL ?? request?.url }
        set { reportedURL = newValue }
    }
    /// The URL that a session reported. Nil if it is the URL of the request.
    private(set) var reportedURL: URL?
    /// The request of this response: the last one if redirects were followed.
    public var request: NetworkRequest?
    /// The file that contains a downloaded body.
    public var fileURL: URL?
    /// The fields after a chunked body ([RFC 9110 §6.5](https://www.rfc-editor.org/rfc/rfc9110#section-6.5)). Empty
    /// with URLSession, which does not report them, and for a streamed response, whose body has yet to arrive.
    public var trailers = HTTPHeaders()
    /// The measurements of the exchange. Mostly empty for a streamed response, whose body has yet to arrive.
    public var metrics: ExchangeMetrics {
        get { measured?.value ?? ExchangeMetrics() }
        set { measured = CopyOnWrite(newValue) }
    }
    /// The measurements, or nil if the session made none.
    private(set) var measured: CopyOnWrite<ExchangeMetrics>?
    /// The age of a cached response, as in its `Age` field. Close to zero if the server has just confirmed it. Nil for
    /// a response from the server.
    public package(set) var cacheAge: Duration?
    /// Whether the exchange of an equal request produced this response, which may be older than its own request.
    package var isShared = false
    package var isStub = false
    /// The body that is still arriving, for a streamed response.
    package var stream: ResponseBytes?

    /// Creates a response, in an interceptor or a stub.
    public init(statusCode: Int, headers: HTTPHeaders = [:], body: Data = Data(), url: URL? = nil) {
        self.statusCode = statusCode
        self.headers = headers
        self.body = body
        reportedURL = url
    }

    /// The body in chunks. With ``RequestOptions/streamsResponse`` they arrive while they are read; otherwise they come
    /// from ``body``. Set it in an interceptor that changes a streamed body, or in a custom session. For a response in
    /// memory, change ``body``.
    public var bytes: ResponseBytes {
        get {
            var bytes = stream ?? ResponseBytes(body)
            bytes.origin = request
            return bytes
        }
        set { stream = newValue }
    }

    /// The body as text, in the charset of its `Content-Type`: UTF-8, unless it is ISO 8859-1 or UTF-16. A body that is not
    /// valid UTF-16 is read as UTF-8. Invalid bytes become U+FFFD. A byte-order mark of UTF-8 is removed.
    public var text: String {
        headers.contentType?.charset.flatMap { body.text(inCharset: $0) }
            ?? String(decoding: body.withoutMark, as: UTF8.self)
    }

    /// The response as a Foundation type, created on each access, for code that needs a `URLResponse`. Nil without a
    /// URL.
    public var urlResponse: HTTPURLResponse? {
        guard let url else { return nil }
        return HTTPURLResponse(
            url: url, statusCode: statusCode, httpVersion: metrics.protocolVersion, headerFields: headers.joinedByName)
    }
}

extension NetworkResponse: DumpedAsDescription {
    /// Status, size and URL, with secrets redacted.
    public var description: String {
        let size = fileURL == nil ? "\(body.count) bytes" : "\(metrics.bytesReceived) bytes received for a file"
        let redaction = request?.redaction(extending: .standard) ?? .standard
        let source = url.map { " from \(redaction.url($0.absoluteString))" } ?? ""
        return "\(statusCode), \(size)\(source)"
    }
}

extension NetworkResponse {
    /// Returns the length that the head announces for the body. Nil for a response without a body ([RFC 9110
    /// §6.4.1](https://www.rfc-editor.org/rfc/rfc9110#section-6.4.1)) and for a compressed one, whose length changes.
    package func announcedLength(of method: HTTPMethod) -> Int64? {
        headers.isEncoded ? nil : announcedSize(of: method)
    }

    /// Returns the number of bytes on the wire that the head announces, or nil. `Int64.max` for a number that is too
    /// large.
    func announcedSize(of method: HTTPMethod) -> Int64? {
        guard method != .head, statusCode != 204, statusCode != 304 else { return nil }
        guard !headers.contains("Transfer-Encoding"), let length = lengths.first, !length.isEmpty else { return nil }
        return length.isDigits ? Int64(length) ?? .max : nil
    }

    /// Throws if a head is too large, or has a length that is not a number, or conflicting lengths ([RFC 9112
    /// §6.3](https://www.rfc-editor.org/rfc/rfc9112#section-6.3)).
    package func checkHeaders(_ limits: ResponseLimits) throws(NetworkError) {
        let lengths = lengths
        guard Set(lengths).count < 2, lengths.allSatisfy(\.isDigits) else { throw Self.badLengths }
        let size = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard size > limits.responseHeaders else { return }
        throw NetworkError(
            .headersTooLarge, reason: "it has \(size) bytes, limits.responseHeaders is \(limits.responseHeaders)")
    }

    static let badLengths = NetworkError(
        .invalidResponse, reason: "it has invalid or conflicting Content-Length fields (RFC 9112 §6.3)")

    private var lengths: [String] {
        headers.values(for: "Content-Length").flatMap { $0.split(separator: ",") }.map { String($0).trimmedOfBlanks }
    }
}

extension String {
    fileprivate var isDigits: Bool { utf8.allSatisfy(\.isDigit) }
}

extension NetworkRequest {
    package func streams(_ status: Int) -> Bool {
        options.streamsResponse && ((200..<300).contains(status) || options.streamsEveryStatus)
    }
}

extension HTTPHeaders {
    /// Creates fields from URLSession's response, which has one entry for each name, with repeated values joined.
    /// `Set-Cookie` must not be joined, so its cookies are split again.
    package init(_ response: HTTPURLResponse) {
        var fields: [HTTPHeader] = []
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            if name.equalsIgnoringCase("Set-Cookie") {
                fields += value.splitIntoCookies.map { HTTPHeader(name: name, value: $0) }
            } else {
                fields.append(HTTPHeader(name: name, value: value.withoutLineEnds))
            }
        }
        // The order of a dictionary is random. Cookies keep their order, because the sort is stable for equal names.
        self.init(fields.sorted(byName: \.name))
    }
}

extension String {
    /// The text with a blank for each CR, LF and NUL ([RFC 9110
    /// §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)).
    fileprivate var withoutLineEnds: String {
        let isReplaced: (UInt8) -> Bool = { $0 == 0x0D || $0 == 0x0A || $0 == 0 }
        guard utf8.contains(where: isReplaced) else { return self }
        return String(decoding: utf8.map { isReplaced($0) ? 0x20 : $0 }, as: UTF8.self)
    }
}
