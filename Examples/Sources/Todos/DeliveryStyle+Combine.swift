#if canImport(Combine)
import Combine
import Switchboard
import SwitchboardCalls

extension NetworkManager {
    /// Makes the call as a publisher. Subscribing sends the request, and canceling the subscription ends the exchange.
    func todosPublished(for endPoint: FindTodos) async throws -> [Todo]? {
        for try await todos in call(for: endPoint).publisher.values { return todos }
        return nil
    }
}
#endif
