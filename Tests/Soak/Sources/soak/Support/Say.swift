import Foundation

/// Writes a line to the standard output at once, even if that is a pipe.
func say(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
}

/// Writes a line to the standard error at once.
func complain(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
}

/// Writes a line to the standard error, and ends the process.
func stop(_ line: String, _ status: Int32) -> Never {
    complain(line)
    exit(status)
}
