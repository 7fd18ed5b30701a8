#if canImport(Combine)
import Combine
import Foundation

/// A call as a publisher: one value, then the end, or an error.
///
/// It is cold: nothing is sent until a subscriber asks for a value, and each subscriber has a call of its own. Cancelling the
/// subscription cancels the transfer. Values come on no thread in particular: use `receive(on:)`.
public struct CallPublisher<Value: Sendable>: Publisher {
    public typealias Output = Value
    public typealias Failure = NetworkError

    private let call: NetworkCall<Value>

    /// Makes a publisher of a call.
    public init(_ call: NetworkCall<Value>) {
        self.call = call
    }

    public func receive<Target: Subscriber>(subscriber: Target)
    where Target.Input == Value, Target.Failure == NetworkError {
        subscriber.receive(subscription: CallSubscription(call, subscriber))
    }
}

/// One call for one subscriber.
private final class CallSubscription<Value: Sendable, Target: Subscriber>: Subscription, @unchecked Sendable
where Target.Input == Value, Target.Failure == NetworkError {
    private let lock = NSLock()
    // Under the lock.
    private var call: NetworkCall<Value>?
    private var subscriber: Target?
    private var handle: RequestHandle?

    init(_ call: NetworkCall<Value>, _ subscriber: Target) {
        self.call = call
        self.subscriber = subscriber
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > 0, let call = lock.withLock({ take(&call) }) else { return }
        let handle = call.start { [self] result in finish(result) }
        let isOver = lock.withLock {
            if subscriber != nil { self.handle = handle }
            return subscriber == nil
        }
        if isOver { handle.cancel() }
    }

    func cancel() {
        let (subscriber, handle) = lock.withLock { (take(&self.subscriber), take(&self.handle)) }
        _ = lock.withLock { take(&call) }
        handle?.cancel()
        _ = subscriber  // let go of outside of the lock
    }

    private func finish(_ result: Result<Value, NetworkError>) {
        guard let subscriber = lock.withLock({ take(&self.subscriber) }) else { return }
        switch result {
        case .success(let value):
            _ = subscriber.receive(value)
            subscriber.receive(completion: .finished)
        case .failure(let error):
            subscriber.receive(completion: .failure(error))
        }
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
