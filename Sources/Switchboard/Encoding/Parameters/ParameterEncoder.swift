import Foundation

/// Writes parameters into a request: its query, its body or its header.
///
/// ``URLParameterEncoder``, ``JSONParameterEncoder`` and ``FormParameterEncoder`` cover the usual formats. Adopt the
/// protocol for another format:
///
/// ```swift
/// struct PropertyListParameterEncoder: ParameterEncoder {
///     func encode(
///         _ parameters: Parameters, into request: inout NetworkRequest
///     ) throws {
///         request.body = DataBody(
///             try PropertyListEncoder().encode(parameters),
///             contentType: "application/x-plist")
///     }
/// }
/// ```
///
/// Use it as `bodyEncoding: .custom(PropertyListParameterEncoder())`.
public protocol ParameterEncoder: Sendable {
    /// Writes `parameters` into `request`. The method is called once for each request. An error thrown here ends the
    /// request before anything is sent.
    func encode(_ parameters: Parameters, into request: inout NetworkRequest) throws
}

extension ParameterEncoder {
    /// Writes parameters into a `URLRequest`, for code that has its own request.
    ///
    /// - Throws: ``NetworkError/Code/parametersNil`` for nil, ``NetworkError/Code/missingURL`` when the request has no
    ///   URL, ``NetworkError/Code/encodingFailed`` for a value that cannot be written,
    ///   ``NetworkError/Code/invalidRequest`` for an invalid header field or part of the URL. On an error, the request
    ///   stays unchanged.
    public func encode(urlRequest: inout URLRequest, with parameters: Parameters?) throws(NetworkError) {
        guard let parameters else { throw NetworkError(.parametersNil) }
        guard urlRequest.url != nil else { throw NetworkError(.missingURL) }
        var request = NetworkRequest(
            HTTPMethod(rawValue: urlRequest.httpMethod ?? "GET"), urlRequest.url,
            headers: HTTPHeaders(urlRequest.allHTTPHeaderFields ?? [:]),
            body: urlRequest.httpBody.map { DataBody($0) } ?? EmptyBody())
        do {
            try encode(parameters, into: &request)
            try request.write(to: &urlRequest)
        } catch {
            throw NetworkError.encoding(error, by: "\(type(of: self))")
        }
    }
}

extension NetworkRequest {
    fileprivate func write(to request: inout URLRequest) throws {
        try headers.validate()
        let url = try requiredURL
        let data = body.isEmpty ? nil : try body.encode()
        request.httpMethod = method.rawValue
        request.url = url
        request.allHTTPHeaderFields = body.additionalHeaders.merging(headers).joinedByName
        // Assigning nil would remove the body stream of a request that has one.
        if data != request.httpBody { request.httpBody = data }
    }
}
