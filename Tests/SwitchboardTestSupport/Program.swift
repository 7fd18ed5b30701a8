import Foundation

/// A program that a test started: a client or a server that this package has no part in.
///
/// Not Foundation's `Process`: on Linux it looks through the descriptors of this process, of which a run of all tests has
/// a thousand, and crashes when others close and open them meanwhile.
public struct Program: Sendable {
    /// The process.
    public let id: pid_t
    /// Its standard output. Standard input and error are the null device.
    public let output: FileHandle

    /// Starts a program at a path. It inherits no descriptor but its own three.
    public init(_ path: String, _ arguments: [String]) throws {
        let pipe = Pipe()
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, pipe.fileHandleForWriting.fileDescriptor, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        #if canImport(Darwin)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT | POSIX_SPAWN_SETSIGMASK))
        #else
        if let closeFrom = Self.closeFrom { _ = closeFrom(&actions, 3) }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        #endif
        // Threads of dispatch block signals, and a child would inherit that.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)

        var words = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var id: pid_t = 0
        let failure = posix_spawn(&id, path, &actions, &attributes, &words, environ)
        try pipe.fileHandleForWriting.close()
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
        self.id = id
        output = pipe.fileHandleForReading
    }

    #if !canImport(Darwin)
    private typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

    /// `posix_spawn_file_actions_addclosefrom_np`, which glibc has from 2.34 on and its Swift module does not show.
    private static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast($0, to: CloseFrom.self)
    }
    #endif

    /// Waits for the end: the exit status, or 128 and the signal that ended it. Blocks the thread.
    public func waitForEnd() -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }

    /// Ends it, and waits for that.
    public func kill() {
        _ = Foundation.kill(id, SIGKILL)
        _ = waitForEnd()
    }

    /// Runs a program to its end: all of its output, and ``waitForEnd()``. Blocks the thread.
    public static func run(_ path: String, _ arguments: [String]) throws -> (output: Data, exit: Int32) {
        let program = try Program(path, arguments)
        let output = try program.output.readToEnd() ?? Data()
        return (output, program.waitForEnd())
    }

    /// The path of a program by its name, from `PATH`. Nil when there is none.
    public static func path(of name: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
            .first(where: FileManager.default.isExecutableFile)
    }
}
