import Foundation
import Glibc
import SwitchboardMocks

/// A server of WebSockets. The path selects its behavior.
struct SocketServer {
    private let server: MockServer

    init() throws {
        Self.raiseDescriptorLimit()
        server = try MockServer { request in
            switch request.target {
            case "/echo": .webSocket(.echo)
            case "/flood": .webSocket(steps: (0..<300).map { _ in .binary(Data(count: 5_000)) } + [.close(1000)])
            case "/stall": .webSocket(.stall)
            case "/drop": .webSocket(.text("one"), .pause(.milliseconds(1)), .drop)
            case "/reset": .webSocket(.text("one"), .bytes(Data([0x81, 0x05, 0x61])), .reset)
            case "/close": .webSocket(.text("one"), .pause(.milliseconds(1)), .close(1001))
            case "/wrong": .webSocket(.text("one"), .frame(0x3, Data()))
            default: .stall
            }
        }
    }

    var port: Int { server.port }

    /// Raises the number of descriptors that the process may open to the greatest that the system allows.
    static func raiseDescriptorLimit() {
        var limit = rlimit()
        getrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit)
    }
}
