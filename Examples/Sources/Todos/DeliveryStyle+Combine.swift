#if canImport(Combine)
import Combine
import Switchboard
import SwitchboardCalls

extension NetworkManager {
    /// The call as a publisher: nothing is sent until somebody subscribes, and cancelling that ends the exchange.
    func todosPublished(for endPoint: FindTodos) async throws -> [Todo]? {
        for try await todos in publisher(for: endPoint).values { return todos }
        return nil
    }
}
#endif
