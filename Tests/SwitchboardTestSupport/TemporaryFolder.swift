import Foundation

/// Creates a folder, and removes it after `body`.
package func withFolder<Output>(_ body: (URL) async throws -> Output) async throws -> Output {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}

/// Runs `body` with a temporary folder whose permissions apply to this process, even if the superuser runs it. For exit
/// tests, because the whole process has another user meanwhile.
package func withGuardedFolder(_ body: (URL) async throws -> Void) async throws {
    try await withFolder { folder in
        let (user, nobody) = (geteuid(), 65_534 as uid_t)
        guard user == 0 else { return try await body(folder) }
        guard chown(folder.path, nobody, nobody) == 0, seteuid(nobody) == 0 else { throw POSIXError(.EPERM) }
        defer { seteuid(user) }
        try await body(folder)
    }
}
