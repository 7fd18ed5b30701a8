import Dispatch
import SwitchboardPlatform
import SwitchboardText
import Foundation

/// One HTTP request as a value. Changing a copy never changes the original.
///
/// The fields have copy-on-write storage, because many layers pass a request on and few change it.
public struct NetworkRequest: Sendable, Identifiable {
    /// Identifies a request, for instance in logs. Unique within the process.
    public struct ID: Hashable, Sendable, CustomStringConvertible {
        private static let last = Protected(DispatchTime.now().uptimeNanoseconds)

        private let number = Self.last.withLock { last in
            last += 1
            return last
        }

        package init() {}

        /// A short text for logs.
        public var description: String { String(number &* 0x9E37_79B9_7F4A_7C15, radix: 36) }
    }

    private struct Fields: Sendable {
        var id = ID()
        var method: HTTPMethod
        var headers: HTTPHeaders
        var body: any HTTPBody
        var options: RequestOptions
        var endPoint: EndPointRecord?
        var isReplay = false
        var target: Target
        var isPrepared = false
        var bodyHeaders: [HTTPHeader]?
        var onBodyEncoded: (@Sendable (inout NetworkRequest) -> Void)?
    }

    private var fields: CopyOnWrite<Fields>
    /// The call that sends this request. Nil outside of a router. It is not in the shared fields, because a call
    /// retains the requests of its exchanges.
    package var call: Call?
    /// Whether a call sends the request. False for a request of a response or an error whose call has ended.
    package var isPartOfCall: Bool { call.map { !$0.isOver } ?? false }
    /// The record of a cache about the response to this request. It is not an option, because it does not affect how
    /// the request is sent.
    package var cacheRecord: (any AnyObject & Sendable)?

    /// The URL of a request: parsed, as the text of checked parts, or as parts set by the app.
    private enum Target: Sendable {
        case url(URL?)
        case text(LazyURL)
        // Indirect, because few requests have parts.
        indirect case parts(URLParts, URL?)
    }

    /// Creates a request. It is not checked here; ``validate()`` checks it before it is sent.
    public init(
        _ method: HTTPMethod = .get, _ url: URL?, headers: HTTPHeaders = [:], body: any HTTPBody = EmptyBody(),
        options: RequestOptions = RequestOptions()
    ) {
        fields = CopyOnWrite(
            Fields(method: method, headers: headers, body: body, options: options, target: .url(url)))
    }

    /// Sets the endpoint, and a URL that was built from checked parts.
    mutating func setTarget(_ url: LazyURL, endPoint: consuming EndPointRecord) {
        target = .text(url)
        fields.value.endPoint = endPoint
    }

    private var target: Target {
        get { fields.value.target }
        set {
            fields.value.target = newValue
            fields.value.isPrepared = false
        }
    }

    /// The identity of the request. All requests of a call share it, and each new request has a new one.
    public package(set) var id: ID {
        get { fields.value.id }
        set { fields.value.id = newValue }
    }

    /// The method.
    public var method: HTTPMethod {
        get { fields.value.method }
        set {
            fields.value.method = newValue
            fields.value.isPrepared = false
        }
    }

    /// The header fields. They take precedence over those of the body.
    public var headers: HTTPHeaders {
        get { fields.value.headers }
        _modify {
            fields.value.isPrepared = false
            yield &fields.value.headers
        }
    }

    /// The body. A new one that has a `Content-Type` of its own, or is empty, removes the header fields that the
    /// previous one added.
    public var body: any HTTPBody {
        get { fields.value.body }
        _modify {
            fields.value.isPrepared = false
            defer { if fields.value.bodyHeaders != nil { removeBodyHeaders() } }
            yield &fields.value.body
        }
    }

    /// Adds the fields of a body that the request does not set. A later body can remove them.
    mutating func addBodyHeaders(_ added: HTTPHeaders) {
        guard !added.isEmpty else { return }
        fields.value.bodyHeaders = (fields.value.bodyHeaders ?? []) + added.filter { !headers.contains($0.name) }
        headers.addMissing(added)
    }

    /// Removes the fields that an earlier body added, if the body now describes itself or is empty. The bytes of an
    /// earlier body, and what a wrapper makes of them, keep the fields that they do not state.
    private mutating func removeBodyHeaders() {
        let own: HTTPHeaders = body.isEmpty ? [:] : body.additionalHeaders
        let describesItself = body.isEmpty || own.contains("Content-Type")
        for field in fields.value.bodyHeaders ?? []
        where (describesItself || own.contains(field.name)) && own.values(for: field.name) != [field.value] {
            fields.value.bodyHeaders?.removeAll { $0.name.equalsIgnoringCase(field.name) }
            if headers.values(for: field.name) == [field.value] { headers.remove(field.name) }
        }
    }

    /// The typed options of this request.
    public var options: RequestOptions {
        get { fields.value.options }
        _modify {
            // New options do not change the history of the request.
            let route = route.isEmpty ? nil : route
            defer { if let route { self.route = route.merging(self.route) } }
            yield &fields.value.options
        }
    }

    /// The history of the request, and the rules for other origins.
    var route: RequestRoute {
        get { fields.value.options.route }
        set { fields.value.options.route = newValue }
    }

    package var endPoint: EndPointRecord? { fields.value.endPoint }

    /// Whether the session sends the request again, after the connection of the first exchange ended.
    var isReplay: Bool {
        get { fields.value.isReplay }
        set { fields.value.isReplay = newValue }
    }

