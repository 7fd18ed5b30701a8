/// The interceptors of a router in the order in which they run, and its session behind them.
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
    /// Why no call may begin: an object is listed twice.
    let fault: NetworkError?
    /// Whether the session gives up by itself when a router cancels its calls.
    private let isSessionCancellable: Bool
    private let notesExchanges: Bool

    /// `notesExchanges` says whether exchanges are noted in their call here; a chain within another one leaves that to it.
    package init(_ links: [Link], _ session: any NetworkSession, notesExchanges: Bool = true) {
        self.links = links
        self.session = session
        self.notesExchanges = notesExchanges
        fault = Self.fault(of: links)
        isSessionCancellable = session is any CallCancellableSession
    }

    /// The chain of a router. Redirects are followed between the two lists, unless one of `interceptors` does so. What a
    /// ``ListedSession`` lists stands behind what the router lists.
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

    /// Its policy for sending again; nil without one.
    var retryPolicy: RetryPolicy? { links.lazy.compactMap { $0.interceptor as? RetryPolicy }.first }

    /// Sends a request through the interceptors; more than once where its file takes that.
    package func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        guard let download = request.options.download, !request.options.streamsResponse, request.method != .head else {
            return try await Next(self, 0)(request)
        }
        return try await download.run(request, under: retryPolicy) { try await Next(self, 0)($0) }
    }

    /// Makes one exchange, and notes it in its call.
    fileprivate func exchange(_ request: NetworkRequest) async throws -> NetworkResponse {
        try CallCancellation.check()
        try request.checkSignInIsDecided()
        guard notesExchanges, let call = request.call else { return try await sendToSession(request) }
        return try await call.exchange(request, sendToSession)
    }

    private func sendToSession(_ request: NetworkRequest) async throws -> NetworkResponse {
        let request = request.inEnvironmentOfCall()
        guard !isSessionCancellable else { return try await session.send(request) }
        // A session of an app knows nothing of the call: it runs in a task that ends with it, and the response may lack
        // what was sent.
        var response = try await withOwnTask { [session] in try await session.send(request) }
        if response.request == nil { response.request = request }
        return response
    }

    /// An object holds the state of the calls that pass it: twice in a chain, a limiter would wait for itself.
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

/// The rest of the chain after an interceptor, down to the session.
public struct Next: Sendable {
    private let chain: InterceptorChain
    private let index: Int

    init(_ chain: InterceptorChain, _ index: Int) {
        self.chain = chain
        self.index = index
    }

    /// Sends a request through the rest of the chain.
    public func callAsFunction(_ request: NetworkRequest) async throws -> NetworkResponse {
        do {
            guard index < chain.links.count else { return try await chain.exchange(request) }
            let next = Next(chain, index + 1)
            switch chain.links[index] {
            case .call(let interceptor): return try await interceptor.intercept(request, next: next)
            case .exchange(let interceptor): return try await interceptor.intercept(request, next: next)
            }
        } catch let error as NetworkError {
            // The error names this request, unless it names another.
            throw error.attributed(to: request)
        }
    }
}
