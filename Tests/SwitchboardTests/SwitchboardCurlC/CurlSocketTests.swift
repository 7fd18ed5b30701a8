#if os(Linux)
import Foundation
import Switchboard
import SwitchboardCurlC
import SwitchboardTesting
import SwitchboardTestSupport
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

    /// Returns whether epoll watches a descriptor (proc_pid_fdinfo(5)).
    private func watches(_ epoll: Int32, _ descriptor: Int32) -> Bool {
        let text = (try? String(contentsOfFile: "/proc/self/fdinfo/\(epoll)", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").contains { line in
            let words = line.split(separator: " ")
            return words.count > 1 && words[0] == "tfd:" && words[1] == "\(descriptor)"
        }
    }

    private func isEpoll(_ descriptor: Int32) -> Bool {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
        return path == "anon_inode:[eventpoll]"
    }

    @Test("a closed connection leaves epoll although a duplicate is open", .timeLimit(.minutes(10)))
    func duplicatedConnection() async throws {
        let answer = DispatchSemaphore(value: 0)
        let handler: MockServer.Handler = { _ in
            answer.wait()
            return .text("ok")
        }
        try await MockServer.run(handler: handler) { server in
            defer { answer.signal() }
            let session = CurlSession(configuration: .direct)
            let call = Task { try await session.send(NetworkRequest(.get, server.url)) }
            _ = try await server.takeRequest()
            let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            let descriptors = names.compactMap { Int32($0) }
            let found = descriptors.first { port(of: $0, { getpeername($0, $1, $2) }) == server.port }
            let connection = try #require(found)
            let candidates = descriptors.filter(isEpoll)
            var watching: Int32?
            // libcurl waits for the answer, so it watches the connection soon.
            _ = await comesTrue {
                watching = candidates.first { watches($0, connection) }
                return watching != nil
            }
            let epoll = try #require(watching)
            answer.signal()
            _ = try await call.value
            // As in a child of this process, the connection stays open.
            let duplicate = dup(connection)
            defer { close(duplicate) }
            await session.shutdown()
            let isWatched = withExtendedLifetime(session) { watches(epoll, connection) }
            #expect(!isWatched)
        }
    }
}
#endif
