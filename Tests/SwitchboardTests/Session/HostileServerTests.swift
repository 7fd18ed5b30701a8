import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// What a review found that a server, or a URL, could do to a session or a redirect.
@Suite(.timeLimit(.minutes(1)))
struct HostileServerTests {
    let session = FoundationSession()

    @Test(
        "the words of a host's name do not choose the error's code",
        arguments: ["ssl", "hassle", "chunky", "tls-certificate"])
    func hostNames(name: String) async throws {
        let port = try MockServer().deadPort
        // RFC 6761 §6.3: a name below localhost is this machine, where the resolver knows that; elsewhere it is not found.
        let url = try #require(URL(string: "http://\(name).localhost:\(port)/"))
        let error = await #expect(throws: NetworkError.self) { try await session.send(NetworkRequest(.get, url)) }
        #expect(error?.code.isKind(of: .cannotConnect) == true, "\(String(describing: error))")
    }

    @Test("a certificate that nobody vouches for is refused as insecureConnection, nothing is sent", .needsOpenSSL)
    func untrustedCertificate() async throws {
        try await OpenSSLServer.run { server in
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            let request = NetworkRequest(.get, url)
            let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
            #expect(error?.code == .insecureConnection)
            #expect(error?.status == nil)
            #expect(error?.description.lowercased().contains("certificate") == true)
        }
    }

    @Test("a user and password before the host are sent as Basic credentials, unless the request has its own")
    func userInfo() async throws {
        try await withEchoServer { server in
            let url = try #require(URL(string: "http://us%20er:p%40ss@127.0.0.1:\(server.port)/p"))
            _ = try await session.send(NetworkRequest(.get, url))
            let seen = try await server.takeRequest()
            // printf 'us er:p@ss' | base64
            #expect(seen.headers.values(for: "Authorization") == ["Basic dXMgZXI6cEBzcw=="])
            #expect(seen.headers["Host"] == "127.0.0.1:\(server.port)")
            _ = try await session.send(NetworkRequest(.get, url, headers: ["Authorization": "Bearer t"]))
            #expect(try await server.takeRequest().headers.values(for: "Authorization") == ["Bearer t"])
        }
    }

    @Test("S2.9 another host does not get the user and password of the one before; an empty port is the scheme's own")
    func setters() {
        var request = NetworkRequest(.get, URL(string: "http://user:pw@a.test/x"))
        request.host = "b.test"
        #expect(request.url?.absoluteString == "http://b.test/x")
        var empty = NetworkRequest(.get, URL(string: "http://h:/x"))
        empty.path = "/y"
        #expect(empty.url?.absoluteString == "http://h/y")
    }

    @Test("a head over its limit is headersTooLarge")
    func headerLimit() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("x").with("X-Big", String(repeating: "a", count: 5_000)))
            var request = NetworkRequest(.get, server.url)
            request.limits.responseHeaders = 4_000
            let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
            #expect(error?.code == .headersTooLarge)
        }
    }

    @Test("ten thousand header fields become a URLResponse without harm")
    func manyFields() throws {
        var response = NetworkResponse(status: 200, url: URL(string: "http://h/"))
        for index in 0..<10_000 { response.headers.add("X-\(index % 5_000)", "v") }
        let made = try #require(response.urlResponse)
        #expect(made.value(forHTTPHeaderField: "X-7") == "v, v")
        #expect(made.allHeaderFields.count == 5_000)
    }

    @Test("a download over its limit, announced or not, leaves nothing", arguments: [true, false])
    func downloadLimit(isAnnounced: Bool) async throws {
        try await expectDownload(leaving: "old") { server, request in
            let body = MockResponse.data(Data(repeating: 1, count: 50_000))
            server.enqueue(isAnnounced ? body : body.chunked(1_000))
            request.limits.downloadedFile = 10_000
            return .responseTooLarge
        }
    }

    @Test("a download whose status is not accepted leaves the file that was there, and so does a 204")
    func refusedDownload() async throws {
        try await expectDownload(leaving: "old") { server, request in
            server.enqueue(.status(204))
            return nil
        }
        try await expectDownload(leaving: "old") { server, request in
            server.enqueue(.text("new"))
            request.options.responseHandling = ResponseHandling(acceptedStatuses: .range(201..<202))
            return nil
        }
    }

    @Test("a download that cannot take its name leaves no part behind, and a name may be as long as the system allows")
    func names() async throws {
        try await expectDownload(named: String(repeating: "n", count: 250), leaving: "new") { server, _ in
            server.enqueue(.text("new"))
            return nil
        }
        try await expectDownload(named: "folder/", leaving: nil) { server, _ in
            server.enqueue(.text("new"))
            return .cannotWriteFile
        }
    }

    @Test("invalidating the shared session does nothing to those who share it")
    func sharedSession() async throws {
        FoundationSession.shared.invalidate()
        try await MockServer.run { server in
            server.enqueue(.text("ok"))
            let response = try await FoundationSession.shared.send(NetworkRequest(.get, server.url))
            #expect(response.text == "ok")
        }
    }

    @Test("a redirect to another origin carries no header with a secret's name, one to the same origin does")
    func redirectedSecrets() async throws {
        for (target, keeps) in [("http://b.test/", false), ("http://a.test/2", true)] {
            let stub = StubSession(.status(302, headers: ["Location": target]), .status(200))
            let names = ["X-Api-Key", "X-Auth-Token", "Cookie2", "Authorization"]
            let endPoint = URLEndPoint(
                .get, try #require(URL(string: "http://a.test/")),
                headers: HTTPHeaders(names.map { HTTPHeader(name: $0, value: "s") }))
            _ = try await Router<URLEndPoint>(session: stub).response(for: endPoint)
            let second = try #require(stub.requests.last)
            for name in names { #expect(second.headers.contains(name) == keeps, "\(name) to \(target)") }
        }
    }

    @Test(
        "a bracket in a redirect's path or query is escaped once, beside an escape too",
        arguments: [
            ("/a%2Fb[1]", "http://h.test/a%2Fb%5B1%5D"), ("?x[]=%20", "http://h.test/?x%5B%5D=%20"),
            ("http://[::1]:80/x[y]", "http://[::1]:80/x%5By%5D"), ("//[::1]/z", "http://[::1]/z"),
        ])
    func redirectBrackets(location: String, expected: String) async throws {
        let stub = StubSession(.status(302, headers: ["Location": location]), .status(200))
        let endPoint = URLEndPoint(.get, try #require(URL(string: "http://h.test/")))
        _ = try await Router<URLEndPoint>(session: stub).response(for: endPoint)
        #expect(stub.requests.last?.url?.absoluteString == expected)
    }

    /// Downloads over a file that holds "old", and looks at what the folder holds afterwards.
    private func expectDownload(
        named name: String = "file", leaving content: String?,
        _ prepare: (MockServer, inout NetworkRequest) -> NetworkError.Code?
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("switchboard-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent(name)
        if name.hasSuffix("/") {
            try FileManager.default.createDirectory(
                at: file.appendingPathComponent("full"), withIntermediateDirectories: true)
        } else {
            try Data("old".utf8).write(to: file)
        }
        try await MockServer.run { server in
            var request = NetworkRequest(.get, server.url)
            request.options.destination = file
            let code = prepare(server, &request)
            if let code {
                let error = await #expect(throws: NetworkError.self) { try await session.send(request) }
                #expect(error?.code == code)
            } else {
                _ = try await session.send(request)
            }
        }
        if let content { #expect(try Data(contentsOf: file) == Data(content.utf8)) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
    }
}
