import Foundation
import SwitchboardTestSupport

/// The curl command: a client that does not depend on this package.
struct Curl {
    let exit: Int32
    let output: Data

    var text: String { String(decoding: output, as: UTF8.self) }

    static var isInstalled: Bool { path != nil }

    private static let path = Program.path(of: "curl")

    /// Runs `curl --silent` with these arguments and waits for its end.
    static func run(_ arguments: String...) async throws -> Curl {
        let arguments = ["--disable", "--silent", "--noproxy", "*", "--max-time", "120"] + arguments
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let (output, exit) = try Program.run(path ?? "/usr/bin/curl", arguments)
                        return Curl(exit: exit, output: output)
                    })
            }
        }
    }
}
