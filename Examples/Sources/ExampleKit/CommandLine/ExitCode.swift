/// The exit code of a program, as `sysexits.h` numbers them.
package enum ExitCode: Int32, Sendable {
    case success = 0
    /// The server refused the request.
    case refused = 1
    /// The command line is invalid.
    case usage = 64
    /// The server's response is invalid.
    case badData = 65
    /// A file to send could not be read.
    case noInput = 66
    /// The server did not respond.
    case unavailable = 69
    /// The result could not be written.
    case cannotWrite = 74
    /// The configuration is incomplete.
    case configuration = 78
}
