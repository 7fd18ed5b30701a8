import Foundation
import OpenCombine
import Switchboard

/// A subscriber that records its events and requests values on demand.
final class Events<Value: Sendable>: Subscriber, @unchecked Sendable {
    typealias Input = Value
    typealias Failure = NetworkError

    private let lock = NSLock()
    private var subscription: (any Subscription)?
    private var received: [Value] = []
    private var ends: [String] = []
    private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)

    var values: [Value] { lock.withLock { received } }
    var completions: [String] { lock.withLock { ends } }

    func receive(subscription: any Subscription) {
        lock.withLock { self.subscription = subscription }
    }

    func receive(_ input: Value) -> Subscribers.Demand {
        lock.withLock { received.append(input) }
        return .none
    }

    func receive(completion: Subscribers.Completion<NetworkError>) {
        lock.withLock {
            switch completion {
            case .finished: ends.append("finished")
            case .failure(let error): ends.append(error.code.rawValue)
            }
        }
        continuation.yield()
    }

    func request(_ demand: Subscribers.Demand) {
        lock.withLock { subscription }?.request(demand)
    }

    func cancel() {
        lock.withLock { subscription }?.cancel()
    }

    /// Waits for a completion.
    func end() async throws {
        for await _ in stream { return }
        throw CancellationError()
    }
}
