import Foundation

/// The resources that this process has used so far.
enum ProcessUsage {
    /// The user and system time of all threads, in microseconds.
    static var cpuMicroseconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) * 1e6 + Double($1.tv_usec) }
    }

    /// The largest resident size so far, in KiB: `VmHWM` of proc(5). 0 if that file does not exist.
    static var peakResidentKiB: Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
        else { return 0 }
        return Int(line.filter(\.isNumber)) ?? 0
    }
}
