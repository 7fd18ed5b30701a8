import Foundation
import Switchboard
import SwitchboardURLSession

extension StubSession {
    /// Returns a configuration whose URLSessions this stub answers, for code that uses a plain URLSession.
    ///
    /// ```swift
    /// let stub = StubSession { _ in .json(#"{"id":1}"#, statusCode: 201) }
    /// let session = URLSession(configuration: stub.urlSessionConfiguration())
    /// let (data, _) = try await session.data(from: url)
    /// print(data.count, stub.requests.map(\.method))    // 8 [GET]
    /// ```
    ///
    /// The stub receives every task of such a session, whatever its URL. Nothing is registered for the whole process,
    /// so no other session is affected, and parallel tests never receive each other's requests. Each request is
    /// recorded in ``requests`` with its method, URL, fields and body, and answered as ``send(_:)`` answers: queue,
    /// closure, delays, faults. Its `timeoutInterval` is its idle timeout. A failure is the `URLError` that URLSession
    /// throws for it, with the `NetworkError` under `NSUnderlyingErrorKey`.
    ///
    /// Redirects are followed, each as a separate request, by the rules of ``/Switchboard/RedirectInterceptor`` and up
    /// to 16, unless the delegate declines. The session has no cache and no credentials, and stores no cookies, so that
    /// answers depend on the stub alone.
    ///
    /// Outside Apple's systems, Foundation limits a URLProtocol: download tasks and uploads from a delegate's stream
    /// fail with `URLError.unsupportedURL`.
    ///
    /// - Parameter base: The configuration to copy. Its `protocolClasses` stay, after the stub's class. Its `urlCache`,
    ///   `urlCredentialStorage` and `httpCookieStorage` do not. A background configuration becomes ephemeral.
    /// - Returns: A configuration that retains this stub while the configuration, or a session made from it, exists. A
    ///   configuration with a replaced `urlCache` does not retain the stub. Its requests fail with
    ///   `URLError.cannotConnectToHost` once the stub is deallocated.
    public func urlSessionConfiguration(_ base: URLSessionConfiguration = .ephemeral) -> URLSessionConfiguration {
        base.served(by: self)
    }

    /// Creates a URLSession that this stub answers and that retains the stub; see ``urlSessionConfiguration(_:)``.
    ///
    /// - Parameters:
    ///   - base: The configuration to copy.
    ///   - delegate: The session's delegate. Default none.
    ///   - delegateQueue: The queue that calls delegate and completion handlers. Nil, the default, creates one.
    /// - Returns: A new session on each call.
    public func urlSession(
        _ base: URLSessionConfiguration = .ephemeral, delegate: (any URLSessionDelegate)? = nil,
        delegateQueue: OperationQueue? = nil
    ) -> URLSession {
        URLSession(configuration: urlSessionConfiguration(base), delegate: delegate, delegateQueue: delegateQueue)
    }
}

extension StubSession: URLSessionOwner {
    package func prepareForURLSession(_ request: NetworkRequest) -> PreparedRequest {
        PreparedRequest(request, over: self)
    }
}
