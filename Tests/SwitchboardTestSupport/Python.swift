import Foundation
import Testing

/// Python, as an independent encoder and decoder.
package enum Python {
    package static let path = Program.path(of: "python3")

    /// Runs a script and returns its standard output.
    package static func run(_ script: String, _ arguments: String...) throws -> Data {
        let (output, exit) = try Program.run(try #require(path), ["-c", script] + arguments)
        try #require(exit == 0, "python3 ended with \(exit)")
        return output
    }

    /// Decompresses data with Python's gzip module, which checks checksums and lengths.
    package static func gunzip(_ packed: [Data]) async throws -> [Data] {
        try await withFolder { folder in
            for (index, data) in packed.enumerated() { try data.write(to: folder.appendingPathComponent("\(index)")) }
            let script = """
                import gzip, sys
                for name in range(int(sys.argv[2])):
                    whole = gzip.decompress(open(f"{sys.argv[1]}/{name}", "rb").read())
                    open(f"{sys.argv[1]}/{name}.out", "wb").write(whole)
                """
            _ = try run(script, folder.path, String(packed.count))
            return try packed.indices.map { try Data(contentsOf: folder.appendingPathComponent("\($0).out")) }
        }
    }
}

extension Trait where Self == ConditionTrait {
    package static var needsPython: Self { .enabled(if: Python.path != nil, "left out without python3") }
}
