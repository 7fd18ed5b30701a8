import Foundation
import SwitchboardTestSupport
import Testing

/// Python, as an independent reader and writer of formats.
enum Python {
    static let path = Program.path(of: "python3")

    /// What a script writes to its standard output.
    static func run(_ script: String, _ arguments: String...) throws -> Data {
        let (output, exit) = try Program.run(try #require(path), ["-c", script] + arguments)
        try #require(exit == 0, "python3 ended with \(exit)")
        return output
    }

    /// What its gzip module makes of some bytes each; it checks their checksums and lengths.
    static func gunzip(_ packed: [Data]) async throws -> [Data] {
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
    static var needsPython: Self { .enabled(if: Python.path != nil, "left out without python3") }
}
