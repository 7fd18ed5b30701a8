import Foundation

/// Makes the request for an endpoint. Pure: it reads the endpoint and its own settings, and performs nothing.
public struct RequestBuilder: Sendable {
    /// Header fields for every request; those of endpoint, task and body win. Default `Accept: application/json`.
    public var headers: HTTPHeaders
    /// Options for every request; those of the endpoint win. Default none.
    public var options: RequestOptions
    /// The base URL for endpoints that have none of their own; nil when there is none.
    var baseURL: (@Sendable () throws -> URL)?
    /// What surrounds the making of a request: the manager sets the environment there.
    var scope: (@Sendable (() throws -> NetworkRequest) throws -> NetworkRequest)?

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
            guard let scope else { return try build(endPoint) }
            return try scope { try build(endPoint) }
        } catch {
            var error = error as? NetworkError ?? NetworkError(.invalidRequest, reason: "\(error)", underlying: error)
            error.endPoint = error.endPoint ?? name(of: endPoint)
            throw error
        }
    }

    private func build(_ endPoint: some EndPointType) throws -> NetworkRequest {
        let task = endPoint.task.endPointValue ?? .request
        let method = endPoint.httpMethod.endPointValue ?? .get
        var request = NetworkRequest(method, nil, options: options.merging(endPoint.options.endPointValue))
        request.endPoint = endPoint
        if let destination = task.destination { request.options.destination = destination }

        var headers = endPoint.headers.endPointValue ?? [:]
        if let additional = task.headers { headers.merge(additional) }

        var query: [UInt8] = []
        var draft: RequestDraft?
        switch task.content {
        case .none: break
        case .body(let body): request.body = body
        case .parameters(let parameters, let encoding):
            if let encoder = encoding.bodyEncoder as? URLParameterEncoder {
                try encoder.form.append(parameters, to: &query)
            } else {
                draft = try encode(
                    parameters, encoding, method, headers, URLText(base(of: endPoint)).appending(path: endPoint.path))
            }
        case .byMethod(let parameters, let encoding):
            if method.prefersQuery {
                try encoding.urlEncoder.form.append(parameters, to: &query)
            } else {
                draft = try encode(
                    parameters, encoding, method, headers, URLText(base(of: endPoint)).appending(path: endPoint.path))
            }
        }
        if let urlParameters = task.urlParameters { try task.urlEncoder.form.append(urlParameters, to: &query) }

        var text: URLText
        if let draft {
            guard let url = draft.url else { throw NetworkError(.missingURL) }
            text = try URLText(url)
            headers = draft.headers
            request.body = draft.body
            request.method = draft.method
        } else {
            text = try URLText(base(of: endPoint)).appending(path: endPoint.path)
        }
        if !query.isEmpty { text = text.appending(query: query) }
        request.url = try text.url
        if var json = request.body as? JSONBody, json.encoder == nil {
            json.encoder = request.options.encoder
            request.body = json
        }
        request.headers = complete(headers, for: request, isDownload: task.destination != nil)
        try request.validate()
        return try request.withEncodedBody()
    }

    private func encode(
        _ parameters: Parameters, _ encoding: ParameterEncoding, _ method: HTTPMethod, _ headers: HTTPHeaders,
        _ text: URLText
    ) throws -> RequestDraft {
        var draft = RequestDraft(method: method, url: try text.url, headers: headers)
        do {
            try encoding.bodyEncoder.encode(parameters, into: &draft)
        } catch {
            throw NetworkError.encoding(error)
        }
        return draft
    }

    private func base(of endPoint: some EndPointType) throws -> URL {
        do {
            guard let url = try endPoint.baseURL.endPointValue else { throw NetworkError(.missingURL) }
            return url
        } catch let error as NetworkError where error.code == .missingURL {
            guard let baseURL else { throw error }
            return try baseURL()
        }
    }

    /// The fields of task and endpoint, then the body's, then this builder's, each only where the ones before have none
    /// of that name.
    private func complete(_ own: HTTPHeaders, for request: NetworkRequest, isDownload: Bool) -> HTTPHeaders {
        var result = own
        let hasBody = !request.body.isEmpty
        if hasBody { result.fill(request.body.additionalHeaders) }
        if let directive = request.options.cachePolicy.directive, !own.contains("Cache-Control") {
            result.add("Cache-Control", directive)
        }
        result.fill(headers) { name in
            // A type for a body that is not there, or for a file that is no JSON, would be a lie.
            !hasBody && name.equalsIgnoringCase("Content-Type") || isDownload && name.equalsIgnoringCase("Accept")
        }
        return result
    }

    private func name(of endPoint: some EndPointType) -> String? {
        var request = NetworkRequest(.get, nil)
        request.endPoint = endPoint
        return request.endPointName
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
