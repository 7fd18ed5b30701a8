import Foundation
import Switchboard

/// The state that the calls of ``CancelRounds`` share: the server's address and a folder.
struct CancelStage: Sendable {
    private let base: URL
    let folder: URL

    init(base: URL) throws {
        self.base = base
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("soak-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func url(_ path: String) -> URL { base.appendingPathComponent(path) }

    /// Passes a new file name to `body`, then checks the file and removes it.
    func withFile(_ body: (URL) async throws -> Void) async throws {
        let file = folder.appendingPathComponent(UUID().uuidString)
        try await body(file)
        let data = try Data(contentsOf: file)
        try check(data.count == 1_000_000 && Pattern.matches(data, at: 0), "wrong file of \(data.count) bytes")
        try FileManager.default.removeItem(at: file)
    }

    /// The files that calls have left behind.
    var remnants: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] }
}
