import Foundation

/// Where the program's text goes: the terminal, or a test's notebook.
struct Console: Sendable {
    /// Takes what was asked for.
    let show: @Sendable (String) throws -> Void
    /// Takes everything else: the log and the reason of a failure.
    let note: @Sendable (String) -> Void
    /// Draws over the last line of a terminal; nil where there is none, so that nothing of the kind gets into a file.
    var draw: (@Sendable (String) -> Void)?

    static let standard = Console(
        show: { text in
            do {
                try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
            } catch {
                throw Failure(.cannotWrite, "cannot write to standard output")
            }
        },
        note: { text in
            try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
        },
        draw: terminal)

    private static var terminal: (@Sendable (String) -> Void)? {
        guard isatty(STDERR_FILENO) == 1, ProcessInfo.processInfo.environment["TERM"] != "dumb" else { return nil }
        return { text in try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
    }
}
