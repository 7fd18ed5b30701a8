import SwitchboardPlatform
import SwitchboardText
import Foundation

/// Builds the request for an endpoint. It reads the endpoint and its own settings, and sends nothing.
public struct RequestBuilder: Sendable {
    /// Header fields for every request. Those of endpoint, task and body override them. Default
    /// `Accept: application/json`.
    public var headers: HTTPHeaders
    /// Options for every request. Those of the endpoint override them. Default none.
    public var options: RequestOptions
    /// The base URL for endpoints that use ``ManagerBaseURL``, or nil without one.
    var baseURL: (@Sendable () throws -> URL)?
    /// Whether every ``URLEndPoint`` counts as an endpoint of the app's own servers. If false, its URL must be at the
    /// origin of ``baseURL``.
    var trustsURLs = true
    /// The manager's environment, in which requests are built. Nil without a manager.
    var environment: Protected<NetworkEnvironment>?

    /// Creates a builder.
    public init(headers: HTTPHeaders = [.accept("application/json")], options: RequestOptions = RequestOptions()) {
        self.headers = headers
        self.options = options
    }

    /// Builds the request for an endpoint, as the interceptors will receive it.
    ///
    /// The precedence of header fields is: task, endpoint, body, this builder. A request has one `Content-Type`, which
    /// describes its body: a request without a body gets none from the builder.
    ///
    /// - Throws: ``NetworkError`` with a code of the kind ``NetworkError/Code/invalidRequest`` when the request cannot
    ///   be built.
    public func makeRequest(for endPoint: some EndPointType) throws(NetworkError) -> NetworkRequest {
        var request = try makeRequest(for: endPoint, options: nil)
        try request.makeReady()
        return request
    }

    /// Reads an endpoint and returns its request. A body in memory is not encoded yet, because the caller may be on the
    /// main actor; ``NetworkRequest/makeReady()`` encodes it.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint to read.
    ///   - callOptions: Options for one call. They override those of the endpoint.
    /// - Returns: The request.
    /// - Throws: ``NetworkError`` with a code of the kind ``NetworkError/Code/invalidRequest``.
    func makeRequest(
        for endPoint: some EndPointType, options callOptions: RequestOptions?
    ) throws(NetworkError) -> NetworkRequest {
        do {
            guard let environment else { return try build(endPoint, callOptions) }
            return try CallEnvironment(startingIn: environment).run {
                var request = try build(endPoint, callOptions)
                request.enter(.current)
                return request
            }
        } catch {
            // The text of a foreign error may contain a secret, so the reason omits it. The error itself is the
            // underlying error.
            let reason = "the endpoint threw a \(type(of: error))"
            throw (error as? NetworkError ?? NetworkError(.invalidRequest, reason: reason, underlying: error))
                .attributed(to: endPoint)
        }
    }

    private func build(_ endPoint: some EndPointType, _ callOptions: RequestOptions?) throws -> NetworkRequest {
        endPoint.sayNearMisses()
        var options = self.options.merging(try endPoint.options._endPointValue).merging(callOptions)
        let task: HTTPTask
        if options.hasValues, let encoder = options.encoder {
            task = try JSONBody.$requestEncoder.withValue(encoder) { try endPoint.task._endPointValue } ?? .request
        } else {
            task = try endPoint.task._endPointValue ?? .request
        }
        if let download = task.download { options.download = download }
        var request = NetworkRequest(
            try endPoint.httpMethod._endPointValue ?? .get, nil,
            headers: (try endPoint.headers._endPointValue ?? [:]).merging(task.headers), options: options)
        let base = try base(of: endPoint)
        let path = endPoint.path
        var text = try URLText(base).appending(path: path)
        let query = try write(task, to: &request, &text)

        let hasBody = !request.body.isEmpty
        let record = EndPointRecord(
            endPoint, path: path, method: request.method, query: query, body: hasBody ? request.body : nil)
        request.goes(to: text.lazyURL, of: record)
        if isForeign(base, of: endPoint) { request.isForeign = true }
        if hasBody {
            if let encoder = options.encoder { request.body = request.body.withEncoder(encoder) }
            if options.compressesBody { compress(&request) }
        }
        let (accept, isDownload) = (callOptions?.accept, task.download != nil)
        if !hasBody || request.body.isStreamed {
            complete(&request, accept, isDownload: isDownload)
            try request.makeReady()
        } else {
            request.completing = { complete(&$0, accept, isDownload: isDownload) }
        }
        return request
    }

