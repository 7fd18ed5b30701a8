/// An interceptor of which the same object stands in a chain once, however often it is listed.
protocol SingleInterceptor: AnyObject, Interceptor {}

extension AuthenticationInterceptor: SingleInterceptor {}
extension CircuitBreaker: SingleInterceptor {}
extension ConcurrencyLimiter: SingleInterceptor {}
extension Deduplicator: SingleInterceptor {}
extension RateLimiter: SingleInterceptor {}
extension ResponseCache: SingleInterceptor {}
