import Foundation
import Glibc

/// Starts this program again in another process.
enum Spawn {
    /// Starts the process with the argument `serve`. It ends with the channel, or with this process. Returns the ports
    /// that it writes, or nil if it cannot start.
    static func server() -> (process: pid_t, channel: Int32, ports: [UInt16])? {
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { return nil }
        let child = this(["serve"], input: pair[1], output: pair[1])
        close(pair[1])
        guard let child else { return nil }
        var text = [UInt8](repeating: 0, count: 64)
        let count = max(0, recv(pair[0], &text, text.count, 0))
        let ports = String(decoding: text[..<count], as: UTF8.self).split { !$0.isNumber }.compactMap { UInt16($0) }
        return (child, pair[0], ports)
    }

    /// Starts the process, with this process's standard streams unless others are given. Returns nil if it cannot
    /// start.
    static func this(_ arguments: [String], input: Int32? = nil, output: Int32? = nil, error: Int32? = nil) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, place) in [(input, STDIN_FILENO), (output, STDOUT_FILENO), (error, STDERR_FILENO)] {
            if let descriptor { posix_spawn_file_actions_adddup2(&actions, descriptor, place) }
        }
        let name = CommandLine.arguments[0]
        var words = ([name] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        // The link is resolved first: valgrind then returns the path of this program.
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? name
        var process = pid_t()
        return posix_spawn(&process, program, &actions, nil, &words, environ) == 0 ? process : nil
    }
}
