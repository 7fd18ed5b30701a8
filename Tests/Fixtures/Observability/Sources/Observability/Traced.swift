import Switchboard
import Tracing

/// Opens a span, and sends its context to the server.
struct Traced: Interceptor, ExchangeInterceptor {
    func intercept(
        _ request: NetworkRequest, next: Next
    ) async throws -> NetworkResponse {
        let method = request.method.rawValue
        return try await withSpan(method, ofKind: .client) { span in
            var request = request
            InstrumentationSystem.instrument.inject(
                span.context, into: &request, using: HeaderInjector())
            span.attributes["http.request.method"] = method
            span.attributes["server.address"] = request.host
            let response = try await next(request)
            let status = response.statusCode
            span.attributes["http.response.status_code"] = status
            if status >= 400 {
                span.setStatus(SpanStatus(code: .error))
            }
            return response
        }
    }
}

struct HeaderInjector: Injector {
    func inject(
        _ value: String, forKey key: String,
        into request: inout NetworkRequest
    ) {
        request.headers[key] = value
    }
}
