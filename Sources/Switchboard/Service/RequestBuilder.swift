import SwitchboardPlatform
import Foundation
import SwitchboardText

/// Makes the request for an endpoint. Pure: it reads the endpoint and its own settings, and performs nothing.
public struct RequestBuilder: Sendable {
    /// Header fields for every request; those of endpoint, task and body win. Default `Accept: application/json`.
    public var headers: HTTPHeaders
    /// Options for every request; those of the endpoint win. Default none.
    public var options: RequestOptions
    /// Options for one call; they win over those of its endpoint.
    var callOptions: RequestOptions?
    /// The base URL for endpoints that have none of their own; nil when there is none.
    var baseURL: (@Sendable () throws -> URL)?
    /// Whether the URL of a ``URLEndPoint`` counts as the app's own server. Where it does not, ``baseURL`` alone does.
    var trustsURLs = true
    /// Where the manager keeps the environment that requests are made in; nil without a manager.
    var environment: Protected<NetworkEnvironment>?

    /// Makes a builder.
    public init(headers: HTTPHeaders = [.accept("application/json")], options: RequestOptions = RequestOptions()) {
        self.headers = headers
        self.options = options
    }

    /// The request for an endpoint.
    ///
    /// Headers by precedence: task, endpoint, the body's own, this builder's. There is one `Content-Type`, and it
    /// describes the body: a request without a body carries none of the builder's.
    ///
    /// - Throws: ``NetworkError`` with a code of the kind ``NetworkError/Code/invalidRequest`` when there can be no
    ///   such request.
    public func makeRequest(for endPoint: some EndPointType) throws(NetworkError) -> NetworkRequest {
        do {
            guard let environment else { return try build(endPoint) }
            return try CallEnvironment(startingIn: environment).run {
                var request = try build(endPoint)
                request.enter(.current)
                return request
            }
        } catch {
            // A foreign error's text may hold anything, a secret too; it is there underneath.
            let reason = "the endpoint threw a \(type(of: error))"
            throw (error as? NetworkError ?? NetworkError(.invalidRequest, reason: reason, underlying: error))
                .attributed(to: endPoint)
        }
    }

    private func build(_ endPoint: some EndPointType) throws -> NetworkRequest {
        endPoint.sayNearMisses()
        let task = try endPoint.task.endPointValue ?? .request
        let download = task.download
        var isMade = false
        defer { if !isMade { download?.progress?.end() } }
        var options = self.options.merging(try endPoint.options.endPointValue).merging(callOptions)
        if let download { options.download = download }
        var draft = RequestDraft(
            method: try endPoint.httpMethod.endPointValue ?? .get, url: nil,
            headers: (try endPoint.headers.endPointValue ?? [:]).merging(task.headers))
        let base = try base(of: endPoint)
        var text = try URLText(base).appending(path: endPoint.path)
        try write(task, to: &draft, &text)

        var request = NetworkRequest(draft.method, nil, headers: draft.headers, body: draft.body, options: options)
        request.endPoint = endPoint
        request.go(to: text.lazyURL)
        if isForeign(base, of: endPoint) { request.isForeign = true }
        if !request.body.isEmpty {
            if let encoder = options.encoder { request.body = request.body.withEncoder(encoder) }
            if options.compressesBody { compress(&request) }
        }
        try request.makeReady(isURLChecked: true) { complete(&$0, isDownload: download != nil) }
        isMade = true
        return request
    }

    /// Writes a task's body into the draft, and its parameters where they belong.
    private func write(_ task: HTTPTask, to draft: inout RequestDraft, _ text: inout URLText) throws {
        var query: [UInt8] = []
        switch task.content {
        case .none, .download: break
        case .body(let body): draft.body = body
        case .parameters(let parameters, let encoding):
            try write(parameters, by: encoding.bodyEncoder, to: &draft, &text, &query)
        case .byMethod(let parameters, let encoding):
            let encoder: any ParameterEncoder = draft.method.prefersQuery ? encoding.urlEncoder : encoding.bodyEncoder
            try write(parameters, by: encoder, to: &draft, &text, &query)
        }
        if let parameters = task.urlParameters { try task.urlEncoding.append(parameters, to: &query) }
        text.append(query: query)
    }

    /// Writes parameters by an encoder. Those for the query are collected, to be joined to the URL once.
    private func write(
        _ parameters: Parameters, by encoder: any ParameterEncoder, to draft: inout RequestDraft, _ text: inout URLText,
        _ query: inout [UInt8]
    ) throws {
        if let encoder = encoder as? URLParameterEncoder { return try encoder.form.append(parameters, to: &query) }
        draft.url = try text.url
        do {
            try encoder.encode(parameters, into: &draft)
        } catch {
            throw NetworkError.encoding(error)
        }
        guard let url = draft.url else { throw NetworkError(.missingURL) }
        text = try URLText(url)
    }

    private func base(of endPoint: some EndPointType) throws -> URL {
        let own = try endPoint.baseURL
        guard let baseURL, own is ManagerBaseURL else { return try own.endPointURL() }
        return try baseURL()
    }

    /// Whether a URL may have been chosen by somebody else than the app, a server for instance: it gets no credentials.
    private func isForeign(_ url: URL, of endPoint: some EndPointType) -> Bool {
        guard !trustsURLs, endPoint is URLEndPoint else { return false }
        guard let own = try? baseURL?() else { return true }
        return !url.hasSameOrigin(as: own)
    }

    /// Wraps the body, unless it or somebody else says how it is encoded.
    private func compress(_ request: inout NetworkRequest) {
        let name = "Content-Encoding"
        guard !headers.contains(name), !request.allHeaders.contains(name) else { return }
        request.body = GzipBody(request.body)
    }

    /// Adds this builder's fields to those of task, endpoint and body, each only where there is none of that name.
    private func complete(_ request: inout NetworkRequest, isDownload: Bool) {
        if let directive = request.options.cachePolicy.directive, !request.headers.contains("Cache-Control") {
            request.headers.add("Cache-Control", directive)
        }
        let hasBody = !request.body.isEmpty
        if hasBody { request.headers.fill(request.body.additionalHeaders) }
        let foreign = request.isForeign ? request : nil
        request.headers.fill(headers) { name in
            // They are meant for the app's servers.
            if let foreign, !foreign.goesToOtherOrigins(name) { return true }
            // A type for a body that is not there, or for a file that is no JSON, would be a lie.
            return !hasBody && name.equalsIgnoringCase("Content-Type")
                || isDownload && name.equalsIgnoringCase("Accept")
        }
    }
}

extension NetworkError {
    /// The error with the endpoint noted on it, where there is no request yet.
    func attributed(to endPoint: some EndPointType) -> NetworkError {
        guard self.endPoint == nil else { return self }
        var request = NetworkRequest(.get, nil)
        request.endPoint = endPoint
        var error = self
        error.endPoint = request.endPointName
        return error
    }
}

extension URLRequest.CachePolicy {
    /// What the policy says to caches on the way ([RFC 9111
    /// §5.2.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1)).
    fileprivate var directive: String? {
        switch self {
        case .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData: "no-cache"
        case .returnCacheDataDontLoad: "only-if-cached"
        default: nil
        }
    }
}
