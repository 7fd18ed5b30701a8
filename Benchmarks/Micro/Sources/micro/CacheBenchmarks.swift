import Callgrind
import Foundation
import Movies
import Switchboard
import SwitchboardCache

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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
        try await addURLCache(&figures)
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

    /// Adds the same hit of a URLCache, by `URLSession`. Its threads make the counts of callgrind inexact.
    private func addURLCache(_ figures: inout MicroFigures) async throws {
        guard figures.wants("cache.urlcache"), !callgrind_is_there(),
            let url = URL(string: "http://127.0.0.1:9/now_playing?page=1")
        else { return }
        let configuration = URLSessionConfiguration.default
        let cache = URLCache(memoryCapacity: 20 << 20, diskCapacity: 0, diskPath: nil)
        configuration.urlCache = cache
        configuration.requestCachePolicy = .returnCacheDataDontLoad
        let fields = ["Content-Type": "application/json", "Cache-Control": "max-age=3153600000"]
        guard let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
        else {
            throw URLError(.badURL)
        }
        cache.storeCachedResponse(CachedURLResponse(response: head, data: page), for: URLRequest(url: url))
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        try await figures.add("cache.urlcache") {
            let body: Data = try await withCheckedThrowingContinuation { continuation in
                session.dataTask(with: URLRequest(url: url)) { data, _, error in
                    continuation.resume(with: data.map { .success($0) } ?? .failure(error ?? URLError(.unknown)))
                }.resume()
            }
            guard body.count == page.count else { throw UnexpectedAnswer(description: "cache.urlcache: no hit") }
        }
    }
}
