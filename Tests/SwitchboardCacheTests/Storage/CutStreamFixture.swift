import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardPlatform
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// A router over a cache and a file server, whose next responses may be cut off.
struct CutStreamFixture: Sendable {
    static let size = 300_001
    /// A stream accepts other types by default, which is another identity.
    static let headers: HTTPHeaders = ["Accept": "*/*", "Accept-Encoding": "identity"]

    let server: MockServer
    /// The folder of the downloads. The cache is in a folder in it.
    let folder: URL
    let cache: ResponseCache
    let router: Router<URLEndPoint>

    init(_ server: MockServer, _ folder: URL, isOnDisk: Bool = true) throws {
        (self.server, self.folder) = (server, folder)
        cache =
            isOnDisk
            ? try ResponseCache(folder: folder.appendingPathComponent("cache")) : ResponseCache(memoryLimit: 16 << 20)
        router = Router(exchangeInterceptors: [cache])
    }

    /// Runs a test with a server and a folder.
    static func run(isOnDisk: Bool = true, _ body: (CutStreamFixture) async throws -> Void) async throws {
        try await withFolder { folder in
            try await MockServer.run { server in
                try await body(CutStreamFixture(server, folder, isOnDisk: isOnDisk))
            }
        }
    }

    private static let contents = Protected<[String: Data]>([:])

    private static func content(of version: Int, _ size: Int) -> Data {
        let name = "\(version) \(size)"
        if let content = contents.value[name] { return content }
        let content = RangeServer.content(size, seed: UInt32(version) * 1_000_000)
        contents.withLock { $0[name] = content }
        return content
    }

    static func files(_ version: Int = 1, _ size: Int = size) -> RangeServer {
        RangeServer(
            content: content(of: version, size),
            validators: ["ETag": "\"v\(version)\"", "Cache-Control": "max-age=3600"])
    }

    var url: URL { server.url.appendingPathComponent("file") }

    func endPoint(_ headers: HTTPHeaders = [:]) -> URLEndPoint {
        URLEndPoint(
            .get, url, headers: Self.headers.merging(headers), options: RequestOptions { $0.retry = .never })
    }

    func stream(_ headers: HTTPHeaders = [:]) async throws -> NetworkResponse {
        try await router.streamedResponse(for: endPoint(headers))
    }

    /// Reads a stream, all of it or until a number of bytes have arrived.
    @discardableResult
    func read(_ response: NetworkResponse, upTo limit: Int = .max) async throws -> Data {
        var data = Data()
        for try await chunk in response.bytes {
            data += chunk
            if data.count >= limit { break }
        }
        return data
    }

    /// Reads a stream whose body ends early.
    func readCut(_ headers: HTTPHeaders = [:]) async throws {
        let error = await #expect(throws: NetworkError.self) { try await read(stream(headers)) }
        #expect(error?.code == .truncatedBody)
    }

    /// The `Range` and the `If-Range` of each request that the server received.
    var sent: [String] {
        server.requests.map {
            [$0.headers["Range"], $0.headers["If-Range"]].compactMap { $0 }.joined(separator: " ")
        }
    }

    /// Waits until a part is stored whose reader stopped.
    func waitForPart() async {
        #expect(await comesTrue { await cache.usage.count > 0 })
    }

    /// Returns the number of bytes of all files, each inode once.
    func bytesOnDisk() throws -> Int {
        var seen: Set<UInt64> = []
        var sum = 0
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        for case let file as URL in files ?? FileManager.DirectoryEnumerator() {
            let facts = try FileManager.default.attributesOfItem(atPath: file.path)
            guard facts[.type] as? FileAttributeType == .typeRegular, let size = facts[.size] as? Int,
                let inode = facts[.systemFileNumber] as? UInt64, seen.insert(inode).inserted
            else { continue }
            sum += size
        }
        return sum
    }
}
