import Dispatch
import Foundation
import SwitchboardText

/// One HTTP request as a value: changing a copy never changes the original.
public struct NetworkRequest: Sendable, Identifiable {
    /// Tells requests apart, in logs for instance.
    public struct ID: Hashable, Sendable, CustomStringConvertible {
        // The identity of an object is unique for as long as anybody holds the id, and costs less than a random number.
        // Its birth tells it from those that had its place in memory before, in a log.
        private final class Token: Sendable {
            let birth = DispatchTime.now().uptimeNanoseconds
        }

        private let token = Token()

        /// A short text that tells requests apart in a log.
        public var description: String {
            let place = UInt64(UInt(bitPattern: ObjectIdentifier(token)))
            return String(token.birth &* 0x9E37_79B9_7F4A_7C15 ^ place, radix: 36)
        }

        /// Whether two ids are of the same request or its copies.
        public static func == (one: ID, other: ID) -> Bool { one.token === other.token }

        /// Hashes what `==` compares.
        public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(token)) }
    }

    /// The same for all requests of a call; different for each request made anew.
    public internal(set) var id = ID()
    /// The method.
    public var method: HTTPMethod { didSet { isReady = false } }
    /// The header fields. Those of the body give way to them.
    public var headers: HTTPHeaders { didSet { isReady = false } }
    /// What is sent.
    public var body: any HTTPBody { didSet { isReady = false } }
    /// The typed options set for this request.
    public var options: RequestOptions {
        get { currentOptions }
        _modify {
            // Other options do not change where the request has been.
            let trail = currentOptions.trail
            defer { currentOptions.trail = trail.joined(currentOptions.trail) }
            yield &currentOptions
        }
    }
    private var currentOptions: RequestOptions
    /// Where the request has been, and may go.
    package var trail: RequestTrail {
        get { currentOptions.trail }
        set { currentOptions.trail = newValue }
    }
    /// The endpoint that the request was made for. Its protocol belongs to a higher layer, which casts it back: stubs and
    /// mocks match requests by the cases of an API, and errors and logs name it.
    package internal(set) var endPoint: (any Sendable)?
    /// What happened so far in the call that sends it; nil outside of a router.
    package var call: CallRecord?
    /// Why it is sent once more by its session; nil the first time.
    var repetition: Repetition?
    private var target: Target { didSet { isReady = false } }
    /// Whether it was checked and its body encoded, and nothing of that has changed since; see ``ready(isURLChecked:completing:)``.
    var isReady = false

    /// Where a request goes: a URL at hand, or parts that were set one by one.
    private enum Target: Sendable {
        case url(URL?)
        // Behind a reference: few requests have parts, and every request is copied.
        indirect case parts(URLParts, URL?)
    }

    /// Makes a request. Nothing is checked here; ``validate()`` is called before it is sent.
    public init(
        _ method: HTTPMethod = .get, _ url: URL?, headers: HTTPHeaders = [:], body: any HTTPBody = EmptyBody(),
        options: RequestOptions = RequestOptions()
    ) {
        self.method = method
        target = .url(url)
        self.headers = headers
        self.body = body
        currentOptions = options
    }

    /// Where the request goes. Nil when none was given, or when ``scheme``, ``host``, ``path`` and ``query`` make no
    /// URL together.
    public var url: URL? {
        get {
            switch target {
            case .url(let url), .parts(_, let url): url
            }
        }
        set { target = .url(newValue) }
    }

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
        case .url(let url): URLParts(url)
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

    func checkedURL() throws(NetworkError) -> URL {
        switch target {
        case .url(let url?):
            try URLText.check(url)
            return url
        case .url(nil): throw NetworkError(.missingURL)
        case .parts(let parts, _): return try parts.url
        }
    }
}
