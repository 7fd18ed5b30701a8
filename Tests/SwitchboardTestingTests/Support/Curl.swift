import Foundation

/// The curl command: a client that this package has no part in.
struct Curl {
    let exit: Int32
    let output: Data

    var text: String { String(decoding: output, as: UTF8.self) }

    static var isInstalled: Bool { path != nil }

    private static let path: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (["/usr/bin"] + folders).map { $0 + "/curl" }.first(where: FileManager.default.isExecutableFile)
    }()

    /// Runs `curl --silent` with these arguments and waits for its end.
    static func run(_ arguments: String...) async throws -> Curl {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path ?? "/usr/bin/curl")
        process.arguments = ["--disable", "--silent", "--noproxy", "*", "--max-time", "30"] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try process.run()
                        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
                        process.waitUntilExit()
                        return Curl(exit: process.terminationStatus, output: output)
                    })
            }
        }
    }
}
