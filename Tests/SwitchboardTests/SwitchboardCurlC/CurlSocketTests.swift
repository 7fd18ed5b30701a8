#if os(Linux)
import Foundation
import SwitchboardCurlC
import Testing

struct CurlSocketTests {
    @Test("a send that fails ends the connection for the receiver too")
    func failedSend() throws {
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
        defer { for socket in pair { close(socket) } }
        try #require(shutdown(pair[0], Int32(SHUT_WR)) == 0)
        var byte: UInt8 = 0
        #expect(swcurl_socket_receive(pair[0], &byte, 1) == -Int(EAGAIN))
        #expect(swcurl_socket_send(pair[0], &byte, 1) == -Int(EPIPE))
        #expect(swcurl_socket_receive(pair[0], &byte, 1) == 0)
    }
}
#endif
