import Foundation
import Switchboard

extension StubSession {
    /// A configuration whose URLSessions are answered by this stub, for code that owns a plain URLSession.
    ///
    /// ```swift
    /// let stub = StubSession { _ in .json(#"{"id":1}"#, status: 201) }
    /// let client = LegacyClient(configuration: stub.urlSessionConfiguration())
    /// try await client.create("milk")
    /// #expect(stub.requests.map(\.method) == [.post])
    /// ```
    ///
    /// Every task of such a session comes here, whatever its URL: nothing is registered for the process, no other
    /// session notices, and tests that run in parallel never see each other's requests. A request of them arrives in
    /// ``requests`` with its method, URL, fields and body, and is answered as ``send(_:)`` answers: queue, closure,
    /// delays, faults. Its `timeoutInterval` is its idle timeout. A failure is the `URLError` that URLSession has for it,
    /// with the `NetworkError` under `NSUnderlyingErrorKey`.
    ///
    /// Redirects are followed, each one a request of its own, by the rules of ``/Switchboard/RedirectInterceptor`` and up
    /// to 16, unless the delegate declines. There is neither cache nor credentials nor cookies that were received: answers
    /// depend on the stub alone.
    ///
    /// What Foundation does not let a URLProtocol do outside Apple's systems: download tasks fail with
    /// `URLError.unsupportedURL`, as do uploads from a stream of the delegate's, and a delegate gets a body in one piece.
    ///
    /// - Parameter base: What is copied. Its own `protocolClasses` stay, behind. Its `urlCache` and
    ///   `urlCredentialStorage` do not.
    /// - Returns: A configuration that keeps this stub for as long as it, or a session made of it, is there. Where its
    ///   `urlCache` is replaced it does not, and requests fail with `URLError.cannotConnectToHost` once the stub is gone.
    public func urlSessionConfiguration(_ base: URLSessionConfiguration = .ephemeral) -> URLSessionConfiguration {
        guard let configuration = base.copy() as? URLSessionConfiguration else { return base }
        configuration.protocolClasses = [StubProtocolClasses.shared.ownClass(of: self)] + (base.protocolClasses ?? [])
        configuration.urlCache = StubKeeper(self)
        // With credentials at hand Foundation would answer a 401 itself, over the network.
        configuration.urlCredentialStorage = nil
        return configuration
    }

    /// A URLSession that is answered by this stub, and keeps it; see ``urlSessionConfiguration(_:)``.
    ///
    /// - Parameters:
    ///   - base: The configuration that is copied.
    ///   - delegate: The session's delegate. Default none.
    ///   - delegateQueue: Where delegate and completion handlers are called. Nil, the default, for one of its own.
    /// - Returns: A new session on each call.
    public func urlSession(
        _ base: URLSessionConfiguration = .ephemeral, delegate: (any URLSessionDelegate)? = nil,
        delegateQueue: OperationQueue? = nil
    ) -> URLSession {
        URLSession(configuration: urlSessionConfiguration(base), delegate: delegate, delegateQueue: delegateQueue)
    }
}

/// Keeps a stub for as long as there is a configuration with this cache, which caches nothing.
private final class StubKeeper: URLCache, @unchecked Sendable {  // the stub is Sendable and never changes
    private let stub: StubSession

    init(_ stub: StubSession) {
        self.stub = stub
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
    }
}
