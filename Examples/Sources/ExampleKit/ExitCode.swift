/// How a program ends, in the numbers of `sysexits.h`.
package enum ExitCode: Int32, Sendable {
    case success = 0
    /// The server was asked and said no.
    case refused = 1
    /// The command line makes no sense.
    case usage = 64
    /// The server's answer makes no sense.
    case badData = 65
    /// A file to send could not be read.
    case noInput = 66
    /// There was no answer.
    case unavailable = 69
    /// The answer could not be written.
    case cannotWrite = 74
    /// Something has to be set up first.
    case configuration = 78
}
