import Foundation
import Glibc

/// The functions of `Tests/Soak/Shim/shim.c`, which the script preloads.
enum Shim {
    private typealias Name = @convention(c) (Int32) -> UnsafePointer<CChar>?
    private typealias Arm = @convention(c) (Int32, Int, Int32, Bool) -> Void
    private typealias Disarm = @convention(c) () -> Int
    private typealias Count = @convention(c) (Int32) -> Int
    private typealias StartLog = @convention(c) (UnsafePointer<CChar>) -> Void
    private typealias EndLog = @convention(c) (UnsafeMutablePointer<Int>) -> UnsafePointer<UInt8>?

    static let isLoaded = dlsym(nil, "fault_arm") != nil
    private static let name = function("fault_name", as: Name.self)
    private static let armFunction = function("fault_arm", as: Arm.self)
    private static let disarmFunction = function("fault_disarm", as: Disarm.self)
    private static let countFunction = function("fault_count", as: Count.self)
    private static let startLogFunction = function("fault_log_start", as: StartLog.self)
    private static let endLogFunction = function("fault_log_end", as: EndLog.self)

    /// The names of the calls that may fail, such as `open`.
    static let calls: [String] = {
        var names: [String] = []
        while let text = name(Int32(names.count)) { names.append(String(cString: text)) }
        return names
    }()

    private static func function<Function>(_ name: String, as type: Function.Type) -> Function {
        guard let address = dlsym(nil, name) else { stop("torture: shim.c has no \(name)", 64) }
        return unsafeBitCast(address, to: type)
    }

    /// Begins to count the calls, and makes some of them fail.
    static func arm(_ fault: Fault?) {
        let call = fault.flatMap { calls.firstIndex(of: $0.call) } ?? -1
        armFunction(Int32(call), fault?.index ?? 0, fault?.failure.number ?? 0, fault?.isOnward ?? false)
    }

    /// Ends the counting. Returns the number of calls that failed.
    static func disarm() -> Int { disarmFunction() }

    /// The calls since the last ``arm(_:)``.
    static var counts: [String: Int] {
        Dictionary(uniqueKeysWithValues: calls.enumerated().map { ($1, countFunction(Int32($0))) })
    }

    /// Begins to log the changes of the files in a folder.
    static func startLog(of folder: URL) { startLogFunction(folder.path) }

    static func endLog() -> Data {
        var size = 0
        guard let bytes = endLogFunction(&size) else { return Data() }
        return Data(bytes: bytes, count: size)
    }
}

/// A failing call: the n-th of its kind, and perhaps all later ones.
struct Fault: CustomStringConvertible {
    enum Failure: String, CaseIterable {
        case ENOSPC, EIO, EMFILE, EINTR, EAGAIN, EACCES, ENOLCK, ENOMEM, ENOBUFS, ENOSYS, ECONNRESET, ECONNREFUSED
        case ENETUNREACH, ENOENT, short

        var number: Int32 {
            switch self {
            case .ENOSPC: Glibc.ENOSPC
            case .EIO: Glibc.EIO
            case .EMFILE: Glibc.EMFILE
            case .EINTR: Glibc.EINTR
            case .EAGAIN: Glibc.EAGAIN
            case .EACCES: Glibc.EACCES
            case .ENOLCK: Glibc.ENOLCK
            case .ENOMEM: Glibc.ENOMEM
            case .ENOBUFS: Glibc.ENOBUFS
            case .ENOSYS: Glibc.ENOSYS
            case .ECONNRESET: Glibc.ECONNRESET
            case .ECONNREFUSED: Glibc.ECONNREFUSED
            case .ENETUNREACH: Glibc.ENETUNREACH
            case .ENOENT: Glibc.ENOENT
            case .short: -1
            }
        }
    }

    var call: String
    /// From 1.
    var index: Int
    var failure: Failure
    /// Whether all later calls fail too. After a short one they fail with `ENOSPC`.
    var isOnward: Bool

    /// The failures of a call that manual pages list, each alone or for all later calls too.
    static func failures(of call: String) -> [(Failure, isOnward: Bool)] {
        switch call {
        case "open":
            [
                (.EMFILE, false), (.EIO, false), (.ENOSPC, false), (.EINTR, false), (.EACCES, false), (.EMFILE, true),
                (.ENOSPC, true),
            ]
        case "read": [(.EIO, false), (.EINTR, false), (.short, false), (.EIO, true)]
        case "write": [(.ENOSPC, false), (.EIO, false), (.EINTR, false), (.short, false), (.short, true)]
        case "fsync": [(.EIO, false), (.ENOSPC, false), (.EIO, true)]
        case "rename": [(.EIO, false), (.ENOSPC, false), (.EACCES, true)]
        case "unlink": [(.EIO, false), (.EACCES, true)]
        case "list": [(.EIO, false), (.EIO, true)]
        case "mkdir": [(.ENOSPC, false), (.EACCES, true)]
        // Not onward: `createDirectory` of Foundation never returns when the root has no status.
        case "stat": [(.EIO, false), (.ENOMEM, false)]
        case "flock": [(.EINTR, false), (.ENOLCK, false), (.EAGAIN, false), (.ENOLCK, true)]
        case "truncate": [(.EIO, false), (.EINTR, false)]
        case "mmap": [(.ENOMEM, false), (.ENOMEM, true)]
        case "socket": [(.EMFILE, false), (.ENOBUFS, true)]
        case "connect": [(.ECONNREFUSED, false), (.ENETUNREACH, true)]
        case "send": [(.ECONNRESET, false), (.EINTR, false), (.EAGAIN, false), (.short, false)]
        case "receive": [(.ECONNRESET, false), (.EINTR, false), (.EAGAIN, false), (.short, false)]
        case "epoll_create", "eventfd": [(.EMFILE, false), (.EMFILE, true)]
        case "epoll_ctl": [(.ENOMEM, false), (.ENOSPC, true)]
        case "dup": [(.EMFILE, false), (.EMFILE, true)]
        case "thread": [(.EAGAIN, false)]
        case "random": [(.ENOSYS, false), (.EIO, true)]
        default: []
        }
    }

    init(_ call: String, _ index: Int, _ failure: Failure, isOnward: Bool) {
        (self.call, self.index, self.failure, self.isOnward) = (call, index, failure, isOnward)
    }

    /// Parses `open:3:EMFILE`, or `open:3:EMFILE+` for all later calls too.
    init?(_ text: Substring) {
        let words = text.split(separator: ":")
        guard words.count == 3, Shim.calls.contains(String(words[0])), let index = Int(words[1]), index > 0,
            let failure = Failure(rawValue: words[2].filter { $0 != "+" })
        else { return nil }
        self.init(String(words[0]), index, failure, isOnward: words[2].hasSuffix("+"))
    }

    /// Whether a scene runs this fault not after another one.
    func isAtMost(_ other: Fault) -> Bool {
        func position(_ fault: Fault) -> [Int] {
            let failures = Self.failures(of: fault.call)
            return [
                Shim.calls.firstIndex(of: fault.call) ?? 0, fault.index,
                failures.firstIndex { $0 == (fault.failure, fault.isOnward) } ?? 0,
            ]
        }
        return !position(other).lexicographicallyPrecedes(position(self))
    }

    var description: String { "\(call):\(index):\(failure.rawValue)\(isOnward ? "+" : "")" }
}
