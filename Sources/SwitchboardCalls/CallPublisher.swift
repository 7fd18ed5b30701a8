#if canImport(Combine)
import Combine
import Foundation
import Switchboard

/// Publishes a call: one value and then the completion, or an error.
///
/// It is cold: it sends nothing until a subscriber requests a value, and each subscriber causes a separate call.
/// Canceling the subscription cancels the transfer. Values arrive on no particular thread, so begin with
/// `receive(on:)`: in Swift 6 mode, an earlier closure of the main actor ends the process.
public struct CallPublisher<Value>: Publisher, Sendable {
    /// The value of the call.
    public typealias Output = Value
    /// The error of the call: `NetworkError.Code.cancelled` after a router's `cancel()`.
    public typealias Failure = NetworkError

    private let call: NetworkCall<Value>

    /// Creates a publisher of a call.
    public init(_ call: NetworkCall<Value>) {
        self.call = call
    }

    /// Attaches a subscriber, without sending anything yet.
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
private final class CallSubscription<Value>: Subscription, @unchecked Sendable {
    private let lock = NSLock()  // not Protected: another package builds this file over OpenCombine
    // The lock protects these properties.
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
        // Releases the subscriber outside of the lock.
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
    /// The call as a cold publisher: `manager.call(for: FindTodos()).publisher`.
    public var publisher: CallPublisher<Value> { CallPublisher(self) }
}
#endif
