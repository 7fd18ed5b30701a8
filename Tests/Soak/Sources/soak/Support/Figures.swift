import Foundation
import Glibc

/// The resources that this process holds.
struct Figures: CustomStringConvertible {
    var residentKiB = 0
    var descriptors = 0
    var threads = 0

    var mebibytes: String { String(format: "%.1f", Double(residentKiB) / 1024) }

    var description: String { "rss \(mebibytes) MiB, descriptors \(descriptors), threads \(threads)" }

    /// Reads the current figures.
    static func now() -> Figures {
        Figures(
            residentKiB: field("Rss:", of: "/proc/self/smaps_rollup"), descriptors: countDescriptors(),
            threads: field("Threads:", of: "/proc/self/status"))
    }

    /// Returns the figures after the process is idle: waits for descriptors and threads to close, and has malloc return
    /// free memory to the system. Waits longer while a figure exceeds `goal`, because that would be a fault.
    static func settled(goal: Figures? = nil) async -> Figures {
        await useClocks()
        usleep(500_000)
        var best = now()
        for _ in 0..<100 {
            _ = trim?(0)
            let figures = now()
            best.residentKiB = figures.residentKiB
            best.descriptors = min(best.descriptors, figures.descriptors)
            best.threads = min(best.threads, figures.threads)
            guard let goal, best.descriptors > goal.descriptors || best.threads > goal.threads else { break }
            // This blocks the thread instead of suspending the task: Dispatch's threads end after five idle seconds.
            usleep(100_000)
            // On one processor, the tasks that close the descriptors need this thread.
            if best.descriptors > goal.descriptors { try? await Task.sleep(for: .milliseconds(1)) }
        }
        return best
    }

    /// Sleeps by both clocks, because Dispatch keeps a descriptor for each clock in use.
    private static func useClocks() async {
        try? await Task.sleep(for: .milliseconds(50), clock: .continuous)
        try? await Task.sleep(for: .milliseconds(50), clock: .suspending)
    }

    /// malloc_trim(3), from a header that Swift does not import.
    private static let trim = dlsym(nil, "malloc_trim").map {
        unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self)
    }

    private static func field(_ name: String, of path: String) -> Int {
        guard let file = fopen(path, "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix(name) { return Int(text.filter(\.isNumber)) ?? 0 }
        }
        return 0
    }

    private static func countDescriptors() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = -3  // ".", ".." and the descriptor of this folder
        while readdir(folder) != nil { count += 1 }
        return count
    }
}
