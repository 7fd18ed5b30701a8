import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@testable import SwitchboardURLSession

/// Each task of a URLSession is a call of its manager.
@Suite(.inTurn, .timeLimit(.minutes(10)))
struct URLSessionCallTests {
    // MARK: The chain

    @Test("the interceptors retry, and the monitors see the call [URLSession calls]", arguments: SessionKind.allCases)
    func retry(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(503), .text("there"))
            let events = Events()
            let manager = NetworkManager(
                baseURL: server.url, session: kind.make(),
                interceptors: [RetryPolicy(clock: TestClock(skips: true))], monitors: [events])
            let text = try await manager.urlSession().text(from: server.url)
            #expect(text == "there")
            #expect(server.requests.count == 2)
            #expect(events.texts.contains { $0.hasPrefix("retry after") })
            #expect(events.texts.last == "finished: HTTP 200")
        }
    }

    @Test(
        "the request is sent with its own fields, and */* as Accept [URLSession calls]", arguments: SessionKind.allCases
    )
    func fields(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(204), .status(204), .status(204))
            let manager = NetworkManager(
                baseURL: server.url, session: kind.make(), headers: ["X-App": "7", "X-Both": "m"])
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = ["X-Session": "s"]
            let session = manager.urlSession(configuration)
            let request = URLRequest(
                "PATCH", server.url, body: Data("1".utf8), headers: ["X-Both": "r", "Accept": "a/b"])
            _ = try await session.data(for: request)
            _ = try await session.data(from: server.url)
            let seen = server.requests
            #expect(seen[0].method == .patch && seen[0].text == "1")
            #expect(seen[0].headers.values(for: "X-Both") == ["r"])
            #expect(seen[0].headers["X-App"] == "7" && seen[0].headers["X-Session"] == "s")
            #expect(seen[0].headers["Accept"] == "a/b" && seen[1].headers.values(for: "Accept") == ["*/*"])
            _ = try await session.data(for: URLRequest("HEAD", server.url))
            #expect(server.requests.last?.method == .head)
        }
    }

    @Test(
        "every status is a response [URLSession calls]", arguments: SessionKind.allCases,
        [204, 304, 401, 404, 407, 500])
    func statuses(kind: SessionKind, status: Int) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(status, headers: ["WWW-Authenticate": "Basic realm=\"r\""], body: "why"))
            let delegate = TaskDelegate()
            let manager = NetworkManager(baseURL: server.url, session: kind.make())
            let request = URLRequest("GET", server.url, headers: ["If-None-Match": "\"1\""])
            let (data, response) = try await manager.urlSession(delegate: delegate).data(for: request)
            #expect((response as? HTTPURLResponse)?.statusCode == status)
            #expect(data == Data((status < 400 ? "" : "why").utf8))
            #expect(server.requests.map { $0.headers["If-None-Match"] } == ["\"1\""])
        }
    }

    @Test("tasks run in parallel [URLSession calls]", arguments: SessionKind.allCases)
    func parallel(kind: SessionKind) async throws {
        try await MockServer.run(handler: { .text($0.path) }) { server in
            let session = NetworkManager(baseURL: server.url, session: kind.make()).urlSession()
            server.enqueue(.stall)
            let stalled = session.dataTask(with: server.url)
            stalled.resume()
            _ = try await server.takeRequest()
            defer { stalled.cancel() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let text = try await session.text(from: server.url.appendingPathComponent("\(number)"))
                        #expect(text == "/\(number)")
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    // MARK: Redirects and credentials

    @Test(
        "a credential stays at its origin across a redirect [URLSession redirects]", arguments: SessionKind.allCases)
    func credentials(kind: SessionKind) async throws {
        try await MockServer.run { other in
            try await MockServer.run { server in
                other.enqueue(.redirect(to: server.url.absoluteString), .text("other"))
                server.enqueue(.redirect(to: other.url.absoluteString), .text("back"))
                let delegate = TaskDelegate()
                let manager = NetworkManager(
                    baseURL: server.url, session: kind.make(), interceptors: [BearerAuth("secret")])
                let session = manager.urlSession(delegate: delegate)
                let (data, response) = try await session.data(from: server.url)
                #expect(data == Data("back".utf8))
                #expect(response.url == server.url)
                let text = try await session.text(from: other.url)
                #expect(text == "other")
                #expect(server.requests.map { $0.headers["Authorization"] } == ["Bearer secret", nil])
                #expect(other.requests.map { $0.headers["Authorization"] } == [nil, nil])
                // The chain follows redirects itself.
                #expect(delegate.redirects.all.isEmpty)
            }
        }
    }

    @Test("without the chain's redirects, the delegate decides [URLSession redirects]", arguments: SessionKind.allCases)
    func delegateDecides(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.redirect(to: "/a"), .redirect(to: "/b"))
            let delegate = TaskDelegate(redirect: { $0.url?.path == "/b" ? nil : $0 })
            let manager = NetworkManager(
                baseURL: server.url, session: kind.make(),
                interceptors: [RedirectInterceptor.none, BearerAuth("secret")])
            let (_, response) = try await manager.urlSession(delegate: delegate).data(from: server.url)
            #expect((response as? HTTPURLResponse)?.statusCode == 302)
            #expect(delegate.redirects.all == [302, 302])
            #expect(server.requests.map(\.target) == ["/", "/a"])
            #expect(server.requests.map { $0.headers["Authorization"] } == ["Bearer secret", "Bearer secret"])
        }
    }

    @Test("a request after a redirect keeps its timeout, but not the old body")
    func redirectedOptions() async throws {
        let stub = StubSession { request in request.path == "/a" ? .redirect(to: "/b") : .text("there") }
        let proposed = Deliveries<URLRequest>()
        let delegate = TaskDelegate(redirect: {
            proposed.add($0)
            return $0
        })
        var request = URLRequest(
            "POST", URL(text: "https://h.example/a"), body: Data("old".utf8),
            headers: ["Content-Type": "text/plain", "X-Kept": "1"])
        request.timeoutInterval = 7
        request.cachePolicy = .reloadIgnoringLocalCacheData
        _ = try await stub.urlSession(delegate: delegate).data(for: request)
        let next = try #require(proposed.all.first)
        #expect(next.timeoutInterval == 7)
        #expect(next.cachePolicy == .reloadIgnoringLocalCacheData)
        #expect(next.url?.path == "/b" && next.httpMethod == "GET" && next.httpBody == nil)
        #expect(next.allHTTPHeaderFields?["X-Kept"] == "1")
        #expect(next.allHTTPHeaderFields?["Content-Type"] == nil)
        #expect(stub.requests.map(\.timeouts.idle) == [.seconds(7), .seconds(7)])
    }

    @Test(
        "credentials that a redirect left out stay out at the first origin [URLSession redirects]",
        arguments: SessionKind.allCases, [true, false])
    func redirectBack(kind: SessionKind, hasManager: Bool) async throws {
        try await MockServer.run { other in
            try await MockServer.run { server in
                server.enqueue(.redirect(to: other.url.absoluteString), .text("back"))
                other.enqueue(.redirect(to: server.url.absoluteString))
                let delegate = TaskDelegate()
                let configuration = URLSessionConfiguration.ephemeral
                configuration.httpAdditionalHeaders = ["Cookie": "c=1", "X-Key": "k"]
                if !hasManager { configuration.httpAdditionalHeaders?["Authorization"] = "Bearer secret" }
                let manager = NetworkManager(
                    baseURL: server.url, session: kind.make(),
                    interceptors: [RedirectInterceptor.none, BearerAuth("secret")])
                let session =
                    hasManager
                    ? manager.urlSession(configuration, delegate: delegate)
                    : kind.make().urlSession(configuration, delegate: delegate)
                let text = try await session.text(from: server.url)
                #expect(text == "back")
                #expect(delegate.redirects.all == [302, 302])
                for (name, value) in [("Authorization", "Bearer secret"), ("Cookie", "c=1"), ("X-Key", "k")] {
                    #expect(server.requests.map { $0.headers[name] } == [value, nil])
                    #expect(other.requests.map { $0.headers[name] } == [nil])
                }
            }
        }
    }

    // Apple's systems begin another loading for each redirect.
    @Test("a loading after a redirect across origins gets no credentials", arguments: [true, false])
    func laterLoading(hasCrossed: Bool) async throws {
        let stub = StubSession { _ in .text("") }
        let manager = NetworkManager(
            baseURL: URL(text: "https://api.example/"), session: stub, interceptors: [BearerAuth("secret")],
            headers: ["X-App": "7"])
        var request = NetworkRequest(.get, URL(text: "https://api.example/a"))
        if hasCrossed { request.leaveOriginEarlier(of: ["other.example"]) }
        let prepared = try manager.prepareForURLSession(request)
        _ = try await prepared.send(prepared.request)
        let seen = try #require(stub.requests.last)
        #expect(seen.headers["Authorization"] == (hasCrossed ? nil : "Bearer secret"))
        #expect(seen.headers["X-App"] == (hasCrossed ? nil : "7"))
        #expect(seen.crossOriginHops.hosts == (hasCrossed ? ["other.example"] : []))
    }

    @Test("a plain session follows a redirect whose body never ends", arguments: SessionKind.curlAlone, [true, false])
    func endlessRedirect(kind: SessionKind, hasDelegate: Bool) async throws {
        try await RawServer.run { connection in
            guard try connection.readHead().contains("GET / ") else {
                return try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend")
            }
            try connection.send(
                "HTTP/1.1 302 Found\r\nLocation: /end\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nmoved\r\n")
            try connection.waitForEnd()
        } body: { server in
            let delegate = TaskDelegate()
            let session = kind.make().urlSession(delegate: hasDelegate ? delegate : nil)
            let text = try await session.text(from: server.url)
            #expect(text == "end")
            #expect(delegate.redirects.all == (hasDelegate ? [302] : []))
        }
    }

    @Test("the body of a declined redirect is that of its response", arguments: SessionKind.allCases, [true, false])
    func declinedRedirect(kind: SessionKind, hasManager: Bool) async throws {
        try await MockServer.run { server in
            server.enqueue(.status(302, headers: ["Location": "/end"], body: "moved"))
            let delegate = TaskDelegate(redirect: { _ in nil })
            let manager = NetworkManager(session: kind.make(), interceptors: [RedirectInterceptor.none])
            let session =
                hasManager ? manager.urlSession(delegate: delegate) : kind.make().urlSession(delegate: delegate)
            session.dataTask(with: server.url).resume()
            let end = try await delegate.ends.first()
            #expect(end == nil)
            #expect(delegate.statuses.all == [302])
            #expect(delegate.data.all.reduce(Data(), +) == Data("moved".utf8))
            #expect(server.requests.count == 1)
        }
    }

    @Test("a delegate may answer the redirect of a file's upload with a GET")
    func uploadBecomesGET() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("upload.bin")
            try Data("file".utf8).write(to: file)
            let stub = StubSession(.status(308, headers: ["Location": "/done"]), .text("done"))
            let delegate = TaskDelegate(redirect: { $0.url.map { URLRequest(url: $0) } })
            let put = URLRequest("PUT", URL(text: "https://h.example/a"))
            let (data, _) = try await stub.urlSession(delegate: delegate).upload(for: put, fromFile: file)
            #expect(data == Data("done".utf8))
            #expect(stub.requests.map(\.method) == [.put, .get])
            #expect(stub.requests.map(\.path) == ["/a", "/done"])
        }
    }

    @Test("URLs get no credentials without servers, except from listed origins")
    func withoutServers() async throws {
        let url = URL(text: "https://cdn.example/a")
        let stub = StubSession { _ in .text("") }
        let interceptors: [any Interceptor] = [
            BearerAuth("secret"), APIKeyAuth("key", in: .header("X-Key"), origins: ["https://cdn.example"]),
        ]
        let router = Router<URLEndPoint>(session: stub, interceptors: interceptors, headers: ["X-App": "7"])
        _ = try await router.urlSession().data(from: url)
        let seen = try #require(stub.requests.last)
        #expect(seen.headers["Authorization"] == nil && seen.headers["X-App"] == nil)
        #expect(seen.headers["X-Key"] == "key")
    }

    @Test("a plain session asks the delegate, and sends the chain's fields")
    func plainSession() async throws {
        let seen = Deliveries<NetworkRequest>()
        let session = AdHocSession { request in
            seen.add(request)
            return NetworkResponse(
                statusCode: seen.all.count < 2 ? 307 : 200, headers: ["Location": "/end"], body: Data("x".utf8),
                url: request.url)
        }
        let delegate = TaskDelegate(redirect: { request in
            var request = request
            request.setValue("d", forHTTPHeaderField: "X-Delegate")
            return request
        })
        let request = URLRequest("POST", URL(text: "https://h.example/start"), body: Data("body".utf8))
        let (data, response) = try await session.urlSession(delegate: delegate).data(for: request)
        #expect(data == Data("x".utf8) && response.url?.path == "/end")
        #expect(seen.all.map(\.path) == ["/start", "/end"])
        #expect(try seen.all.map { try $0.body.encode() } == [Data("body".utf8), Data("body".utf8)])
        #expect(delegate.redirects.all == [307])
        #expect(seen.all.map { $0.headers["X-Delegate"] } == [nil, "d"])
    }

    // MARK: The manager's state

    @Test("requests and interceptors have the environment of the manager")
    func environment() async throws {
        let url = URL(text: "https://h.example/")
        let stub = StubSession { _ in .text("") }
        let current = Deliveries<NetworkEnvironment>()
        let interceptor = AdHocInterceptor { request, next in
            current.add(.current)
            return try await next(request)
        }
        let manager = NetworkManager(environment: .staging, session: stub, interceptors: [interceptor])
        let session = manager.urlSession()
        _ = try await session.data(from: url)
        manager.environment = .qa
        _ = try await session.data(from: url)
        #expect(stub.requests.map(\.environment) == [.staging, .qa])
        #expect(current.all == [.staging, .qa])
    }

    @Test("the options of a manager apply, and those of the request override them")
    func options() async throws {
        let stub = StubSession { _ in .text("") }
        let manager = NetworkManager(
            session: stub, options: RequestOptions { $0.timeouts = Timeouts(idle: .seconds(5), attempt: .seconds(9)) })
        var request = URLRequest(url: URL(text: "https://h.example/"))
        _ = try await manager.urlSession().data(for: request)
        request.timeoutInterval = 2
        request.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
        _ = try await manager.urlSession().data(for: request)
        #expect(stub.requests.map(\.timeouts.idle) == [.seconds(5), .seconds(2)])
        #expect(stub.requests.map(\.timeouts.attempt) == [.seconds(9), .seconds(9)])
        #expect(stub.requests.map { $0.headers["Cache-Control"] } == [nil, "no-cache"])
    }

    @Test("the configuration has no own cache, cookies and credentials")
    func ownState() async throws {
        let stub = StubSession { _ in .text("", headers: ["Set-Cookie": "a=1", "Cache-Control": "max-age=60"]) }
        let url = URL(text: "https://state.example/")
        let base = URLSessionConfiguration.default
        base.httpCookieStorage = .shared
        let configuration = NetworkManager(session: stub).urlSessionConfiguration(base)
        #expect(configuration.urlCredentialStorage == nil && configuration.httpCookieStorage == nil)
        let session = URLSession(configuration: configuration)
        for _ in 0..<2 { _ = try await session.data(from: url) }
        #expect(stub.requests.count == 2)
        #expect(stub.requests.allSatisfy { !$0.headers.contains("Cookie") })
        #expect(HTTPCookieStorage.shared.cookies(for: url)?.isEmpty != false)
    }

    @Test("a session retains its manager, and a changed configuration does not")
    func lifetime() async throws {
        let url = URL(text: "http://127.0.0.1:1/")
        #expect(try await NetworkManager(session: StubSession { _ in .text("a") }).urlSession().text(from: url) == "a")
        #expect(try await StubSession { _ in .text("a") }.urlSession().text(from: url) == "a")
        let configuration = NetworkManager(session: StubSession { _ in .text("a") }).urlSessionConfiguration()
        configuration.urlCache = nil
        let error = await #expect(throws: URLError.self) {
            try await URLSession(configuration: configuration).data(from: url)
        }
        #expect(error?.code == .cannotConnectToHost)
        let reason = (error?.userInfo[NSUnderlyingErrorKey] as? NetworkError)?.reason
        #expect(reason == "the NetworkManager of this URLSessionConfiguration is gone: keep it")
    }
}
