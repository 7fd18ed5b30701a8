#if !canImport(Combine)
import Switchboard

extension NetworkManager {
    /// Returns nil, because this system has no Combine.
    func todosPublished(for endPoint: FindTodos) async throws -> [Todo]? { nil }
}
#endif
