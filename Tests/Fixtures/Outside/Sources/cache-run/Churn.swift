import Foundation
import Switchboard
import SwitchboardCache

/// Stores, reads, streams and removes at random, and checks each answer.
struct Churn {
    let cache: ResponseCache
    private let router: Router<URLEndPoint>
    private static let places = 160
    private let files: URL

    init(_ folder: URL, limit: Int, files: URL) throws {
        self.files = files
        cache = try ResponseCache(folder: folder, diskLimit: limit, memoryLimit: 1 << 20)
        router = Router(session: Origin(), exchangeInterceptors: [cache])
    }

    private static func url(_ index: Int) -> URL {
        URL(string: "https://example.com/films/\(index)")!
    }

    /// Returns the fields that a download sends too.
    private static func headers(_ kind: Int) -> HTTPHeaders {
        ["X-Kind": "\(kind)", "Accept": "*/*", "Accept-Encoding": "identity"]
    }

    private func endPoint(_ url: URL, _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in })
        -> URLEndPoint
    {
        URLEndPoint(
            .get, url, headers: Self.headers(Int.random(in: 0..<3)),
            options: RequestOptions {
                $0.retry = .never
                change(&$0)
            })
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
        case 11..<14: return try await checkDownload(url)
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
        async throws -> Bool?
    {
        let response = try await router.streamedResponse(for: endPoint(url, change))
        var body = Data()
        do {
            for try await chunk in response.bytes { body.append(chunk) }
        } catch NetworkError.connectionLost {
            return nil
        }
        return response.isWhole(body, of: url)
    }

    /// Downloads to a file that another program may download too, or to one with a unique name. Refuses some files, and deletes
    /// others.
    private func checkDownload(_ url: URL) async throws -> Bool? {
        let isKept = Bool.random()
        let name = isKept ? url.lastPathComponent : "\(url.lastPathComponent)-\(UUID().uuidString)"
        let file = files.appendingPathComponent(name)
        let isRefused = Int.random(in: 0..<8) == 0
        do {
            try await router.download(endPoint(url), to: file, keepingPartial: isKept) { _ in
                if isRefused { throw Refusal() }
            }
        } catch NetworkError.connectionLost, NetworkError.cannotWriteFile, NetworkError.invalidResponse {
            // Another program downloads to the file, or the version changed too often.
            return nil
        } catch NetworkError.verificationFailed where isRefused {
            return nil
        }
        let isWhole = try Self.isWhole(file)
        if Int.random(in: 0..<4) > 0 { try? FileManager.default.removeItem(at: file) }
        return isWhole
    }

    private struct Refusal: Error {}

    /// Returns whether a downloaded file has the body of one version. A file that another program deleted has.
    private static func isWhole(_ file: URL) throws -> Bool {
        let body: Data
        do {
            body = try Data(contentsOf: file)
        } catch CocoaError.fileReadNoSuchFile {
            return true
        }
        guard let index = Int(file.lastPathComponent.prefix { $0 != "-" }) else { return false }
        return (0..<Origin.versions).contains { body == Origin.body(of: url(index), $0) }
    }

    /// Stops reading after the first chunk.
    private func readSome(_ url: URL) async throws -> Bool? {
        let response = try await router.streamedResponse(for: endPoint(url))
        do {
            for try await _ in response.bytes { break }
        } catch NetworkError.connectionLost {
            return nil
        }
        return true
    }

    /// Reads everything that is stored or downloaded, without the origin. Returns the numbers of answers and of wrong
    /// ones.
    func checkAll() async -> (answers: Int, wrong: Int) {
        var (answers, wrong) = (0, 0)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: files.path)) ?? [] where !name.hasPrefix(".")
        {
            answers += 1
            if (try? Self.isWhole(files.appendingPathComponent(name))) != true { wrong += 1 }
        }
        for index in 0..<Self.places {
            for kind in 0..<3 {
                let url = Self.url(index)
                let end = URLEndPoint(
                    .get, url, headers: Self.headers(kind),
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
