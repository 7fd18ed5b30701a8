import SwitchboardCache
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CacheStreamTests {
    private static let large = Data((0..<(3 << 20)).lazy.map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    private static let headers: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
    private static let weak: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "W/\"1\""]
    /// A stream accepts other types by default, which is another identity.
    private static let accept: HTTPHeaders = ["Accept": "*/*"]
    private let url = URL(text: "https://h/film")

    private func names(_ folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
    }

    private func onDisk(_ folder: URL, _ session: StubSession, limit: Int = 100 << 20) throws -> CacheFixture {
        try CacheFixture(session) { try ResponseCache(folder: folder, diskLimit: limit, now: $0) }
    }

    private func stream(
        _ fixture: CacheFixture, _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }
    )
        async throws -> NetworkResponse
    {
        try await fixture.router.streamedResponse(
            for: URLEndPoint(.get, url, headers: Self.accept, options: RequestOptions(change)))
    }

    private func whole(_ fixture: CacheFixture, _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in })
        async throws -> NetworkResponse
    {
        try await fixture.response(url.absoluteString, .server, headers: Self.accept, change)
    }

    private func read(_ response: NetworkResponse) async throws -> Data {
        var data = Data()
        for try await chunk in response.bytes { data += chunk }
        return data
    }

    #if os(Linux)
    @Test(
        "a streamed body whose last bytes cannot be written is not stored", arguments: [1_000, 500_000], [false, true])
    func fullDisk(size: Int, isCut: Bool) async throws {
        try await withFolder { folder in
            let body = Self.large.prefix(size)
            let answer = MockResponse.data(Data(body), headers: Self.headers)
            let session = StubSession(
                isCut ? answer.truncated(after: size / 2) : answer, .data(Data(body), headers: Self.headers))
            let fixture = try onDisk(folder, session)
            var iterator = try await stream(fixture).bytes.makeAsyncIterator()
            _ = try await iterator.next()
            // From now on the system has no space for the file. A small body has none yet.
            var replaced = 0
            for number in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap({ Int32($0) })
            {
                let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
                guard path?.hasPrefix(folder.path + "/") == true else { continue }
                let full = open("/dev/full", O_WRONLY)
                replaced += dup2(full, number) == number ? 1 : 0
                close(full)
            }
            #expect(replaced > 0 || size == 1_000)
            do { while try await iterator.next() != nil {} } catch { #expect(isCut) }
            let range: HTTPHeaders = ["Accept": "*/*", "Range": "bytes=0-9"]
            for headers in [range, Self.accept] {
                let next = try await fixture.response(url.absoluteString, .server, headers: headers)
                #expect(next.body == (headers == range && next.statusCode == 206 ? body.prefix(10) : body))
                #expect(next.cacheOutcome == .miss(.notStored) || headers != range)
            }
        }
    }
    #endif

    @Test("a streamed response is stored while it is read, and answers others")
    func storing() async throws {
        try await withFolder { folder in
            let session = StubSession { _ in .data(Self.large, headers: Self.headers).chunked(100_000) }
            let fixture = try onDisk(folder, session)
            let first = try await stream(fixture)
            #expect(first.cacheOutcome == .miss(.notStored))
            #expect(try await read(first) == Self.large)
            let second = try await stream(fixture)
            #expect(second.body.isEmpty && second.cacheOutcome == .hit && second.cacheAge == .zero)
            let sizes = try await second.bytes.elements().map(\.count)
            #expect(sizes == [Int](repeating: 256 << 10, count: 12))
            let whole = try await whole(fixture)
            #expect(whole.body == Self.large && whole.cacheOutcome == .hit)
            let usage = await fixture.cache.usage
            #expect(usage.memory == 0 && usage.count == 1 && usage.bytesSaved == 2 * Self.large.count)
            let next = try onDisk(folder, StubSession())
            #expect(try await read(stream(next)) == Self.large)
            #expect(session.requests.count == 1)
            #expect(try names(folder).count == 1)
        }
    }

    @Test("a removal by another cache leaves a body that is arriving")
    func arriving() async throws {
        try await withFolder { folder in
            let session = StubSession { _ in .data(Self.large, headers: Self.headers).chunked(100_000) }
            let first = try await stream(onDisk(folder, session))
            await (try onDisk(folder, StubSession())).cache.removeAll()
            #expect(try await read(first) == Self.large)
            #expect(try await read(stream(onDisk(folder, StubSession()))) == Self.large)
        }
    }

    @Test("a large whole response is on disk only, and answers streams")
    func largeWhole() async throws {
        try await withFolder { folder in
            let fixture = try onDisk(folder, StubSession { _ in .data(Self.large, headers: Self.headers) })
            _ = try await whole(fixture)
            let usage = await fixture.cache.usage
            #expect(usage.memory == 0 && usage.disk > Self.large.count)
            let streamed = try await stream(fixture)
            #expect(streamed.body.isEmpty)
            #expect(try await read(streamed) == Self.large)
            // A body above the request's limit is neither read from disk nor loaded again.
            let code = await failure { try await whole(fixture) { $0.limits.responseBody = 1_000 } }
            #expect(code == .responseTooLarge)
            #expect(fixture.session.requests.count == 1)
        }
    }

    @Test("a small streamed response answers from memory", arguments: [false, true])
    func small(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let session = StubSession { _ in .data(Self.large.prefix(10_000), headers: Self.headers) }
            let fixture = isOnDisk ? try onDisk(folder, session) : CacheFixture(session)
            for _ in 1...3 { #expect(try await read(stream(fixture)) == Self.large.prefix(10_000)) }
            #expect(session.requests.count == 1)
            let usage = await fixture.cache.usage
            #expect(usage.memory > 10_000)
        }
    }

    @Test("without a folder, a stream is stored up to an eighth of the limit", arguments: [800, 801])
    func inMemory(size: Int) async throws {
        for isAnnounced in [true, false] {
            let body = Self.large.prefix(size)
            let session = StubSession { _ in
                isAnnounced
                    ? .data(body, headers: Self.headers) : .data(body, headers: Self.headers).chunked(100)
            }
            let fixture = CacheFixture(session) { ResponseCache(memoryLimit: 6_400, now: $0) }
            for _ in 1...2 { #expect(try await read(stream(fixture)) == body) }
            #expect(session.requests.count == (size == 800 ? 1 : 2))
        }
    }

    @Test("a small stream is stored in memory while the folder cannot be used", arguments: [10_000, 2 << 20])
    func withoutFolder(size: Int) async throws {
        try await withFolder { parent in
            let folder = parent.appendingPathComponent("cache")
            let session = StubSession { _ in .data(Self.large.prefix(size), headers: Self.headers) }
            let fixture = try onDisk(folder, session)
            try FileManager.default.removeItem(at: folder)
            try Data().write(to: folder)
            for _ in 1...2 { #expect(try await read(stream(fixture)) == Self.large.prefix(size)) }
            #expect(session.requests.count == (size == 10_000 ? 1 : 2))
        }
    }

    enum End: CaseIterable { case reader, cancellation, truncation, removal, length, size, neverRead }

    @Test("nothing remains of a cut-off stream that cannot be completed", arguments: End.allCases)
    func ends(end: End) async throws {
        try await withFolder { folder in
            let session = StubSession { _ in
                let response = MockResponse.data(Self.large, headers: Self.weak).chunked(100_000)
                return end == .truncation ? response.closing(at: .body(after: 2_000_000)) : response
            }
            var fixture = try onDisk(folder, session, limit: end == .size ? 2 << 20 : 100 << 20)
            let cuts = Deliveries<Void>()
            if end == .length {
                let cache = fixture.cache
                let short = ShortSession(body: Self.large.prefix(1_000_000))
                fixture = CacheFixture(session) { _ in cache }
                let router = Router<URLEndPoint>(session: short, exchangeInterceptors: [cache])
                for try await _ in try await router.streamedResponse(for: URLEndPoint(.get, url)).bytes {}
            } else {
                let (cache, router, url) = (fixture.cache, fixture.router, url)
                let task = Task {
                    let response = try await router.streamedResponse(for: URLEndPoint(.get, url))
                    guard end != .neverRead else { return }
                    var count = 0
                    for try await chunk in response.bytes {
                        count += chunk.count
                        if count == 1_000_000 {
                            cuts.add(())
                            #expect(try names(folder).count == 1)
                            switch end {
                            case .reader: return
                            case .cancellation: withUnsafeCurrentTask { $0?.cancel() }
                            case .removal: await cache.removeAll()
                            default: break
                            }
                        }
                    }
                }
                let hasEnded = (try? await task.value) != nil
                #expect(hasEnded == ([.reader, .removal, .size, .neverRead] as [End]).contains(end))
                #expect(cuts.all.count == (end == .neverRead ? 0 : 1))
            }
            #expect(try await comesTrue { try names(folder).isEmpty })
            let code = await failure { try await stream(fixture) { $0.cachePolicy = .returnCacheDataDontLoad } }
            #expect(code == .notCached)
        }
    }

    @Test("a stream that announces almost 2^63 bytes is not stored", arguments: [Int.max, .max - 4_095, .max - 9_000])
    func hugeAnnouncement(length: Int) async throws {
        try await withFolder { folder in
            for limit in [100 << 20, Int.max] {
                let cache = try ResponseCache(folder: folder, diskLimit: limit)
                let session = ShortSession(body: Data("a".utf8), length: length)
                let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [cache])
                let response = try await router.streamedResponse(for: URLEndPoint(.get, url))
                #expect(try await read(response) == Data("a".utf8))
                #expect(try names(folder).isEmpty)
            }
        }
    }

    @Test("a removal during a streamed load leaves nothing of its request")
    func removedLoad() async throws {
        let (cache, gone) = (ResponseCache(), Deliveries<Void>())
        let session = AdHocSession { request in
            await cache.removeAll()
            return try await ShortSession(body: Data("a".utf8)).send(request)
        }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [cache])
        func load() async throws {
            let options = RequestOptions { $0.monitors = [Mortal(gone)] }
            let response = try await router.streamedResponse(for: URLEndPoint(.get, url, options: options))
            #expect(try await read(response) == Data("a".utf8))
        }
        try await load()
        #expect(await comesTrue { !gone.all.isEmpty })
    }

    @Test("a damaged piece is not delivered, and the next call loads it", arguments: [false, true])
    func damage(isStreamed: Bool) async throws {
        try await withFolder { folder in
            let fixture = try onDisk(folder, StubSession { _ in .data(Self.large, headers: Self.headers) })
            _ = try await read(stream(fixture))
            try damageStoredFile(in: folder, at: 1_500_000)
            if isStreamed {
                var count = 0
                let error = await #expect(throws: NetworkError.self) {
                    for try await chunk in try await stream(fixture).bytes {
                        #expect(chunk == Self.large[count..<(count + chunk.count)])
                        count += chunk.count
                    }
                }
                #expect(error?.code == .truncatedBody && count == 5 * 256 << 10)
                #expect(try names(folder).isEmpty)
            }
            let whole = try await whole(fixture)
            #expect(whole.body == Self.large && whole.cacheOutcome == .miss(.notStored))
        }
    }

    @Test("a 304 makes a large stored response fresh, without its body in memory")
    func confirmed() async throws {
        try await withFolder { folder in
            let session = StubSession { request in
                request.headers["If-None-Match"] == nil
                    ? .data(Self.large, headers: Self.headers) : .status(304, headers: ["X-New": "1", "ETag": "\"1\""])
            }
            let fixture = try onDisk(folder, session)
            _ = try await read(stream(fixture))
            fixture.date.advance(by: 61)
            let response = try await stream(fixture)
            #expect(response.cacheOutcome == .validated(.expired) && response.body.isEmpty)
            #expect(response.headers["X-New"] == "1")
            #expect(try await read(response) == Self.large)
            let again = try await stream(fixture)
            #expect(again.cacheOutcome == .hit && again.headers["X-New"] == "1")
            #expect(try await read(again) == Self.large)
            #expect(session.requests.count == 2)
        }
    }

    @Test("a download is answered from disk")
    func download() async throws {
        try await withFolder { folder in
            let cache = folder.appendingPathComponent("cache")
            let fixture = try onDisk(cache, StubSession { _ in .data(Self.large, headers: Self.headers) })
            for name in ["a", "b"] {
                let file = folder.appendingPathComponent(name)
                let response = try await fixture.router.download(URLEndPoint(.get, url), to: file)
                #expect(try Data(contentsOf: file) == Self.large)
                #expect(response.cacheOutcome == (name == "a" ? .miss(.notStored) : .hit))
            }
            #expect(fixture.session.requests.count == 1)
        }
    }

    @Test("a reader of a stored stream gets all of it, even if it is removed")
    func removedWhileRead() async throws {
        try await withFolder { folder in
            let fixture = try onDisk(folder, StubSession { _ in .data(Self.large, headers: Self.headers) })
            _ = try await read(stream(fixture))
            let response = try await stream(fixture)
            await fixture.cache.removeAll()
            #expect(try names(folder).isEmpty)
            #expect(try await read(response) == Self.large)
        }
    }

    @Test("a streamed range leaves a stream in flight in the cache")
    func rangeDuringStream() async throws {
        let part = Self.headers.merging(["Content-Range": "bytes 5-6/10"])
        let fixture = CacheFixture(
            StubSession(.text("0123456789", headers: Self.headers), .text("56", statusCode: 206, headers: part)))
        let response = try await stream(fixture)
        let range = URLEndPoint(.get, url, headers: Self.accept.merging(["Range": "bytes=5-6"]))
        let middle = try await fixture.router.streamedResponse(for: range)
        #expect(try await read(middle) == Data("56".utf8))
        #expect(try await read(response) == Data("0123456789".utf8))
        #expect(try await whole(fixture).cacheOutcome == .hit)
    }

    @Test("a stale stream is revalidated and stored in the background")
    func background() async throws {
        try await withFolder { folder in
            let count = Deliveries<Void>()
            let session = StubSession { _ in
                count.add(())
                return .data(
                    Self.large.dropLast(count.all.count),
                    headers: ["Cache-Control": "max-age=1, stale-while-revalidate=60"])
            }
            let fixture = try onDisk(folder, session)
            _ = try await read(stream(fixture))
            fixture.date.advance(by: 2)
            let stale = try await stream(fixture)
            #expect(stale.cacheOutcome == .stale(.whileRevalidating))
            #expect(try await read(stale).count == Self.large.count - 1)
            let isReplaced = try await comesTrue {
                let response = try await stream(fixture) { $0.cachePolicy = .returnCacheDataDontLoad }
                return try await read(response).count == Self.large.count - 2
            }
            #expect(isReplaced && session.requests.count == 2)
        }
    }
}

/// Announces more bytes than it delivers.
private struct ShortSession: NetworkSession {
    let body: Data
    var length: Int?

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        var response = NetworkResponse(
            statusCode: 200, headers: ["Cache-Control": "max-age=60", "Content-Length": "\(length ?? body.count + 1)"],
            url: request.url)
        response.request = request
        let isRead = TestFlag()
        response.bytes = ResponseBytes { isRead.set() ? nil : body }
        return response
    }
}

/// Tells when it is released.
private final class Mortal: EventMonitor {
    private let gone: Deliveries<Void>

    init(_ gone: Deliveries<Void>) { self.gone = gone }

    deinit { gone.add(()) }

    func record(_ event: CallEvent) {}
}

private final class TestFlag: Sendable {
    private let count = Deliveries<Void>()

    /// Sets the flag. Returns whether it was set before.
    func set() -> Bool {
        defer { count.add(()) }
        return !count.all.isEmpty
    }
}
