import Foundation

/// Times in nanoseconds since 1970.
enum CacheTime {
    /// The longest duration of a tick of a file system's clock. Changes within one have the same time.
    static let tick: Int64 = 10_000_000
    static let second: Int64 = 1_000_000_000

    /// The time by which the time of use that a file states may be late.
    static let lag: Int64 = 60_000_000_000

    /// The current time. Reading it is no system call.
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1e9) }
}
