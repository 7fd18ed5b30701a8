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
    let inFlight = CallsInFlight()
    /// The error of every call if an object is listed twice, or nil.
    let listingError: NetworkError?
    /// The first retry policy in the chain, or nil without one. Downloads and calls of several requests apply it too.
    let retryPolicy: RetryPolicy?
    private let runsInCallersTask: Bool

    package init(_ links: [Link], _ session: any NetworkSession) {
        self.links = links
        self.session = session
        listingError = Self.listingError(of: links)
        retryPolicy = links.lazy.compactMap { $0.interceptor as? RetryPolicy }.first
        runsInCallersTask = session.runsInCallersTask
    }

    /// Creates the chain of a router. The interceptors of a ``ListedSession`` run after those of the router. A
    /// ``RedirectInterceptor`` between the two lists follows redirects, unless the router or the session lists one.
    convenience init(
        _ interceptors: [any Interceptor], _ exchangeInterceptors: [any ExchangeInterceptor],
        _ session: any NetworkSession
    ) {
        // The first cast to a protocol searches all conformances of the process.
        let chain = type(of: session) is AnyClass ? nil : session as? any ListedSession
        let sessionLinks = chain?.links ?? []
        let calls = sessionLinks.prefix { if case .call = $0 { true } else { false } }
        var links = interceptors.map(Link.call) + calls
        if !(links + sessionLinks).contains(where: { $0.interceptor is RedirectInterceptor }) {
            links.append(.call(RedirectInterceptor()))
        }
        links += exchangeInterceptors.map(Link.exchange) + sessionLinks[calls.endIndex...]
        self.init(links, chain?.session ?? session)
    }

    /// Sends a request through the interceptors, several times for a download or for a retry policy of its options.
    @inline(__always)
    func attempts(of request: NetworkRequest, _ next: Next) async throws -> NetworkResponse {
        if let download = request.savingDownload { return try await download.run(request, under: retryPolicy, next) }
        if let policy = ownPolicy(of: request) { return try await policy.intercept(request, next: next) }
        return try await next(request)
    }

    /// Returns the retry policy of a request's options, or nil if an interceptor or a ``LongCall`` applies it.
    func ownPolicy(of request: NetworkRequest) -> RetryPolicy? {
        guard request.options.hasValues, retryPolicy == nil, request.call?.isLong != true else { return nil }
        return request.options.retry
    }

    /// Sends a request that is part of a call through the interceptors to the session. The call records the exchange.
    package func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        if let listingError { throw listingError }
        return try await Next(self) { request in
            try Call.check()
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
            // Keeps the request of an error that already has one.
            throw error.attributed(to: request)
        } catch {
            request.call?.recordThrower(rest.index < links.count ? links[rest.index].interceptor : nil, of: error)
            throw error
        }
    }

    func exchange(_ request: NetworkRequest) async throws -> NetworkResponse {
        let request = request.inEnvironmentOfCall()
        guard !runsInCallersTask else { return try await session.send(request) }
        // A custom session does not observe the cancellation of the call, so it runs in a task that is canceled with
        // the call. Its response may lack the request.
        var response = try await withOwnTask { [session] in try await session.send(request) }
        if response.request == nil { response.request = request }
        return response
    }

    /// Returns the error for an object that is listed twice, or nil. A limiter that is listed twice would wait for
    /// itself.
    private static func listingError(of links: [Link]) -> NetworkError? {
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

/// A session with a list of interceptors, which join those of its router. It must be a value type: a router does not
/// look for the conformance of a class.
package protocol ListedSession: NetworkSession {
    var links: [InterceptorChain.Link] { get }
    var session: any NetworkSession { get }
}