    /// Whether the request was validated, its body encoded, and nothing changed since. See ``encodeAndValidate()``.
    var isPrepared: Bool {
        get { fields.value.isPrepared }
        set { fields.value.isPrepared = newValue }
    }

    /// A closure that adds header fields when the body has been encoded, and may be empty. Nil afterward.
    var onBodyEncoded: (@Sendable (inout NetworkRequest) -> Void)? {
        get { fields.value.onBodyEncoded }
        set { fields.value.onBodyEncoded = newValue }
    }

    /// The destination of the request. Nil if none was given, or if ``scheme``, ``host``, ``path`` and ``query`` do not
    /// form a URL.
    public var url: URL? {
        get {
            switch fields.value.target {
            case .url(let url), .parts(_, let url): url
            case .text(let text): text.url
            }
        }
        set { target = .url(newValue) }
    }

    /// The text of ``url``, without parsing it.
    package var urlText: String? {
        if case .text(let text) = fields.value.target { text.text } else { url?.absoluteString }
    }

    /// The value of a typed option of `options`, or its default if it is not set.
    public subscript<Option: RequestOption>(option: Option.Type) -> Option.Value {
        @inlinable get { options[option] }
        set { options[option] = newValue }
    }

    /// The time limits for the parts of a call: `options.timeouts`.
    public var timeouts: Timeouts {
        get { options.timeouts }
        set { options.timeouts = newValue }
    }

    /// The size limits for the response: `options.limits`.
    public var limits: ResponseLimits {
        get { options.limits }
        set { options.limits = newValue }
    }
}

// MARK: - Parts of the URL

extension NetworkRequest {
    /// The scheme of the URL, or `https` if none is set.
    public var scheme: String {
        get { parts.scheme }
        set { change { $0.scheme = newValue } }
    }

    /// The host, without port and user. Empty if none is set. An IPv6 address is enclosed in brackets. Setting another
    /// host removes the URL's user and password.
    public var host: String {
        get { parts.host }
        set { change { $0.setHost(newValue) } }
    }

    /// The port, or nil for the default of the scheme.
    public var port: Int? {
        get { parts.port }
        set { change { $0.port = newValue } }
    }

    /// The path as it is sent. `/` if the URL has none ([RFC 9110
    /// §4.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-4.2.3)), and empty only without a host. Setting it
    /// escapes characters that a path cannot contain and adds a leading slash; a segment of escaped dots makes the
    /// request invalid. ``FoundationSession`` removes segments of dots.
    public var path: String {
        get {
            let parts = sentParts
            return parts.path.isEmpty && !parts.host.isEmpty ? "/" : parts.path
        }
        set {
            guard !newValue.hasBytes(of: path) else { return }  // keeps a URL without a path unchanged
            change { $0.path = newValue }
        }
    }

    /// The query as it is sent, without its question mark. Nil if the URL has none. Setting it escapes characters that
    /// a query cannot contain.
    public var query: String? {
        get { sentParts.query }
        set { change { $0.query = newValue } }
    }

    private var parts: URLParts {
        switch target {
        case .url, .text: URLParts(url)
        case .parts(let parts, _): parts
        }
    }

    /// The parts as they are sent, or the set parts if they form no URL.
    private var sentParts: URLParts {
        if case .parts(_, let url?) = target { URLParts(url) } else { parts }
    }

    private mutating func change(_ change: (inout URLParts) -> Void) {
        var parts = parts
        change(&parts)
        target = .parts(parts, try? parts.url)
    }

    /// Throws for an invalid URL. A URL built from checked parts is not parsed.
    func checkURL() throws(NetworkError) {
        if case .text = target { return }
        _ = try checkedURL()
    }

    /// The URL, unchecked. Throws the reason why there is none.
    var requiredURL: URL {
        get throws(NetworkError) {
            if let url { return url }
            return try checkedURL()
        }
    }

    func checkedURL() throws(NetworkError) -> URL {
        switch target {
        case .url(let url?):
            try URLText.check(url)
            return url
        case .url(nil): throw NetworkError(.missingURL)
        case .text(let text):
            guard let url = text.url else {
                throw NetworkError(.invalidRequest, reason: "\(text.text.quotedURLForMessage) is not a URL")
            }
            return url
        case .parts(let parts, _): return try parts.url
        }
    }
}

/// The endpoint of a request, and the members that were read when the request was built.
///
/// An endpoint may belong to an actor, so another thread must not read its members.
package struct EndPointRecord: @unchecked Sendable {  // `endPoint` is only reflected, cast and compared
    package let endPoint: Any
    /// The path below the base URL, before it is escaped.
    package let path: String
    package let method: HTTPMethod
    /// The query of the task, escaped, without the queries of path and base URL.
    package let query: [UInt8]
    /// The body of the task. Nil for none.
    package let body: (any HTTPBody)?

    package init(
        _ endPoint: Any, path: String = "", method: HTTPMethod = .get, query: [UInt8] = [],
        body: (any HTTPBody)? = nil
    ) {
        self.endPoint = endPoint
        self.path = path
        self.method = method
        self.query = query
        self.body = body
    }

    /// The type and case, without associated values, which may be secrets: `MovieApi.newMovies`.
    package var name: String { Self.name(of: endPoint) }

    package static func name(of endPoint: Any) -> String {
        let type = String(describing: type(of: endPoint))
        let mirror = Mirror(reflecting: endPoint)
        guard mirror.displayStyle == .enum else { return type }
        return "\(type).\(mirror.children.first?.label ?? String(describing: endPoint))"
    }
}
