import Foundation
import Switchboard
import SwitchboardCache

/// Stores, reads, streams and removes at random, and checks each answer.
struct Churn {
    let cache: ResponseCache
    private let router: Router<URLEndPoint>
    private static let places = 160

    init(_ folder: URL, limit: Int) throws {
        cache = try ResponseCache(folder: folder, diskLimit: limit, memoryLimit: 1 << 20)
        router = Router(session: Origin(), exchangeInterceptors: [cache])
    }

    private static func url(_ index: Int) -> URL {
        URL(string: "https://example.com/films/\(index)")!
    }

    private func endPoint(_ url: URL, _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in })
        -> URLEndPoint
    {
        URLEndPoint(
            .get, url, headers: ["X-Kind": "\(Int.random(in: 0..<3))", "Accept": "*/*"],
            options: RequestOptions { change(&$0) })
    }

    /// Runs one operation. Returns false for an answer that is not whole, and nil when nothing answered.
    func step() async throws -> Bool? {
        let url = Self.url(Int.random(in: 0..<Self.places))
        switch Int.random(in: 0..<20) {
        case 0:
            await cache.remove(.url(url))
            return nil
        case 1:
            await cache.remove(.path("films/\(Int.random(in: 0..<Self.places))"))
            return nil
        case 2..<5: return try await check(url) { $0.cachePolicy = .reloadIgnoringLocalCacheData }
        case 5..<9: return try await checkStream(url)
        case 9..<11: return try await readSome(url)
        default: return try await check(url)
        }
    }

    private func check(_ url: URL, _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }) async throws
        -> Bool
    {
        let response = try await router.response(for: endPoint(url, change))
        return response.isWhole(response.body, of: url)
    }

    private func checkStream(_ url: URL, _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in })
        async throws -> Bool
    {
        let response = try await router.streamedResponse(for: endPoint(url, change))
        var body = Data()
        for try await chunk in response.bytes { body.append(chunk) }
        return response.isWhole(body, of: url)
    }

    /// Stops reading after the first chunk.
    private func readSome(_ url: URL) async throws -> Bool {
        let response = try await router.streamedResponse(for: endPoint(url))
        for try await _ in response.bytes { break }
        return true
    }

    /// Reads everything that is stored, without the origin. Returns the numbers of answers and of wrong ones.
    func checkAll() async -> (answers: Int, wrong: Int) {
        var (answers, wrong) = (0, 0)
        for index in 0..<Self.places {
            for kind in 0..<3 {
                let url = Self.url(index)
                let end = URLEndPoint(
                    .get, url, headers: ["X-Kind": "\(kind)", "Accept": "*/*"],
                    options: RequestOptions { $0.cachePolicy = .returnCacheDataDontLoad })
                if let response = try? await router.response(for: end) {
                    answers += 1
                    if !response.isWhole(response.body, of: url) { wrong += 1 }
                }
                if let response = try? await router.streamedResponse(for: end) {
                    answers += 1
                    var body = Data()
                    do {
                        for try await chunk in response.bytes { body.append(chunk) }
                    } catch {
                        wrong += 1
                        continue
                    }
                    if !response.isWhole(body, of: url) { wrong += 1 }
                }
            }
        }
        return (answers, wrong)
    }
}
