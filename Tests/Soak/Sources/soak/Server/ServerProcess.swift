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
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else {
            throw Failure(description: "cannot create a socket pair")
        }
        let child = Spawn.this(["serve"], input: pair[1], output: pair[1])
        close(pair[1])
        guard let child else { throw Failure(description: "cannot start the server process") }
        var text = [UInt8](repeating: 0, count: 64)
        let count = max(0, recv(pair[0], &text, text.count, 0))
        let ports = String(decoding: text[..<count], as: UTF8.self).split { !$0.isNumber }.compactMap { UInt16($0) }
        guard ports.count == 3 else { throw Failure(description: "the server process did not report its ports") }
        (port, fullPort, socketPort) = (ports[0], ports[1], ports[2])
        (identifier, channel) = (child, pair[0])
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
