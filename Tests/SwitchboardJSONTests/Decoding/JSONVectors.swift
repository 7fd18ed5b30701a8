import Foundation
import Testing

/// The texts of JSONTestSuite. The repository does not contain them: they are in `shared/vectors` next to the checkout.
enum JSONVectors {
    static let folder = (1...5).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        .appendingPathComponent("shared/vectors/json-test-suite", isDirectory: true)

    static let isThere = FileManager.default.fileExists(atPath: folder.path)

    /// Returns the sorted names of the texts with a prefix, without `.json`.
    static func names(_ prefix: String) -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasPrefix(prefix) && $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }.sorted()
    }

    static func data(_ name: String) throws -> Data {
        // `Data(contentsOf:)` of an empty file leaks on Linux, which the address sanitizer reports.
        try FileHandle(forReadingFrom: folder.appendingPathComponent(name + ".json")).readToEnd() ?? Data()
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test where JSONTestSuite is missing.
    static var jsonTestSuite: Self {
        .enabled(if: JSONVectors.isThere, "left out without ../shared/vectors/json-test-suite")
    }
}
