import CDispatch
import Glibc
import Synchronization

/// A small server with a thread for each connection. The path selects the response. It runs in a separate process, so
/// that the client's figures exclude it.
enum Server {
    /// The body bytes written for `/large` since the last such request began.
    static let written = Atomic<Int>(0)
    static let connections = Atomic<Int>(0)

    /// Serves until the standard input ends. Writes three ports to the standard output: the server's, one whose backlog
    /// is full so that no connection gets through, and that of the WebSockets.
    static func serve() -> Never {
        guard let open = Socket.listen(backlog: 1024), let full = Socket.listen(backlog: 0) else { exit(1) }
        // The server accepts none of these connections. Once they fill the backlog, the system drops new ones.
        for _ in 0..<4 { Socket.connect(port: full.port) }
        guard let sockets = try? SocketServer() else { exit(1) }
        say("\(open.port) \(full.port) \(sockets.port)")
        start { waitForParent() }
        while true {
            let descriptor = accept(open.descriptor, nil, nil)
            guard descriptor >= 0 else { continue }
            start {
                var connection = Connection(descriptor)
                connection.serve()
            }
        }
    }

    private static func waitForParent() {
        var byte: UInt8 = 0
        while read(STDIN_FILENO, &byte, 1) > 0 {}
        _exit(0)
    }

    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private static func start(_ body: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, 256 << 10)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Work(body))
        let code = pthread_create(
            &thread, &attributes,
            { context in
                guard let context else { return nil }
                Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, context.toOpaque())
        if code != 0 { context.release() }
    }
}
