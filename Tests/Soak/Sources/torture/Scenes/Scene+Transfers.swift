import Foundation
import Switchboard
import SwitchboardAuth
import SwitchboardCache
import SwitchboardCookies
import SwitchboardMocks
import SwitchboardStreams
import SwitchboardWebSocket

extension Scene {
    /// Runs a closure with a router over a session of its own. In a run with faults, a socket that nobody watches ends
    /// by the idle timeout.
    private static func withRouter<Output: Sendable>(
        at place: Place, _ body: (Router<URLEndPoint>) async throws -> Output
    ) async throws -> Output {
        var configuration = SessionConfiguration()
        configuration.proxy = .none
        let session = CurlSession(configuration: configuration)
        let options = RequestOptions {
            $0.timeouts = place.isPatient ? .standard : Timeouts(idle: .milliseconds(700))
            $0.retry = RetryPolicy(maximumAttempts: 2, baseDelay: .milliseconds(1))
        }
        do {
            let output = try await body(Router<URLEndPoint>(session: session, options: options))
            await session.shutdown()
            return output
        } catch {
            await session.shutdown()
            throw error
        }
    }

    private static func get(_ place: Place, _ count: Int) -> URLEndPoint {
        URLEndPoint(.get, place.url("file/\(count)"))
    }

    /// The start and the end of a session, with a request in memory and one as a stream.
    static let session = Scene(
        name: "session",
        run: { try await exchange($0) },
        verify: { place, _ in try await exchange(place) })

    private static func exchange(_ place: Place) async throws {
        try await withRouter(at: place) { router in
            let response = try await router.response(for: get(place, 100))
            try Wrong.unless(response.body == Body.data(100), "the body is wrong")
            let streamed = try await router.streamedResponse(for: get(place, 400_000))
            var data = Data()
            for try await chunk in streamed.bytes { data += chunk }
            try Wrong.unless(data == Body.data(400_000), "the stream ended early, or is wrong")
        }
    }

    private static let size = 300_000

    /// A download that resumes the kept half of a file.
    static let download = Scene(
        name: "download",
        prepare: { try await downloadHalf(Body.data(size), tag: "\"\(size)\"", $0) },
        run: { try await download($0) },
        verify: { place, hasSucceeded in
            if hasSucceeded || place.names.contains("file") { try checkFile(place) }
            try await finishDownload(place)
        },
        recover: { place in
            if place.names.contains("file") { try checkFile(place) }
            try await finishDownload(place)
        })

    /// A download of a file that has changed since a part was kept.
    static let changedDownload = Scene(
        name: "changed-download",
        prepare: { try await downloadHalf(Data(Body.data(size).reversed()), tag: "\"old\"", $0) },
        run: download.run, verify: download.verify, recover: download.recover)

    private static func downloadHalf(_ data: Data, tag: String, _ place: Place) async throws {
        let answer = MockResponse.data(data, headers: ["ETag": tag]).truncated(after: size / 2)
        let router = Router<URLEndPoint>(session: StubSession(answer), options: RequestOptions { $0.retry = .never })
        _ = try? await router.download(get(place, size), to: place.file("file"), keepingPartial: true)
        try Wrong.unless(place.names.count == 2, "the partial download left \(place.names)")
    }

    private static func download(_ place: Place) async throws {
        try await withRouter(at: place) { router in
            _ = try await router.download(get(place, size), to: place.file("file"), keepingPartial: true)
        }
    }

    private static func finishDownload(_ place: Place) async throws {
        try await download(place)
        try checkFile(place)
        try Wrong.unless(place.names == ["file"], "the download left \(place.names)")
    }

    private static func checkFile(_ place: Place) throws {
        guard let data = try? Data(contentsOf: place.file("file")) else { throw Wrong("the file cannot be read") }
        try Wrong.unless(data == Body.data(size), "the file has \(data.count) bytes, or is wrong")
    }

    /// An upload in pieces with a state file, after a piece.
    static let upload = Scene(
        name: "upload",
        prepare: { place in try Body.data(size).write(to: place.file("source")) },
        run: { try await upload($0) },
        verify: { place, _ in
            try await upload(place)
            try Wrong.unless(place.names == ["source"], "the upload left \(place.names)")
        },
        recover: { try await upload($0) })

    private static func upload(_ place: Place) async throws {
        try await withRouter(at: place) { router in
            let response = try await router.upload(
                URLEndPoint(.post, place.url("uploads")), from: place.file("source"), by: .tus, pieceSize: 120_000,
                stateFile: place.file("state"))
            guard let name = response.headers["X-Upload"] else { throw Wrong("the last response has no X-Upload") }
            let stored = try await router.response(for: URLEndPoint(.get, place.url("uploads/\(name)")))
            try Wrong.unless(stored.body == Body.data(size), "the server has \(stored.body.count) bytes, or others")
        }
    }

    /// A request whose body is a file.
    static let fileBody = Scene(
        name: "file-body",
        prepare: { try Body.data(size).write(to: $0.file("source")) },
        run: { try await send($0) },
        verify: { place, _ in try await send(place) })

    private static func send(_ place: Place) async throws {
        try await withRouter(at: place) { router in
            let response = try await router.response(
                for: URLEndPoint(.post, place.url("take"), task: .requestBody(FileBody(place.file("source")))))
            try Wrong.unless(response.text == "true \(size)", "the server received: \(response.text)")
        }
    }

