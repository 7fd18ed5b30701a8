import SwitchboardPlatform
import SwitchboardText
import Foundation

/// Builds the request for an endpoint, and sends nothing.
package struct RequestBuilder: Sendable {
    /// Header fields for every request. Those of endpoint, task and body override them.
    package var headers: HTTPHeaders
    /// Options for every request. Those of the endpoint override them.
    package var options: RequestOptions
    /// The base URL in place of those of the endpoints, to compare requests independently of their server. Default nil.
    package var replacedBaseURL: String?
    /// The base URL for endpoints that use ``ManagerBaseURL``, or nil without one.
    var baseURL: (@Sendable () throws -> URL)?
    /// Whether every ``URLEndPoint`` counts as an endpoint of the app's own servers. If false, its URL must be at the
    /// origin of ``baseURL``.
    var trustsURLs = true
    /// The manager's environment, in which requests are built. Nil without a manager.
    var environment: Protected<NetworkEnvironment>?

    package init(headers: HTTPHeaders = [.accept("application/json")], options: RequestOptions = RequestOptions()) {
        self.headers = headers
        self.options = options
    }

    /// Creates a builder from the parameters of a router or manager. Nil keeps the coder in `options`.
    init(
        _ headers: HTTPHeaders, _ options: RequestOptions, _ monitors: [any EventMonitor],
        _ decoder: (any ResponseDecoder)?, _ encoder: (any RequestEncoder)?
    ) {
        self.init(options: options)
        self.headers.merge(headers)
        if let decoder { self.options.decoder = decoder }
        if let encoder { self.options.encoder = encoder }
        let monitors = monitors.filter { ($0 as? any MessageMonitor)?.isOn ?? true }
        if !monitors.isEmpty { self.options.monitors += monitors }
    }

    /// Builds the request for an endpoint, as the interceptors will receive it.
    ///
    /// The precedence of header fields is: task, endpoint, body, this builder. A request has one `Content-Type`, which
    /// describes its body: a request without a body gets none from the builder.
    ///
    /// - Throws: ``NetworkError`` with a code of the kind ``NetworkError/Code/invalidRequest`` when the request cannot
    ///   be built, or the ``NetworkError`` that the endpoint or its body throws.
    package func makeRequest(
        for endPoint: some EndPointType, options: RequestOptions? = nil
    ) throws(NetworkError) -> NetworkRequest {
        var request = try readRequest(for: endPoint, options: options)
        try request.encodeAndValidate()
        return request
    }

    /// Reads an endpoint and returns its request. A body in memory is not encoded yet, because the caller may be on the
    /// main actor; ``NetworkRequest/encodeAndValidate()`` encodes it.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint to read.
    ///   - callOptions: Options for one call. They override those of the endpoint.
    /// - Returns: The request.
    /// - Throws: ``NetworkError`` with a code of the kind ``NetworkError/Code/invalidRequest``, or the ``NetworkError``
    ///   that the endpoint throws.
    func readRequest(
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
            // The reason omits the text of the error, which may contain a secret.
            let reason = "the endpoint threw a \(type(of: error))"
            throw (error as? NetworkError ?? NetworkError(.invalidRequest, reason: reason, underlying: error))
                .attributed(to: endPoint)
        }
    }

    private func build(_ endPoint: some EndPointType, _ callOptions: RequestOptions?) throws -> NetworkRequest {
        endPoint.printNearMisses()
        var options = self.options.overridden(by: try endPoint.options._endPointValue).overridden(by: callOptions)
        let task: HTTPTask
        if options.hasValues, let encoder = options.encoder {
            task = try JSONBody.$requestEncoder.withValue(encoder) { try endPoint.task._endPointValue } ?? .request
        } else {
            task = try endPoint.task._endPointValue ?? .request
        }
        if let download = task.download, callOptions?.download == nil { options.download = download }
        var request = NetworkRequest(
            try endPoint.httpMethod._endPointValue ?? .get, nil,
            headers: (try endPoint.headers._endPointValue ?? [:]).merging(task.headers), options: options)
        let base = try base(of: endPoint)
        let path = endPoint.path
        var text = try URLText(base)
        try text.append(path: path)
        let query = try write(task, to: &request, &text)

        let hasBody = !request.body.isEmpty
        request.setTarget(
            text.lazyURL,
            endPoint: EndPointRecord(
                endPoint, path: path, method: request.method, query: query, body: hasBody ? request.body : nil))
        if isUntrusted(base, of: endPoint) { request.hasUntrustedURL = true }
        if hasBody {
            if let encoder = options.encoder { request.body = request.body.withEncoder(encoder) }
            if options.compressesBody { compress(&request) }
        }
        let (accept, isDownload) = (callOptions?.accept, task.download != nil)
        if !hasBody || request.body.isStreamed {
            addHeaders(to: &request, accept, isDownload: isDownload)
            try request.encodeAndValidate()
        } else {
            request.onBodyEncoded = { addHeaders(to: &$0, accept, isDownload: isDownload) }
        }
        return request
    }

    /// Writes a task's body into the request, and its parameters into the body or the query. Returns the items of the
    /// query.
    private func write(_ task: HTTPTask, to request: inout NetworkRequest, _ text: inout URLText) throws -> [UInt8] {
        var (query, written): ([UInt8], [UInt8]) = ([], [])
        switch task.content {
        case .none, .download: break
        case .body(let body): request.body = body
        case .parameters(let parameters, let encoding):
            written = try write(parameters, by: encoding.bodyEncoder, to: &request, &text, &query)
        case .byMethod(let parameters, let encoding):
            let encoder: any ParameterEncoder = request.method.prefersQuery ? encoding.urlEncoder : encoding.bodyEncoder
            written = try write(parameters, by: encoder, to: &request, &text, &query)
        }
        if let parameters = task.urlParameters { try task.urlEncoding.append(parameters, to: &query) }
        text.append(query: query)
        return written.isEmpty ? query : query.isEmpty ? written : written + "&".utf8 + query
    }

    /// Writes parameters with an encoder. Parameters for the query are collected in `query`, which joins the URL once.
    /// Returns the query that an encoder of the app wrote into the URL.
    private func write(
        _ parameters: Parameters, by encoder: any ParameterEncoder, to request: inout NetworkRequest,
        _ text: inout URLText, _ query: inout [UInt8]
    ) throws -> [UInt8] {
        if let encoder = encoder as? URLParameterEncoder {
            try encoder.form.append(parameters, to: &query)
            return []
        }
        let before = try text.url
        request.url = before
        do {
            try encoder.encode(parameters, into: &request)
        } catch {
            throw NetworkError.encoding(error, by: "\(type(of: encoder))")
        }
        let url = try request.requiredURL
        guard url != before else { return [] }
        text = try URLText(url)
        let (old, new) = (URLParts(before).query.map { Array($0.utf8) } ?? [], Array((request.query ?? "").utf8))
        return Array(new.starts(with: old) ? new.dropFirst(old.count).drop { $0 == .ampersand } : new[...])
    }

    private func base(of endPoint: some EndPointType) throws -> URL {
        if let replacedBaseURL { return try replacedBaseURL._endPointURL() }
        let own = try endPoint.baseURL
        guard let baseURL, own is ManagerBaseURL else { return try own._endPointURL() }
        return try baseURL()
    }

    /// Returns whether a URL may come from a server instead of the app. Requests to it carry credentials only where
    /// ``CredentialOrigins`` allow its origin.
    private func isUntrusted(_ url: URL, of endPoint: some EndPointType) -> Bool {
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

    /// Adds the cache directive, the body's fields and this builder's fields, except names that the request has.
    private func addHeaders(to request: inout NetworkRequest, _ accept: String?, isDownload: Bool) {
        if let directive = request.options.cachePolicy.directive, !request.headers.contains("Cache-Control") {
            request.headers.add("Cache-Control", directive)
        }
        let hasBody = !request.body.isEmpty
        if hasBody { request.addBodyHeaders(request.body.additionalHeaders) }
        let untrusted = request.hasUntrustedURL ? request : nil
        var headers = headers
        // `*/*` replaces only the default, not the media type of a manager.
        if let accept, accept != "*/*" || headers["Accept"] == "application/json" { headers["Accept"] = accept }
        let isTrace = request.method == .trace
        request.headers.addMissing(headers) { name in
            // The response to TRACE repeats the request (RFC 9110 §9.3.8).
            if isTrace, Redaction.standard.isSecret(header: name) { return true }
            // The builder's fields are for the app's servers.
            if let untrusted, !untrusted.isAllowedCrossOrigin(name) { return true }
            // `Content-Type` would describe a missing body, and the default `Accept` would request JSON for a downloaded
            // file.
            return !hasBody && name.equalsIgnoringCase("Content-Type")
                || isDownload && name.equalsIgnoringCase("Accept") && headers["Accept"] == "application/json"
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
        guard endPointName == nil else { return self }
        var error = self
        error.endPointName = EndPointRecord.name(of: endPoint)
        return error
    }
}

extension URLRequest.CachePolicy {
    /// The directive for caches between client and server ([RFC 9111
    /// §5.2.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1)). Nil when the policy needs none.
    package var directive: String? {
        switch self {
        case .reloadIgnoringLocalAndRemoteCacheData: "no-cache"
        case .reloadRevalidatingCacheData: "max-age=0"
        case .returnCacheDataDontLoad: "only-if-cached"
        default: nil
        }
    }
}
