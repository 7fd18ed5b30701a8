import Dispatch
import Foundation
import SwitchboardPlatform
import SwitchboardText

/// One HTTP request as a value: changing a copy never changes the original.
///
/// A request lies behind a reference and is copied when one of several is changed: it passes through many hands, few of which
/// change it.
public struct NetworkRequest: Sendable, Identifiable {
    /// Tells requests apart, in logs for instance. Unique within the process.
    public struct ID: Hashable, Sendable, CustomStringConvertible {
        private static let last = Protected(DispatchTime.now().uptimeNanoseconds)

        private let number = Self.last.withLock { last in
            last += 1
            return last
        }

        /// A short text that tells requests apart in a log.
        public var description: String { String(number &* 0x9E37_79B9_7F4A_7C15, radix: 36) }
    }

    private struct Fields: Sendable {
        var id = ID()
        var method: HTTPMethod
        var headers: HTTPHeaders
        var body: any HTTPBody
        var options: RequestOptions
        var endPoint: (any Sendable)?
        var repetition: Repetition?
        var target: Target
        var isReady = false
    }

    private var fields: CopyOnWrite<Fields>
    /// What happened so far in the call that sends it; nil outside of a router. Not one of the fields: the records of a call hold
    /// requests, and would hold themselves.
    package var call: CallRecord?

    /// The URL of a request: parsed, as the text of checked parts, or as parts that an app set.
    private enum Target: Sendable {
        case url(URL?)
        case text(LazyURL)
        // Behind a reference: few requests have parts.
        indirect case parts(URLParts, URL?)
    }

    /// Makes a request. Nothing is checked here; ``validate()`` is called before it is sent.
    public init(
        _ method: HTTPMethod = .get, _ url: URL?, headers: HTTPHeaders = [:], body: any HTTPBody = EmptyBody(),
        options: RequestOptions = RequestOptions()
    ) {
        fields = CopyOnWrite(
            Fields(method: method, headers: headers, body: body, options: options, target: .url(url)))
    }

    private var target: Target {
        get { fields.value.target }
        set {
            fields.value.target = newValue
            fields.value.isReady = false
        }
    }

    /// The same for all requests of a call; different for each request made anew.
    public internal(set) var id: ID {
        get { fields.value.id }
        set { fields.value.id = newValue }
    }

    /// The method.
    public var method: HTTPMethod {
        get { fields.value.method }
        set {
            fields.value.method = newValue
            fields.value.isReady = false
        }
    }

    /// The header fields. Those of the body give way to them.
    public var headers: HTTPHeaders {
        get { fields.value.headers }
        _modify {
            fields.value.isReady = false
            yield &fields.value.headers
        }
    }

    /// What is sent.
    public var body: any HTTPBody {
        get { fields.value.body }
        _modify {
            fields.value.isReady = false
            yield &fields.value.body
        }
    }

    /// The typed options set for this request.
    public var options: RequestOptions {
        get { fields.value.options }
        _modify {
            // Other options do not change where the request has been.
            let trail = trail.isEmpty ? nil : trail
            defer { if let trail { self.trail = trail.joined(self.trail) } }
            yield &fields.value.options
        }
    }

    /// Where the request has been, and may go.
    package var trail: RequestTrail {
        get { fields.value.options.trail }
        set { fields.value.options.trail = newValue }
    }

    /// The endpoint that the request was made for. Its protocol belongs to a higher layer, which casts it back: stubs and
    /// mocks match requests by the cases of an API, and errors and logs name it.
    package internal(set) var endPoint: (any Sendable)? {
        get { fields.value.endPoint }
        set { fields.value.endPoint = newValue }
    }

    /// Why it is sent once more by its session; nil the first time.
    var repetition: Repetition? {
        get { fields.value.repetition }
        set { fields.value.repetition = newValue }
    }

    /// Whether it was checked and its body encoded, and nothing of that has changed since; see
    /// ``makeReady(isURLChecked:completing:)``.
    var isReady: Bool {
        get { fields.value.isReady }
        set { fields.value.isReady = newValue }
    }

    /// Where the request goes. Nil when none was given, or when ``scheme``, ``host``, ``path`` and ``query`` make no
    /// URL together.
    public var url: URL? {
        get {
            switch fields.value.target {
            case .url(let url), .parts(_, let url): url
            case .text(let text): text.url
            }
        }
        set { target = .url(newValue) }
    }

    /// The text of ``url``, which need not be parsed for it.
    var urlText: String? {
        if case .text(let text) = fields.value.target { text.text } else { url?.absoluteString }
    }

    /// Goes to a URL that was made of checked parts.
    mutating func go(to text: LazyURL) { target = .text(text) }

    /// The value of a typed option: what was set, or its default.
    public subscript<Option: RequestOption>(option: Option.Type) -> Option.Value {
        get { options[option] }
        set { options[option] = newValue }
    }

    /// How long the parts of the call may take.
    public var timeouts: Timeouts {
        get { options.timeouts }
        set { options.timeouts = newValue }
    }

    /// How much the response may hold.
    public var limits: ResponseLimits {
        get { options.limits }
        set { options.limits = newValue }
    }
}

// MARK: - Parts of the URL

extension NetworkRequest {
    /// `https`, unless it is set or the URL has another.
    public var scheme: String {
        get { parts.scheme }
        set { change { $0.scheme = newValue } }
    }

    /// The host, without port and user; empty when none was set. An IPv6 address stands in brackets. Setting it drops a
    /// user and password that stood before the one there was.
    public var host: String {
        get { parts.host }
        set { change { $0.setHost(newValue) } }
    }

    /// The port, or nil for the scheme's own.
    public var port: Int? {
        get { parts.port }
        set { change { $0.port = newValue } }
    }

    /// The path as it is sent: `/` where the URL has none ([RFC 9110
    /// §4.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-4.2.3)), and empty only while there is no host either. What
    /// may not stand in a path is escaped when it is set, and a slash is put before it. ``FoundationSession`` sends it
    /// without segments of dots.
    public var path: String {
        get {
            let parts = sentParts
            return parts.path.isEmpty && !parts.host.isEmpty ? "/" : parts.path
        }
        set {
            guard newValue != path else { return }  // a URL without a path stays as it is
            change { $0.path = newValue }
        }
    }

    /// The query as it is sent, without its question mark; nil when there is none. What may not stand in a query is
    /// escaped when it is set.
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

    /// The parts as they are sent, or as they were set while they make no URL.
    private var sentParts: URLParts {
        if case .parts(_, let url?) = target { URLParts(url) } else { parts }
    }

    private mutating func change(_ change: (inout URLParts) -> Void) {
        var parts = parts
        change(&parts)
        target = .parts(parts, try? parts.url)
    }

    /// Refuses a URL that no request can go to. One made of checked parts need not be parsed for it.
    func checkURL() throws(NetworkError) {
        if case .text = target { return }
        _ = try checkedURL()
    }

    func checkedURL() throws(NetworkError) -> URL {
        switch target {
        case .url(let url?):
            try URLText.check(url)
            return url
        case .url(nil): throw NetworkError(.missingURL)
        case .text(let text):
            guard let url = text.url else {
                let text = Redaction.standard.url(text.text).quotedForMessage
                throw NetworkError(.invalidRequest, reason: "\(text) is not a URL")
            }
            return url
        case .parts(let parts, _): return try parts.url
        }
    }
}
