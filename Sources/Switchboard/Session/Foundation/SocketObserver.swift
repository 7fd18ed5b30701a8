import Foundation

/// A WebSocket that receives the events of its task from the session's delegate.
package protocol SocketObserver: AnyObject, Sendable {
    /// Receives the end of the handshake. Foundation on Linux also reports a refused handshake as open.
    func didOpen(with subprotocol: String?, _ response: URLResponse?)
    /// Receives the code and the reason of the server's Close frame.
    func didClose(with code: Int, _ reason: Data?)
    /// Receives the end of the task, with its response if one arrived.
    func didComplete(with error: (any Error)?, _ response: URLResponse?)
}
