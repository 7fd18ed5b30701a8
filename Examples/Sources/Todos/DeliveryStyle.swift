import Switchboard

/// The ways in which one call can be made. Each gives the same value, or the same error.
enum DeliveryStyle: String, CaseIterable, Sendable {
    case async, callback, publisher

    /// Makes the call; nil where the system has no such style.
    func send(_ endPoint: FindTodos, with manager: NetworkManager) async throws -> [Todo]? {
        switch self {
        case .async:
            return try await manager.send(endPoint)
        case .callback:
            // The handle that this returns cancels the call: `handle.cancel()`.
            return try await withCheckedThrowingContinuation { continuation in
                manager.send(endPoint) { result in continuation.resume(with: result) }
            }
        case .publisher:
            return try await manager.todosPublished(for: endPoint)
        }
    }
}
