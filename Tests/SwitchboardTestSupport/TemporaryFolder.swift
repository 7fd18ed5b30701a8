import Foundation

/// Creates a folder, and removes it after `body`.
package func withFolder<Output>(_ body: (URL) async throws -> Output) async throws -> Output {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}
