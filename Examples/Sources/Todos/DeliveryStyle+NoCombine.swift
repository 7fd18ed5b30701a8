#if !canImport(Combine)
import Switchboard

extension NetworkManager {
    /// Nil: this system has no Combine.
    func todosPublished(for endPoint: FindTodos) async throws -> [Todo]? { nil }
}
#endif
