import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardInspector
import SwitchboardMocks
import SwitchboardStreams
import SwitchboardWebSocket

/// The calls that scripts/oracles/inspector expects.
struct Sample {
    let server: MockServer
    let inspector: NetworkInspector
    /// The call of ``change()`` ends when this stream does.
    private let opened: AsyncStream<Void>
    let open: AsyncStream<Void>.Continuation
    private let router: Router<URLEndPoint>
    private let stubbed: Router<URLEndPoint>

    init(server: MockServer, inspector: NetworkInspector) {
        self.server = server
        self.inspector = inspector
        (opened, open) = AsyncStream.makeStream()
        router = Router(
            interceptors: [RetryPolicy(baseDelay: .milliseconds(250), jitter: nil)],
            exchangeInterceptors: [ResponseCache()], headers: ["User-Agent": "Films/2.1"], monitors: [inspector])
        stubbed = Router(session: StubSession { _ in .json(#"{"a":1}"#) }, monitors: [inspector])
    }

    /// Makes the calls one after another, and returns an open WebSocket.
    func run() async throws -> WebSocket<String, String> {
        let films = (1...20).map { #"{"id":\#($0),"title":"Film \#($0)","rating":7.5,"poster":null}"# }
        let page = #"{"page":1,"total":12345678901234567890,"results":[\#(films.joined(separator: ","))]}"#
        let fresh: HTTPHeaders = ["Cache-Control": "max-age=600", "ETag": #""1""#]
        server.enqueue(
            .json(#"{"images":{"base":"https://images.example/","sizes":["w92","w154"]}}"#, headers: fresh),
            .json(#"{"error":"overloaded"}"#, statusCode: 503).delayed(by: .milliseconds(40)),
            .json(#"{"error":"overloaded"}"#, statusCode: 503).delayed(by: .milliseconds(40)),
            .json(page).delayed(by: .milliseconds(60)))
        await get("/configuration?language=en")
        await get("/films?page=1&sort=year")
        await get("/configuration?language=en")  // from the cache

        server.enqueue(.json(#"{"error":"wrong password"}"#, statusCode: 401))
        await call(.post, "/session", body: ["user": "ann", "password": "secret-1234"])
        server.enqueue(.data(Picture.png, headers: ["Content-Type": "image/png"]))
        await get("/posters/1.png")
        server.enqueue(.redirect(to: "/films/1"), .json(#"{"id":1}"#))
        await get("/films/first")
        server.enqueue(.close(at: .response))
        await call(.post, "/votes", body: ["film": "2"])
        try await hostile()
        let cut = MockResponse.json("[1,2,3,4,5,6,7]").truncated(after: 7)
        server.enqueue(cut, cut, cut)
        await get("/cut")

        server.enqueue(.text(String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)))
        await get("/deep.json")
        server.enqueue(.text(String(repeating: "long ", count: 40_000)))
        await get("/large.txt")
        let names = ["rating", "rating", "<img src=x onerror=attack()>"]
        let events = names.map { "event: \($0)\ndata: {\"film\":\"\($0)\"}\n\n" }.joined()
        server.enqueue(.text(events, headers: ["Content-Type": "text/event-stream"]))
        for try await _ in router.events(for: endPoint(.get, "/ratings")).prefix(3) {}
        await more(1)

        server.enqueue(.webSocket(.text("welcome"), .echo))
        let socket = try await router.webSocket(
            for: endPoint(.get, "/live"), sending: String.self, receiving: String.self)
        _ = try await socket.receive()
        return socket
    }

    /// A server that tries to run a script in the page, by each text that it chooses.
    private func hostile() async throws {
        let script = #"<img src=x onerror="attack()"><script>attack()</script>"#
        server.enqueue(
            .raw(
                "HTTP/1.1 418 Teapot\r\nContent-Type: text/html\r\nX-Attack: \(script)\r\nLink: \u{202E}hidden\r\n"
                    + "Content-Length: \(script.utf8.count)\r\n\r\n\(script)"),
            .data(Data(#"<svg xmlns="http://www.w3.org/2000/svg" onload="attack()"/>"#.utf8)).with("image/svg+xml"),
            .json(
                #"{"<img src=x onerror=attack()>":"\#u{202E}</script><script>attack()</script>","#
                    + #""__proto__":{"polluted":true},"constructor":1,"a":"\#u{2028}\u0000","a":2}"#),
            .raw(
                Data(
                    "HTTP/1.1 200 OK\r\n<img/src=x/onerror=attack()>: 1\r\nContent-Type: a/b\"><script>attack()\r\n\r\n"
                        .utf8)
                    + Data([0xFF, 0, 0xC3, 0x28]) + Data("<script>attack()</script>".utf8)))
        await get("/%3Cscript%3Eattack()%3C/script%3E?a=%22%3E%3Cimg%20src=x%20onerror=attack()%3E")
        await get("/attack.svg")
        await get("/attack.json")
        await get("/attack.bytes")
    }

    /// Makes calls to a stub, up to 16 at a time.
    func more(_ count: Int) async {
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                if index >= 16 { await group.next() }
                group.addTask {
                    let text = "https://api.example.com/items/\(index)?page=\(index % 7)"
                    guard let url = URL(string: text) else { return }
                    _ = try? await stubbed.response(for: URLEndPoint(index % 3 == 0 ? .post : .get, url))
                }
            }
        }
    }

    /// Starts a call that ends after `open` has finished.
    func change() async -> Task<Void, Never> {
        let waiting = Router<URLEndPoint>(
            session: StubSession { [opened] _ in
                for await _ in opened {}
                return .text("late")
            }, monitors: [inspector])
        return Task {
            guard let url = URL(string: "https://api.example.com/late") else { return }
            _ = try? await waiting.response(for: URLEndPoint(.get, url))
        }
    }

    private func endPoint(_ method: HTTPMethod, _ path: String) -> URLEndPoint {
        URLEndPoint(method, URL(string: server.url.absoluteString + path) ?? server.url)
    }

    private func get(_ path: String) async {
        _ = try? await router.response(for: endPoint(.get, path))
    }

    private func call(_ method: HTTPMethod, _ path: String, body: [String: String]? = nil) async {
        let url = URL(string: server.url.absoluteString + path) ?? server.url
        _ = try? await router.response(
            for: URLEndPoint(method, url, task: body.map { .requestBody(JSONBody($0)) } ?? .request))
    }
}

extension MockResponse {
    fileprivate func with(_ type: String) -> MockResponse {
        var response = self
        response.headers["Content-Type"] = type
        return response
    }
}

enum Picture {
    /// A PNG with 1 × 1 pixel.
    static let png =
        Data(
            base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA"
                + "WjR9awAAAABJRU5ErkJggg==") ?? Data()
}
