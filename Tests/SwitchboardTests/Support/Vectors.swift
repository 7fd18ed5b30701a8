import Foundation
import Testing

/// Test data written by others. It is no part of the repository: it lies in `shared/vectors` beside the checkout.
enum Vectors {
    static let folder = (1...5).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        .appendingPathComponent("shared/vectors", isDirectory: true)

    static func has(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent(name).path)
    }

    static func data(_ name: String) throws -> Data {
        try Data(contentsOf: folder.appendingPathComponent(name))
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test where the vectors of this name are missing.
    static func vectors(_ name: String) -> Self {
        .enabled(if: Vectors.has(name), "left out without ../shared/vectors/\(name)")
    }
}
