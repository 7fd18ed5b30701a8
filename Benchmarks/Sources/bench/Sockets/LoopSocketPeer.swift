import SocketLoop

/// A socket in C that parses nothing: the lower bound for one connection. It blocks the thread of its task.
struct LoopSocketPeer: SocketPeer {
    let port: Int
    /// Whether a second thread reads, as for a client whose tasks run on Swift's own threads.
    let hasThread: Bool

    func echo(_ schedule: EchoSchedule) async throws -> Int {
        guard let port = UInt16(exactly: port), let loop = socket_loop_open(port, hasThread) else {
            throw UnexpectedAnswer(description: "no upgrade")
        }
        defer { socket_loop_close(loop) }
        return try await schedule.run {
            guard socket_loop_echo(loop) else { throw UnexpectedAnswer(description: "no answer") }
        }
    }
}
