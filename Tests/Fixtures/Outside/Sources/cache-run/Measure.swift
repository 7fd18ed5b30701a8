import Foundation
import Switchboard
import SwitchboardCache

/// Measures a cache in a folder of files.
struct Measure {
    let folder: URL
    let count: Int
    let size: Int

    private func url(_ index: Int) -> URL { URL(string: "https://example.com/films/\(index)?\(size)")! }

    private func router(_ cache: ResponseCache) -> Router<URLEndPoint> {
        Router(session: Origin(), exchangeInterceptors: [cache])
    }

    private func get(_ router: Router<URLEndPoint>, _ index: Int) async throws -> NetworkResponse {
        try await router.response(for: URLEndPoint(.get, url(index)))
    }

    /// Prints the time per operation: by the wall and by the processor.
    private func time(_ name: String, _ rounds: Int, _ body: (Int) async throws -> Void) async rethrows {
        let clock = ContinuousClock()
        let (began, used) = (clock.now, Self.processorTime)
        for round in 0..<rounds { try await body(round) }
        let wall = (clock.now - began) / rounds
        print(
            "\(name): \(Self.microseconds(wall)) us, processor \((Self.processorTime - used) / Double(rounds) * 1e6) us"
        )
    }

    private static func microseconds(_ time: Duration) -> Double {
        Double(time.components.seconds) * 1e6 + Double(time.components.attoseconds) / 1e12
    }

    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    static var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4_096
    }

    func fill() async throws {
        let router = router(try ResponseCache(folder: folder, diskLimit: 8 << 30, memoryLimit: 0))
        try await time("store on disk", count) { _ = try await get(router, $0) }
    }

    /// Returns the time from the creation of a cache to its first hit, then to a miss.
    func first() async throws {
        let clock = ContinuousClock()
        let began = clock.now
        let cache = try ResponseCache(folder: folder, diskLimit: 8 << 30, memoryLimit: 1 << 20)
        let router = router(cache)
        let response = try await get(router, count / 2)
        print("first hit: \(Self.microseconds(clock.now - began)) us, \(response.cacheAge != nil)")
        let (next, used) = (clock.now, Self.processorTime)
        let missed = try await router.response(for: URLEndPoint(.get, URL(string: "https://example.com/new?100")!))
        print(
            "next miss, which lists: \(Self.microseconds(clock.now - next)) us, processor \((Self.processorTime - used) * 1e6) us,",
            missed.cacheAge == nil)
        let last = clock.now
        let usage = await cache.usage
        print("usage: \(Self.microseconds(clock.now - last)) us, \(usage)")
    }

    func hits() async throws {
        let files =
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "response" } ?? []
        let disk = router(try ResponseCache(folder: folder, diskLimit: 8 << 30, memoryLimit: 0))
        let memory = router(try ResponseCache(folder: folder, diskLimit: 8 << 30, memoryLimit: 1 << 30))
        let alone = router(ResponseCache(memoryLimit: 1 << 30))
        let none = Router<URLEndPoint>(session: Origin())
        let few = min(count, 200)
        for index in 0..<few {
            _ = try await get(disk, index)
            _ = try await get(memory, index)
            _ = try await get(alone, index)
        }
        for _ in 1...3 {
            try await time("read by Data(contentsOf:)", 5_000) { _ = try Data(contentsOf: files[$0 % few]) }
            await time("read by open, fstat, read", 5_000) { read(files[$0 % few].path) }
            try await time("hit from disk", 5_000) { _ = try await get(disk, $0 % few) }
            try await time("hit from memory, with a folder", 20_000) { _ = try await get(memory, $0 % few) }
            try await time("hit from memory", 20_000) { _ = try await get(alone, $0 % few) }
            try await time("no cache, 0 bytes", 20_000) { _ in
                _ = try await none.response(for: URLEndPoint(.get, URL(string: "https://example.com/films/1?0")!))
            }
        }
    }

    private func read(_ path: String) {
        let descriptor = open(path, O_RDONLY)
        var information = stat()
        fstat(descriptor, &information)
        let data = Data(count: Int(information.st_size)).withUnsafeBytes { $0.count }
        let room = UnsafeMutableRawPointer.allocate(byteCount: data, alignment: 16)
        _ = Foundation.read(descriptor, room, data)
        room.deallocate()
        close(descriptor)
    }

    func lookups() async throws {
        let router = router(ResponseCache(memoryLimit: 1 << 30))
        for index in 0..<count { _ = try await get(router, index) }
        for _ in 1...5 {
            try await time("lookup of \(count) in memory", 20_000) { _ = try await get(router, $0 &* 7_919 % count) }
            print("resident: \(Self.residentBytes >> 10) KiB")
        }
        let small = self.router(ResponseCache(memoryLimit: count * size / 2))
        for index in 0..<count { _ = try await get(small, index) }
        try await time("store and evict in memory", count) { _ = try await get(small, $0) }
        print("resident: \(Self.residentBytes >> 10) KiB")
    }

    /// Makes hits, for a program that counts system calls or instructions.
    func repeatHits(memoryLimit: Int) async throws {
        let router = router(try ResponseCache(folder: folder, diskLimit: 8 << 30, memoryLimit: memoryLimit))
        for _ in 0..<count { _ = try await get(router, 1) }
    }
}
