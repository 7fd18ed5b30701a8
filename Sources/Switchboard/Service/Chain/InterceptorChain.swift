/// The interceptors of a router in the order in which they run, followed by its session.
package final class InterceptorChain: Sendable {
    package enum Link: Sendable {
        case call(any Interceptor)
        case exchange(any ExchangeInterceptor)

        package var interceptor: any Sendable {
            switch self {
            case .call(let interceptor): interceptor
            case .exchange(let interceptor): interceptor
            }
        }
    }

    let links: [Link]
    let session: any NetworkSession
    let gate = ResetGate()
    /// The error that every call fails with because an object is listed twice, or nil.
    let fault: NetworkError?
    /// The first retry policy in the chain, or nil without one. Downloads and calls of several requests apply it too.
    let retryPolicy: RetryPolicy?
    /// Whether the session itself stops an exchange when a router cancels the call.
    private let isSessionCancellable: Bool

    package init(_ links: [Link], _ session: any NetworkSession) {
        self.links = links
        self.session = session
        fault = Self.fault(of: links)
        retryPolicy = links.lazy.compactMap { $0.interceptor as? RetryPolicy }.first
        isSessionCancellable = session is any CallCancellableSession
    }

    /// Creates the chain of a router. The interceptors of a ``ListedSession`` run behind those of the router. A
    /// ``RedirectInterceptor`` between the two lists follows redirects, unless the router or the session lists one.
    convenience init(
        _ interceptors: [any Interceptor], _ exchangeInterceptors: [any ExchangeInterceptor],
        _ session: any NetworkSession
    ) {
        let chain = session as? any ListedSession
        let inner = chain?.links ?? []
        let calls = inner.prefix { if case .call = $0 { true } else { false } }
        var links = interceptors.map(Link.call) + calls
        if !(links + inner).contains(where: { $0.interceptor is RedirectInterceptor }) {
            links.append(.call(RedirectInterceptor()))
        }
        links += exchangeInterceptors.map(Link.exchange) + inner[calls.endIndex...]
        self.init(links, chain?.session ?? session)
    }

    /// Sends a request through the interceptors: several times for a download to a file, or for a retry policy of its
    /// own.
    @inline(__always)
    func attempts(of request: NetworkRequest, _ next: Next) async throws -> NetworkResponse {
        if let download = request.savingDownload { return try await download.run(request, under: retryPolicy, next) }
        if let policy = ownPolicy(of: request) { return try await policy.intercept(request, next: next) }
        return try await next(request)
    }

    /// Returns the retry policy of a request's options that no interceptor applies. Nil for none. A call that sends
    /// several requests applies its policy itself.
    func ownPolicy(of request: NetworkRequest) -> RetryPolicy? {
        guard retryPolicy == nil, request.options.hasValues, request.call?.isLong != true else { return nil }
        return request.options.retry
    }

    /// Sends a request that is part of a call through the interceptors to the session. The call records the exchange.
    package func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        if let fault { throw fault }
        return try await Next(self) { request in
            try Call.check()
            try request.checkSignInIsDecided()
            return try await self.exchange(request)
        }(request)
    }

    // Inlined, because each call of an asynchronous function costs some hundred instructions.
    /// Sends a request through the interceptor at the index of `rest` and those after it, and then to the session.
    @inline(__always)
    func send(_ request: NetworkRequest, through rest: Next) async throws -> NetworkResponse {
        do {
            guard rest.index < links.count else { return try await rest.exchange(request) }
            switch links[rest.index] {
            case .call(let interceptor): return try await interceptor.intercept(request, next: rest.next)
            case .exchange(let interceptor): return try await interceptor.intercept(request, next: rest.next)
            }
        } catch let error as NetworkError {
            // The error names this request, unless it names another.
            throw error.attributed(to: request)
        } catch {
            request.call?.note(error, thrownBy: rest.index < links.count ? links[rest.index].interceptor : nil)
            throw error
        }
    }

    /// Performs one exchange with the session.
    func exchange(_ request: NetworkRequest) async throws -> NetworkResponse {
        let request = request.inEnvironmentOfCall()
        guard !isSessionCancellable else { return try await session.send(request) }
        // An app's own session does not observe the call's cancellation: it runs in a task that ends with the call. Its
        // response may lack the request.
        var response = try await withOwnTask { [session] in try await session.send(request) }
        if response.request == nil { response.request = request }
        return response
    }

    /// Returns the error for an object that is listed twice, or nil. An object holds the state of the calls that pass
    /// through it: listed twice, a limiter would wait for itself.
    private static func fault(of links: [Link]) -> NetworkError? {
        var seen: Set<ObjectIdentifier> = []
        for link in links {
            let type = type(of: link.interceptor)
            guard type is AnyClass, !seen.insert(ObjectIdentifier(link.interceptor as AnyObject)).inserted else {
                continue
            }
            return NetworkError(
                .invalidRequest, reason: "the same \(type) is listed twice: list it once, or make a second one")
        }
        return nil
    }
}
