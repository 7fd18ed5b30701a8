import Foundation
import Movies
import Switchboard
import SwitchboardCache

/// A cache hit of a page, without decoding. Nothing is sent, because each page is stored before.
struct CacheBenchmarks {
    let page: Data

    func run(_ figures: inout MicroFigures) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("micro-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let memory = router(ResponseCache())
        try await figures.add("cache.memory") { consume(try await memory.response(for: .newMovies(page: 1))) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let disk = router(try ResponseCache(folder: folder, memoryLimit: 0))
        try await figures.add("cache.disk") { consume(try await disk.response(for: .newMovies(page: 1))) }
        let file = folder.appendingPathComponent("page.json")
        try page.write(to: file)
        try await figures.add("cache.file") { consume(try Data(contentsOf: file)) }
        try await addMany(&figures)
    }

    private func router(_ cache: ResponseCache) -> Router<MovieApi> {
        Router(session: ReadySession(page), exchangeInterceptors: [cache])
    }

    /// Adds hits in a random order among 10,000 pages.
    private func addMany(_ figures: inout MicroFigures) async throws {
        guard figures.wants("cache.many") else { return }
        let many = router(ResponseCache(memoryLimit: 1 << 30))
        for number in 0..<10_000 { consume(try await many.response(for: .newMovies(page: number))) }
        var state = 1
        try await figures.add("cache.many") {
            state = (state * 1_103_515_245 + 12_345) % (1 << 31)
            let response = try await many.response(for: .newMovies(page: state % 10_000))
            guard response.cacheOutcome == .hit else { throw UnexpectedAnswer(description: "cache.many: no hit") }
        }
    }
}
