import Foundation

extension stat {
    /// The time of the file's last change, in nanoseconds since 1970. A time before 1843 or after 2255 becomes the
    /// nearest one within, so that the difference to the current time is in range too.
    package var changed: Int64 {
        #if canImport(Darwin)
        let time = st_mtimespec
        #else
        let time = st_mtim
        #endif
        return Self.nanoseconds(time)
    }

    /// The time of the last change of the file, its names or its permissions, in nanoseconds since 1970.
    package var statusChanged: Int64 {
        #if canImport(Darwin)
        let time = st_ctimespec
        #else
        let time = st_ctim
        #endif
        return Self.nanoseconds(time)
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        max(-4_000_000_000, min(Int64(time.tv_sec), 9_000_000_000)) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
