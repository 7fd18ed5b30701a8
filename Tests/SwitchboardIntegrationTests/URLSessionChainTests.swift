import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardCookies
import SwitchboardTestSupport
import SwitchboardTesting
import SwitchboardURLSession
import Testing

/// A URLSession of a manager with the interceptors of other products.
@Suite(.timeLimit(.minutes(10)))
struct URLSessionChainTests {
    @Test("a task is answered from the cache, unless its request reloads")
    func cacheHit() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("stored", headers: ["Cache-Control": "max-age=60"]), .text("new"))
            let session = NetworkManager(baseURL: server.url, interceptors: [ResponseCache()]).urlSession()
            for _ in 0..<2 {
                let (data, _) = try await session.data(from: server.url)
                #expect(data == Data("stored".utf8))
            }
            #expect(server.requests.count == 1)
            let request = URLRequest(url: server.url, cachePolicy: .reloadIgnoringLocalCacheData)
            let (data, _) = try await session.data(for: request)
            #expect(data == Data("new".utf8))
        }
    }

    @Test("a request with its own condition receives the 304 through a cache")
    func ownCondition() async throws {
        try await MockServer.run { server in
            server.enqueue(.status(304, headers: ["ETag": "\"1\""]))
            let session = NetworkManager(baseURL: server.url, interceptors: [ResponseCache()]).urlSession()
            var request = URLRequest(url: server.url)
            request.setValue("\"1\"", forHTTPHeaderField: "If-None-Match")
            let (data, response) = try await session.data(for: request)
            #expect((response as? HTTPURLResponse)?.statusCode == 304 && data.isEmpty)
            #expect(server.requests.map { $0.headers["If-None-Match"] } == ["\"1\""])
        }
    }

    @Test("cookies are those of the manager's jar, and of no other")
    func cookies() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("", headers: ["Set-Cookie": "a=1"]), .text(""))
            let jar = CookieJar()
            let manager = NetworkManager(baseURL: server.url, exchangeInterceptors: [CookieInterceptor(jar)])
            let session = manager.urlSession()
            for _ in 0..<2 { _ = try await session.data(from: server.url) }
            #expect(server.requests.map { $0.headers["Cookie"] } == [nil, "a=1"])
            await manager.reset()
            server.enqueue(.text(""))
            _ = try await session.data(from: server.url)
            #expect(server.requests.last?.headers["Cookie"] == nil)
        }
    }
}
