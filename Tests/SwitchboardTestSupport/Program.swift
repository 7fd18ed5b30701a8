import Foundation

/// A program that a test started: a client or a server that does not depend on this package.
///
/// It does not use Foundation's `Process`, which crashes on Linux: `Process` reads the descriptors of this process, of
/// which a run of all tests has a thousand, while other threads close and open them.
public struct Program: Sendable {
    /// The process's id.
    public let id: pid_t
    /// Its standard output. Standard input and error are the null device.
    public let output: FileHandle

    /// Starts a program at a path. The program inherits only its three standard descriptors. Throws on tvOS and watchOS,
    /// which start no programs.
    public init(_ path: String, _ arguments: [String]) throws {
        #if os(tvOS) || os(watchOS)
        throw POSIXError(.ENOSYS)
        #else
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
        // Dispatch's threads block signals, and a child would inherit that.
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
        #endif
    }

    #if !canImport(Darwin)
    private typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

    /// `posix_spawn_file_actions_addclosefrom_np`, which glibc has since 2.34 and its Swift module does not export.
    private static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast($0, to: CloseFrom.self)
    }
    #endif

    /// Waits for the end. Returns the exit status, or 128 plus the signal that ended the program. Blocks the thread.
    public func waitForEnd() -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }

    /// Kills the program, and waits for its end.
    public func kill() {
        _ = Foundation.kill(id, SIGKILL)
        _ = waitForEnd()
    }

    /// Runs a program to its end. Returns its output and the result of ``waitForEnd()``. Blocks the thread.
    public static func run(_ path: String, _ arguments: [String]) throws -> (output: Data, exit: Int32) {
        let program = try Program(path, arguments)
        let output = try program.output.readToEnd() ?? Data()
        return (output, program.waitForEnd())
    }

    /// Returns the path of a program by its name, from `PATH`, or nil when it is not installed.
    public static func path(of name: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
            .first(where: FileManager.default.isExecutableFile)
    }
}
