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
    /// Whether the session itself stops an exchange when a router cancels the call.
    private let isSessionCancellable: Bool
    private let notesExchanges: Bool

    /// Creates a chain. `notesExchanges` is false for a chain inside another one, which then records the exchanges of a
    /// call.
    package init(_ links: [Link], _ session: any NetworkSession, notesExchanges: Bool = true) {
        self.links = links
        self.session = session
        self.notesExchanges = notesExchanges
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

    /// The first retry policy in the chain, or nil without one.
    let retryPolicy: RetryPolicy?

    /// Sends a request through the interceptors. A download may send it several times.
    package func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        if let fault { throw fault }
        guard let download = request.options.download, !request.options.streamsResponse, request.method != .head else {
            guard let policy = ownPolicy(of: request) else { return try await send(request, from: 0) }
            return try await policy.intercept(request, next: Next(self, 0))
        }
        return try await download.run(request, under: retryPolicy) { try await self.send($0, from: 0) }
    }

    /// Returns the policy of a request that none of the interceptors applies. It runs before them. A call that sends
    /// several requests applies its policy itself.
    func ownPolicy(of request: NetworkRequest) -> RetryPolicy? {
        guard retryPolicy == nil, request.options.hasValues, request.call?.isLong != true else { return nil }
        return request.options.retry
    }

    // Inlined, because each call of an asynchronous function costs some hundred instructions.
    /// Sends a request through the links from an index on, and then to the session.
    @inline(__always)
    func send(_ request: NetworkRequest, from index: Int) async throws -> NetworkResponse {
        do {
            guard index < links.count else { return try await exchange(request) }
            let next = Next(self, index + 1)
            switch links[index] {
            case .call(let interceptor): return try await interceptor.intercept(request, next: next)
            case .exchange(let interceptor): return try await interceptor.intercept(request, next: next)
            }
        } catch let error as NetworkError {
            // The error names this request, unless it names another.
            throw error.attributed(to: request)
        } catch {
            request.call?.note(error, thrownBy: index < links.count ? links[index].interceptor : nil)
            throw error
        }
    }

    /// Performs one exchange and records it in its call.
    private func exchange(_ request: NetworkRequest) async throws -> NetworkResponse {
        try Call.check()
        try request.checkSignInIsDecided()
        guard notesExchanges, let call = request.call else { return try await sendToSession(request) }
        return try await call.exchange(request, sendToSession)
    }

    private func sendToSession(_ request: NetworkRequest) async throws -> NetworkResponse {
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
