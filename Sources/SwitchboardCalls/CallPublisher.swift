#if canImport(Combine)
import Combine
import Foundation
import Switchboard

/// A call as a publisher: one value, then the end, or an error.
///
/// It is cold: nothing is sent until a subscriber asks for a value, and each subscriber has a call of its own. Cancelling the
/// subscription cancels the transfer. Values come on no thread in particular: use `receive(on:)`.
public struct CallPublisher<Value: Sendable>: Publisher, Sendable {
    /// What the call brings.
    public typealias Output = Value
    /// How it fails; a router's `cancel()` is `NetworkError.Code.cancelled`.
    public typealias Failure = NetworkError

    private let call: NetworkCall<Value>

    /// Makes a publisher of a call.
    public init(_ call: NetworkCall<Value>) {
        self.call = call
    }

    /// Takes a subscriber. Nothing is sent yet.
    public func receive<Target: Subscriber>(subscriber: Target)
    where Target.Input == Value, Target.Failure == NetworkError {
        let subscription = CallSubscription(call) { result in
            switch result {
            case .success(let value):
                _ = subscriber.receive(value)
                subscriber.receive(completion: .finished)
            case .failure(let error):
                subscriber.receive(completion: .failure(error))
            }
        }
        subscriber.receive(subscription: subscription)
    }
}

/// One call for one subscriber.
private final class CallSubscription<Value: Sendable>: Subscription, @unchecked Sendable {
    private let lock = NSLock()  // not Protected: this file is built over OpenCombine too, in another package
    // Under the lock.
    private var call: NetworkCall<Value>?
    private var deliver: ((Result<Value, NetworkError>) -> Void)?
    private var handle: RequestHandle?

    init(_ call: NetworkCall<Value>, _ deliver: @escaping (Result<Value, NetworkError>) -> Void) {
        self.call = call
        self.deliver = deliver
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > 0, let call = lock.withLock({ take(&call) }) else { return }
        let handle = call.start { [self] result in lock.withLock { take(&deliver) }?(result) }
        let isOver = lock.withLock {
            if deliver != nil { self.handle = handle }
            return deliver == nil
        }
        if isOver { handle.cancel() }
    }

    func cancel() {
        // The subscriber is let go of outside of the lock.
        let (_, deliver, handle) = lock.withLock { (take(&call), take(&self.deliver), take(&self.handle)) }
        handle?.cancel()
        _ = deliver
    }

    private func take<Part>(_ part: inout Part?) -> Part? {
        defer { part = nil }
        return part
    }
}

extension NetworkCall {
    /// The call as a publisher, cold.
    public var publisher: CallPublisher<Value> { CallPublisher(self) }
}

extension NetworkRouter {
    /// The call for an endpoint as a publisher, cold; see ``call(_:as:options:)``.
    public func publisher<Value: Decodable & Sendable>(
        for endPoint: EndPoint, as type: Value.Type, options: RequestOptions = RequestOptions()
    ) -> CallPublisher<Value> {
        call(endPoint, as: type, options: options).publisher
    }
}

extension NetworkManager {
    /// The call for an endpoint as a publisher, cold; see ``call(_:options:)``.
    public func publisher<EndPoint: TypedEndPoint>(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions()
    ) -> CallPublisher<EndPoint.Response> {
        call(endPoint, options: options).publisher
    }
}
#endif
