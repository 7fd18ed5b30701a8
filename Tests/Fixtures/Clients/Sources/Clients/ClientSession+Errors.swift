import AsyncHTTPClient
import NIOCore
import NIOPosix
import Switchboard

extension ClientSession {
    /// Translates the client's errors: callers and `RetryPolicy`
    /// decide by the code.
    static func error(_ error: any Error) -> any Error {
        if error is CancellationError || error is NetworkError {
            return error
        }
        if Task.isCancelled { return CancellationError() }
        return NetworkError(code(of: error), underlying: error)
    }

    private static func code(of error: any Error) -> NetworkError.Code {
        switch error {
        case let error as HTTPClientError: code(of: error)
        case is NIOTooManyBytesError: .responseTooLarge
        case is NIOConnectionError: .cannotConnect
        case is IOError, is ChannelError: .connectionLost
        default: .unknown
        }
    }

    private static func code(
        of error: HTTPClientError
    ) -> NetworkError.Code {
        switch error {
        case .readTimeout, .writeTimeout, .connectTimeout,
            .tlsHandshakeTimeout, .deadlineExceeded:
            .timedOut
        case .remoteConnectionClosed: .connectionLost
        case .uncleanShutdown: .truncatedBody
        case .alreadyShutdown: .sessionInvalidated
        default: .invalidResponse
        }
    }
}