    /// A stream whose reader is slow and an upload of a file, over URLSession. Temporary files keep the unread bytes and the
    /// body. The other calls are URLSession's own.
    static let spill = Scene(
        name: "spill", only: ["open", "read", "write", "unlink", "truncate"],
        prepare: { try Body.data(size).write(to: $0.file("source")) },
        run: { try await spill($0) },
        verify: { place, _ in try await spill(place) })

    private static func spill(_ place: Place) async throws {
        let session = FoundationSession()
        defer { session.invalidate() }
        let options = RequestOptions {
            // URLSession sends too few bytes of a file that it cannot open or read, and waits for the response.
            $0.timeouts = place.isPatient ? .standard : Timeouts(idle: .milliseconds(700))
            $0.retry = .never
        }
        let router = Router<URLEndPoint>(session: session, options: options)
        let streamed = try await router.streamedResponse(for: get(place, 2_000_000))
        // Most bytes arrive meanwhile.
        try await Task.sleep(for: .milliseconds(50))
        var data = Data()
        for try await chunk in streamed.bytes { data += chunk }
        try Wrong.unless(data == Body.data(2_000_000), "the stream has \(data.count) bytes, or is wrong")
        let response = try await router.response(
            for: URLEndPoint(.post, place.url("take"), task: .requestBody(FileBody(place.file("source")))))
        try Wrong.unless(response.text == "true \(size)", "the server received: \(response.text)")
    }

    /// A cache on disk: stores small and large responses, and reads them with a second cache.
    static let cache = Scene(
        name: "cache",
        prepare: { try await useCache($0, sizes: [10, 200_000]) },
        run: { place in
            try await useCache(place, sizes: cacheSizes)
            try await useCache(place, sizes: cacheSizes)
        },
        verify: { place, _ in
            try await useCache(place, sizes: cacheSizes)
            try await useCache(place, sizes: cacheSizes, mustHit: true)
        },
        recover: { place in
            try await useCache(place, sizes: cacheSizes)
            try await useCache(place, sizes: cacheSizes, mustHit: true)
        })

    private static let cacheSizes = [10, 200_000, 5_000, 1_500_000]

    private static func useCache(_ place: Place, sizes: [Int], mustHit: Bool? = nil) async throws {
        try await use(ResponseCache(folder: place.file("cache")), place, sizes: sizes, mustHit: mustHit)
    }

    private static func use(_ cache: ResponseCache, _ place: Place, sizes: [Int], mustHit: Bool?) async throws {
        let session = StubSession { request in
            let count = request.url.flatMap { Int($0.lastPathComponent) } ?? 0
            return .data(Body.data(count), headers: ["ETag": "\"\(count)\"", "Cache-Control": "max-age=3600"])
        }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [cache])
        for count in sizes {
            let response = try await router.streamedResponse(for: get(place, count))
            var data = Data()
            for try await chunk in response.bytes { data += chunk }
            try Wrong.unless(data == Body.data(count), "the body of \(count) bytes has \(data.count), or is wrong")
            guard let mustHit else { continue }
            let isHit = response.cacheAge != nil
            try Wrong.unless(isHit == mustHit, "the body of \(count) bytes is \(isHit ? "" : "not ")stored")
        }
    }

    /// A logout: removes the cookies, the tokens and the stored responses. Only a failure that passes can be recovered from.
    static let reset = Scene(
        name: "reset", failsOnward: false,
        prepare: { place in
            try await cookies.prepare(place)
            try await tokens.prepare(place)
            try await useCache(place, sizes: [10, 200_000])
        },
        run: { try await logOut($0) },
        verify: { place, hasSucceeded in
            if !hasSucceeded { try await logOut(place) }
            let cookies = try CookieJar(contentsOf: place.file("cookies.json")).cookies()
            try Wrong.unless(cookies.isEmpty, "a cookie remains")
            let token = try await FileTokenStore(place.file("tokens/tokens.json")).load(in: nil)
            try Wrong.unless(token == nil, "a token remains")
        })

    private static func logOut(_ place: Place) async throws {
        try CookieJar(contentsOf: place.file("cookies.json")).reset()
        try await FileTokenStore(place.file("tokens/tokens.json")).removeAll()
        let cache = try ResponseCache(folder: place.file("cache"))
        await cache.reset()
        try await use(cache, place, sizes: [10, 200_000], mustHit: false)
    }

    static let webSocket = Scene(
        name: "websocket",
        run: { try await echo($0) },
        verify: { place, _ in try await echo(place) })

    private static func echo(_ place: Place) async throws {
        try await withRouter(at: place) { router in
            let options = RequestOptions { $0.webSocket.closeTimeout = .milliseconds(500) }
            let socket = try await router.webSocket(
                for: URLEndPoint(.get, place.url("echo"), options: options))
            for count in [3, 100_000] {
                try await socket.send(.binary(Body.data(count)))
                let received = try await socket.receive()
                try Wrong.unless(received == .binary(Body.data(count)), "the echo is wrong")
            }
            await socket.close()
        }
    }

    static let all = [
        tokens, cookies, archive, session, download, changedDownload, upload, fileBody, spill, cache, reset, webSocket,
    ]
}
