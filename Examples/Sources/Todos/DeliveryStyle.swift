import Switchboard

/// The ways to make one call. All return the same value or throw the same error.
enum DeliveryStyle: String, CaseIterable, Sendable {
    case async, callback, publisher

    /// Makes the call. Returns nil if the system does not offer this style.
    func send(_ endPoint: FindTodos, with manager: NetworkManager) async throws -> [Todo]? {
        switch self {
        case .async:
            return try await manager.send(endPoint)
        case .callback:
            // `send` returns a handle that cancels the call: `handle.cancel()`.
            return try await withCheckedThrowingContinuation { continuation in
                manager.send(endPoint) { result in continuation.resume(with: result) }
            }
        case .publisher:
            return try await manager.todosPublished(for: endPoint)
        }
    }
}