    /// Writes a task's body into the request, and its parameters into the body or the query. Returns the items of the
    /// query.
    private func write(_ task: HTTPTask, to request: inout NetworkRequest, _ text: inout URLText) throws -> [UInt8] {
        var query: [UInt8] = []
        switch task.content {
        case .none, .download: break
        case .body(let body): request.body = body
        case .parameters(let parameters, let encoding):
            try write(parameters, by: encoding.bodyEncoder, to: &request, &text, &query)
        case .byMethod(let parameters, let encoding):
            let encoder: any ParameterEncoder = request.method.prefersQuery ? encoding.urlEncoder : encoding.bodyEncoder
            try write(parameters, by: encoder, to: &request, &text, &query)
        }
        if let parameters = task.urlParameters { try task.urlEncoding.append(parameters, to: &query) }
        text.append(query: query)
        return query
    }

    /// Writes parameters with an encoder. Parameters for the query are collected in `query`, which joins the URL once.
    private func write(
        _ parameters: Parameters, by encoder: any ParameterEncoder, to request: inout NetworkRequest,
        _ text: inout URLText, _ query: inout [UInt8]
    ) throws {
        if let encoder = encoder as? URLParameterEncoder { return try encoder.form.append(parameters, to: &query) }
        request.url = try text.url
        do {
            try encoder.encode(parameters, into: &request)
        } catch {
            throw NetworkError.encoding(error)
        }
        guard let url = request.url else { throw NetworkError(.missingURL) }
        text = try URLText(url)
    }

    private func base(of endPoint: some EndPointType) throws -> URL {
        let own = try endPoint.baseURL
        guard let baseURL, own is ManagerBaseURL else { return try own._endPointURL() }
        return try baseURL()
    }

    /// Returns whether a URL may come from a server instead of the app. Requests to such a URL carry no credentials.
    private func isForeign(_ url: URL, of endPoint: some EndPointType) -> Bool {
        guard !trustsURLs, endPoint is URLEndPoint else { return false }
        guard let own = try? baseURL?() else { return true }
        return !url.hasSameOrigin(as: own)
    }

    /// Compresses the body, unless a `Content-Encoding` is set already.
    private func compress(_ request: inout NetworkRequest) {
        let name = "Content-Encoding"
        guard !headers.contains(name), !request.allHeaders.contains(name) else { return }
        request.body = GzipBody(request.body)
    }

    /// Adds the cache directive, the body's fields and this builder's fields, each only if the request has none of that
    /// name.
    private func complete(_ request: inout NetworkRequest, _ accept: String?, isDownload: Bool) {
        if let directive = request.options.cachePolicy.directive, !request.headers.contains("Cache-Control") {
            request.headers.add("Cache-Control", directive)
        }
        let hasBody = !request.body.isEmpty
        if hasBody { request.headers.fill(request.body.additionalHeaders) }
        let foreign = request.isForeign ? request : nil
        var headers = headers
        // "Anything" replaces only the default: a manager's own media type stays.
        if let accept, accept != "*/*" || headers["Accept"] == "application/json" { headers["Accept"] = accept }
        request.headers.fill(headers) { name in
            // The builder's fields are meant for the app's servers.
            if let foreign, !foreign.goesToOtherOrigins(name) { return true }
            // `Content-Type` would describe a body that does not exist; `Accept` would request JSON for a downloaded
            // file.
            return !hasBody && name.equalsIgnoringCase("Content-Type")
                || isDownload && name.equalsIgnoringCase("Accept")
        }
    }
}

extension RequestOptions {
    /// The `Accept` field for a request whose endpoint and task set none. Nil for the builder's.
    var accept: String? {
        get { self[AcceptOption.self] }
        set { self[AcceptOption.self] = newValue }
    }
}

private enum AcceptOption: RequestOption {
    static let defaultValue: String? = nil
}

extension NetworkError {
    /// Returns the error with the endpoint's name, for a failure before the request exists.
    func attributed(to endPoint: some EndPointType) -> NetworkError {
        guard self.endPoint == nil else { return self }
        var error = self
        error.endPoint = EndPointRecord.name(of: endPoint)
        return error
    }
}

extension URLRequest.CachePolicy {
    /// The directive for caches between client and server ([RFC 9111
    /// §5.2.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1)). Nil when the policy needs none.
    fileprivate var directive: String? {
        switch self {
        case .reloadIgnoringLocalAndRemoteCacheData: "no-cache"
        case .reloadRevalidatingCacheData: "max-age=0"
        case .returnCacheDataDontLoad: "only-if-cached"
        default: nil
        }
    }
}
