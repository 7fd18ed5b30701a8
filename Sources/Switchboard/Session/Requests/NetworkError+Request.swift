import Foundation

extension NetworkError {
    /// The failed request, as it was sent. Nil if the request could not be built.
    public var request: NetworkRequest? {
        requestBox as? NetworkRequest
    }

    /// The response that was not accepted, as far as it arrived. Nil if no head arrived.
    public var response: NetworkResponse? {
        guard let status else { return nil }
        var response = NetworkResponse(status: status, headers: headers ?? [:], body: body ?? Data(), url: url)
        response.request = request
        return response
    }

    /// Returns the error with the request attached, unless it already has one.
    package func attributed(to request: NetworkRequest) -> NetworkError {
        guard requestBox == nil else { return self }
        var error = self
        error.requestBox = request
        error.url = url ?? request.url
        error.method = method ?? request.method
        error.endPoint = endPoint ?? request.endPointName
        return error
    }

    /// Returns the error with the response, its request and the number of attempts attached.
    package func with(_ response: NetworkResponse) -> NetworkError {
        var error = response.request.map(attributed) ?? self
        error.attempts = max(error.attempts, response.request?.call?.totalAttempts ?? 1)
        error.status = response.statusCode
        error.headers = response.headers
        error.body = response.body
        error.url = response.url ?? error.url
        return error
    }
}

extension NetworkRequest {
    /// The type and case of the endpoint, without associated values, which may be secrets: `MovieApi.newMovies`.
    public var endPointName: String? {
        endPoint?.name
    }
}
