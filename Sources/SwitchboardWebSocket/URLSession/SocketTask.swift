import Foundation

/// The part of `URLSessionWebSocketTask` that a ``FoundationSocket`` uses. Tests play scripts instead.
///
/// The callbacks may come on any thread, more than once, or never.
package protocol SocketTask: Sendable {
    /// Starts the handshake. The socket gets the events of the session's delegate.
    ///
    /// - Parameters:
    ///   - socket: The socket of the task.
    ///   - limit: The largest message to receive, in bytes.
    func start(for socket: FoundationSocket, limit: Int)
    /// Sends a message.
    func send(_ payload: Data, isText: Bool, _ completion: @escaping @Sendable ((any Error)?) -> Void)
    /// Receives one message.
    func receive(_ completion: @escaping @Sendable (Result<SocketEvent, any Error>) -> Void)
    /// Sends a ping, and calls `completion` with its pong.
    func ping(_ completion: @escaping @Sendable ((any Error)?) -> Void)
    /// Sends a Close frame.
    func close(_ code: UInt16, reason: Data)
    /// Ends the connection at once.
    func cancel()
}
