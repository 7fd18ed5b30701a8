import Foundation
import Switchboard

/// The reason why a program fails: one line for people and an exit code for scripts.
package struct Failure: Error, Equatable {
    package let exitCode: ExitCode
    package let message: String

    package init(_ exitCode: ExitCode, _ message: String) {
        self.exitCode = exitCode
        self.message = message.onOneLine.cut(to: 400)
    }

    /// Creates a failure from any error.
    package init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as NetworkError: self.init(error)
        case let error as any LocalizedError: self.init(.refused, error.errorDescription ?? "\(error)")
        default: self.init(.refused, "\(error)")
        }
    }

    private init(_ error: NetworkError) {
        if let said = error.serverMessage {
            self.init(.refused, said)
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
        // The request was never sent, because the server's URL is invalid.
        let usage: [NetworkError.Code] = [.invalidRequest, .unsupported]
        return usage.contains(where: error.code.isKind) ? .usage : .refused
    }
}
