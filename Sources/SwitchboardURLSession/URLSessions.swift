import Foundation
import Switchboard

extension NetworkManager {
    /// Creates a URLSession whose requests this manager sends, for code that takes a `URLSession`: an SDK, an image
    /// loader, a generated client.
    ///
    /// ```swift
    /// import SwitchboardURLSession
    ///
    /// let session = manager.urlSession()
    /// let (image, _) = try await session.data(from: url)
    /// ```
    ///
    /// Each task of the session is a call of this manager: its session, interceptors, options, header fields, monitors,
    /// environment, ``/Switchboard/NetworkManager/cancel()`` and ``/Switchboard/NetworkManager/reset()`` apply. A URL
    /// may come from a server, so it gets credentials only at the origin of the manager's `servers`, and where
    /// `origins` of an interceptor allow it, as with ``/Switchboard/NetworkManager/data(from:options:)``. A task gets a
    /// response with any status. A failure is the `URLError` that URLSession throws for it, with the `NetworkError`
    /// under `NSUnderlyingErrorKey`.
    ///
    /// The interceptors follow redirects, without the delegate. To let the delegate decide, list
    /// `RedirectInterceptor.none` in the manager. The session itself has no cache, no credentials and no cookies.
    /// <doc:SwitchboardURLSession> has its limits.
    ///
    /// - Parameters:
    ///   - base: The configuration to copy.
    ///   - delegate: The session's delegate. Default none.
    ///   - delegateQueue: The queue that calls delegate and completion handlers. Nil, the default, creates one.
    /// - Returns: A new session on each call. It retains this manager until it is invalidated.
    public func urlSession(
        _ base: URLSessionConfiguration = .ephemeral, delegate: (any URLSessionDelegate)? = nil,
        delegateQueue: OperationQueue? = nil
    ) -> URLSession {
        URLSession(configuration: urlSessionConfiguration(base), delegate: delegate, delegateQueue: delegateQueue)
    }

    /// Returns a configuration whose URLSessions this manager serves, for code that creates its own URLSession; see
    /// ``urlSession(_:delegate:delegateQueue:)``.
    ///
    /// - Parameter base: The configuration to copy. Its `protocolClasses` stay, after that of this manager. Its cache,
    ///   cookies and credentials do not. An ephemeral one replaces a background configuration, whose tasks would bypass
    ///   the manager.
    /// - Returns: A configuration that retains this manager. With a replaced `urlCache` it does not, and its requests
    ///   fail with `URLError.cannotConnectToHost` once the manager is deallocated.
    public func urlSessionConfiguration(_ base: URLSessionConfiguration = .ephemeral) -> URLSessionConfiguration {
        base.served(by: self)
    }
}

extension Router {
    /// Creates a URLSession whose requests this router sends, for code that takes a `URLSession`; see
    /// `NetworkManager.urlSession`.
    ///
    /// A router without a manager has no servers. A URL then gets credentials only where `origins` of an interceptor
    /// allow it.
    public func urlSession(
        _ base: URLSessionConfiguration = .ephemeral, delegate: (any URLSessionDelegate)? = nil,
        delegateQueue: OperationQueue? = nil
    ) -> URLSession {
        URLSession(configuration: urlSessionConfiguration(base), delegate: delegate, delegateQueue: delegateQueue)
    }

    /// Returns a configuration whose URLSessions this router serves, for code that creates its own URLSession; see
    /// `NetworkManager.urlSessionConfiguration`.
    public func urlSessionConfiguration(_ base: URLSessionConfiguration = .ephemeral) -> URLSessionConfiguration {
        base.served(by: self)
    }
}

extension NetworkSession {
    /// Creates a URLSession whose requests this session sends, for code that takes a `URLSession`.
    ///
    /// ```swift
    /// import SwitchboardURLSession
    ///
    /// let session = DefaultSession.shared.urlSession()
    /// ```
    ///
    /// It has the properties of that of a manager. A session follows no redirects, so the URLSession follows up to 16,
    /// by the rules of ``/Switchboard/RedirectInterceptor``, and asks its delegate. If the session is not a class,
    /// create one URLSession and keep it: each use of this function takes about a kilobyte that is never freed.
    public func urlSession(
        _ base: URLSessionConfiguration = .ephemeral, delegate: (any URLSessionDelegate)? = nil,
        delegateQueue: OperationQueue? = nil
    ) -> URLSession {
        URLSession(configuration: urlSessionConfiguration(base), delegate: delegate, delegateQueue: delegateQueue)
    }

    /// Returns a configuration whose URLSessions this session serves, for code that creates its own URLSession; see
    /// `NetworkManager.urlSessionConfiguration`.
    public func urlSessionConfiguration(_ base: URLSessionConfiguration = .ephemeral) -> URLSessionConfiguration {
        if let session = self as? any NetworkSession & AnyObject { return base.served(by: session) }
        return base.served(by: SessionOwner(session: self))
    }
}

/// Sends the requests of URLSessions.
protocol URLSessionOwner: AnyObject, Sendable {
    func prepareForURLSession(_ request: NetworkRequest) throws -> PreparedRequest
}

extension NetworkManager: URLSessionOwner {
    func prepareForURLSession(_ request: NetworkRequest) throws -> PreparedRequest {
        try PreparedRequest(request, through: urlRouter())
    }
}

extension Router: URLSessionOwner {
    func prepareForURLSession(_ request: NetworkRequest) throws -> PreparedRequest {
        try PreparedRequest(request, through: urlRouter())
    }
}

/// Gives a session an identity, because it may be a value.
final class SessionOwner: URLSessionOwner {
    let session: any NetworkSession

    init(session: any NetworkSession) {
        self.session = session
    }

    func prepareForURLSession(_ request: NetworkRequest) -> PreparedRequest { PreparedRequest(request, over: session) }
}

/// A request of a URLSession, prepared by its owner.
struct PreparedRequest: Sendable {
    let request: NetworkRequest
    /// Sends the request, or the one that follows its redirect.
    let send: @Sendable (NetworkRequest) async throws -> NetworkResponse

    /// Prepares a request for a session. Its URL may come from a server.
    init(_ request: NetworkRequest, over session: any NetworkSession) {
        var request = request
        request.hasUntrustedURL = true
        // A URLSession has no limit, so that no body may arrive in memory at once: not that of a redirect either.
        request.limits.responseBody = .max
        request.options.streamsResponse = true
        request.options.streamsEveryStatus = true
        self.request = request
        send = { try await session.send($0) }
    }

    init(_ request: NetworkRequest, through router: Router<URLEndPoint>) throws {
        guard let url = request.url else { throw NetworkError(.missingURL) }
        var headers = request.headers
        if !headers.contains("Accept") { headers.append(.accept("*/*")) }
        let call = router.prepare(
            URLEndPoint(
                request.method, url, task: .requestBody(request.body), headers: headers, options: request.options))
        self.request = try call.request.get()
        send = { try await PreparedCall(.success($0), call.calls, call.environment).send() }
    }
}

extension URLSessionConfiguration {
    /// Returns a copy whose URLSessions an owner serves, a ``URLSessionOwner`` or a session. The copy retains it.
    func served<Owner: AnyObject & Sendable>(by owner: Owner) -> URLSessionConfiguration {
        let base = identifier == nil ? self : .ephemeral
        guard let configuration = base.copy() as? URLSessionConfiguration else { return base }
        configuration.protocolClasses = [ProtocolClasses.shared.ownClass(of: owner)] + (protocolClasses ?? [])
        configuration.urlCache = OwnerRetainer(owner)
        // With stored credentials Foundation would answer a 401 itself, over the network.
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        return configuration
    }
}
