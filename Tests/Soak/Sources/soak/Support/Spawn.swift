import Foundation
import Glibc

/// Starts this program again in another process.
enum Spawn {
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
