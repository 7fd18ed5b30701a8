import Foundation
import Switchboard

/// Why the program ends without an answer: one line for people, one number for scripts.
struct Failure: Error, Equatable {
    let exitCode: ExitCode
    let message: String

    init(_ exitCode: ExitCode, _ message: String) {
        self.exitCode = exitCode
        self.message = message.onOneLine.cut(to: 400)
    }

    /// Any error, as a failure.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as NetworkError: self.init(error)
        default: self.init(.refused, "\(error)")
        }
    }

    private init(_ error: NetworkError) {
        if let said = ServerError(error), !said.message.isEmpty {
            self.init(.refused, said.message)
        } else {
            self.init(Self.exitCode(for: error), error.description)
        }
    }

    private static func exitCode(for error: NetworkError) -> ExitCode {
        let unavailable: [NetworkError.Code] = [
            .cannotConnect, .timedOut, .insecureConnection, .cannotAuthenticate, .truncatedBody,
        ]
        if unavailable.contains(where: error.code.isKind) { return .unavailable }
        if error.code == .cannotWriteFile { return .cannotWrite }
        let badData: [NetworkError.Code] = [.invalidResponse, .cannotDecodeResponse]
        if badData.contains(where: error.code.isKind) { return .badData }
        // Nothing was sent: the server's URL is at fault.
        let usage: [NetworkError.Code] = [.invalidRequest, .unsupported]
        return usage.contains(where: error.code.isKind) ? .usage : .refused
    }
}
