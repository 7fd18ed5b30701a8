import Foundation
import Testing

/// Test data from other projects. It is in `shared/vectors` beside the checkout, outside the repository.
package enum Vectors {
    package static let folder = (1...4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }
    .appendingPathComponent("shared/vectors", isDirectory: true)

    package static func has(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent(name).path)
    }

    package static func data(_ name: String) throws -> Data {
        try Data(contentsOf: folder.appendingPathComponent(name))
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test if the vectors of this name are missing.
    package static func vectors(_ name: String) -> Self {
        .enabled(if: Vectors.has(name), "left out without ../shared/vectors/\(name)")
    }
}
