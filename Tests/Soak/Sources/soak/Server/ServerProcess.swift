import Foundation
import Glibc

/// The server in a separate process, which runs this program again.
final class ServerProcess: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let port: UInt16
    /// The port whose connections are never accepted.
    let fullPort: UInt16
    /// The port of the WebSockets.
    let socketPort: UInt16
    private let identifier: pid_t
    private let channel: Int32

    init() throws(Failure) {
        guard let server = Spawn.server(), server.ports.count == 3 else {
            throw Failure(description: "the server process did not report its ports")
        }
        (port, fullPort, socketPort) = (server.ports[0], server.ports[1], server.ports[2])
        (identifier, channel) = (server.process, server.channel)
    }

    func stop() {
        close(channel)
        var status: Int32 = 0
        waitpid(identifier, &status, 0)
    }

    var base: String { "http://127.0.0.1:\(port)/" }

    var url: URL { url(port) }

    /// The URL of the WebSockets.
    var socketURL: URL { url(socketPort) }

    private func url(_ port: UInt16) -> URL {
        var components = URLComponents()
        (components.scheme, components.host, components.port) = ("http", "127.0.0.1", Int(port))
        return components.url ?? URL(fileURLWithPath: "/")
    }
}
