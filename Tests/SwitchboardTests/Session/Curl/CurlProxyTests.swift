#if os(Linux)
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// CurlSession through proxies that record requests. Only the proxies can resolve names in `.test`.
@Suite(.needsServers, .inTurn, .serialized, .timeLimit(.minutes(10)))
struct CurlProxyTests {
    enum Kind: String, CaseIterable, Sendable {
        case http, https, socks

        func options(_ name: String? = nil, user: String? = nil, password: String? = nil) throws
            -> SessionConfiguration.Proxy
        {
            let port = try #require(try Servers.directory().proxies[name ?? rawValue])
            return switch self {
            case .http: .http("127.0.0.1", port: port, user: user, password: password)
            case .https: .https("127.0.0.1", port: port, user: user, password: password)
            case .socks: .socks5("127.0.0.1", port: port, user: user, password: password)
            }
        }
    }

    static func session(_ proxy: SessionConfiguration.Proxy) throws -> CurlSession {
        var configuration = try SessionConfiguration.trusting()
        configuration.proxy = proxy
        return CurlSession(configuration: configuration)
    }

    /// Returns the requests that the proxies received for a name.
    static func log(of name: String) async throws -> [Servers.ProxyEntry] {
        let url = try Servers.url("http", "127.0.0.1", Servers.directory().proxies["log"])
        let response = try await CurlSession(configuration: .direct).send(NetworkRequest(.get, url))
        let entries = try JSONDecoder().decode([Servers.ProxyEntry].self, from: response.body)
        return entries.filter { $0.target.contains(name) }
    }

    /// Returns a unique name.
    static func makeName() -> String { "n\(UUID().uuidString.prefix(13).lowercased()).test" }

    // MARK: Requests through proxies

    @Test(
        "a plain request is forwarded by HTTP proxies and tunneled by SOCKS",
        arguments: Kind.allCases)
    func plainRequest(kind: Kind) async throws {
        try await MockServer.run(handler: { _ in .text("through") }) { server in
            let name = Self.makeName()
            let url = try Servers.url("http", name, server.port, "/path?a=b")
            let response = try await Self.session(kind.options()).send(NetworkRequest(.get, url))
            #expect(response.text == "through")
            #expect(server.requests.map(\.target) == ["/path?a=b"])
            #expect(server.requests.first?.headers["Host"] == "\(name):\(server.port)")
            let entry = try #require(try await Self.log(of: name).first)
            #expect(entry.proxy == kind.rawValue)
            // RFC 9112 §3.2.2: the whole URL to a proxy.
            #expect(entry.target == (kind == .socks ? "\(name):\(server.port)" : url.absoluteString))
            #expect(entry.method == (kind == .socks ? "CONNECT" : "GET"))
        }
    }

    @Test(
        "https goes through a tunnel that hides the request from the proxy",
        arguments: Kind.allCases)
    func tunnel(kind: Kind) async throws {
        let directory = try Servers.directory()
        let session = try Self.session(kind.options())
        let port = try #require(directory.tls["good"])
        let url = try Servers.url("https", "api.example.test", port, "/secret-path")
        var request = NetworkRequest(.post, url, headers: ["Authorization": "Bearer planted", "Cookie": "planted=1"])
        request.body = DataBody(Data("body".utf8), contentType: "text/plain")
        let response = try await session.send(request)
        let seen = try JSONDecoder().decode(Servers.Seen.self, from: response.body)
        #expect(seen.line == "POST /secret-path HTTP/1.1")
        #expect(seen.authorization == "Bearer planted")
        #expect(seen.tls == "TLSv1.3")
        #expect(!response.headers.contains("Proxy-Agent"))
        #expect(response.metrics.remoteAddress == "127.0.0.1:\(try #require(directory.proxies[kind.rawValue]))")
        let entries = try await Self.log(of: "api.example.test:\(port)").filter { $0.proxy == kind.rawValue }
        #expect(!entries.isEmpty)
        for entry in entries {
            #expect(entry.method == "CONNECT")
            #expect(entry.target == "api.example.test:\(port)")
            #expect(entry.fields?.contains("authorization") != true)
            #expect(entry.fields?.contains("cookie") != true)
        }
    }

    @Test("HTTP/2 is negotiated through a tunnel as well", arguments: Kind.allCases)
    func http2(kind: Kind) async throws {
        let url = try Servers.http2("tls", "/get")
        let response = try await Self.session(kind.options()).send(NetworkRequest(.get, url))
        #expect(response.statusCode == 200)
        #expect(response.metrics.protocolVersion == "HTTP/2")
    }

    @Test("a proxy does not make an untrusted https server trusted", arguments: Kind.allCases)
    func trust(kind: Kind) async throws {
        let session = try Self.session(kind.options())
        #expect(try await session.failure(Servers.tls("untrusted")).code == .insecureConnection)
    }

    // MARK: TLS to the proxy

    @Test("a proxy over TLS needs the same authorities, and pins do not apply")
    func proxyOverTLS() async throws {
        let directory = try Servers.directory()
        let untrusted = try Kind.https.options("httpsUntrusted")
        let url = try Servers.tls("second")
        let error = try await Self.session(untrusted).failure(url)
        #expect(error.code == .insecureConnection)
        var configuration = SessionConfiguration.direct
        configuration.proxy = try Kind.https.options()
        #expect(try await CurlSession(configuration: configuration).failure(url).code == .insecureConnection)
        configuration.tls.insecureTrustsEveryServer = true
        #expect(try await CurlSession(configuration: configuration).seen(url).tls == "TLSv1.3")
        configuration = try .trusting()
        configuration.proxy = try Kind.https.options()  // whose key is that of "good"
        configuration.tls.publicKeyPins = [try #require(directory.pins["second"])]
        #expect(try await CurlSession(configuration: configuration).seen(url).tls == "TLSv1.3")
        #expect(
            try await CurlSession(configuration: configuration).failure(Servers.tls("good")).code == .insecureConnection
        )
    }

    // MARK: Credentials

    static let secured: [(Kind, String)] = [(.http, "httpAuth"), (.https, "httpsAuth"), (.socks, "socksAuth")]

    @Test("a proxy gets its credentials, the server never does", arguments: secured)
    func credentials(kind: Kind, proxy: String) async throws {
        let directory = try Servers.directory()
        let options = try kind.options(proxy, user: directory.proxyUser, password: directory.proxyPassword)
        let session = try Self.session(options)
        let secure = try await session.seen(Servers.tls("good", host: "localhost"))
        #expect(secure.proxyAuthorization == nil)
        #expect(secure.authorization == nil)
        try await MockServer.run(handler: { _ in .text("through") }) { server in
            let name = Self.makeName()
            let plain = try Servers.url("http", name, server.port)
            #expect(try await session.text(plain) == "through")
            let headers = try #require(server.requests.first?.headers)
            #expect(!headers.contains("Proxy-Authorization"))
            #expect(!headers.contains("Authorization"))
            let credentials = Data("\(directory.proxyUser):\(directory.proxyPassword)".utf8).base64EncodedString()
            let expected = kind == .socks ? directory.proxyUser : "Basic \(credentials)"
            #expect(try await Self.log(of: name).map(\.authorization) == [expected])
        }
    }

    @Test("wrong credentials for a tunnel are cannotAuthenticate, never printed", arguments: secured)
    func wrongCredentials(kind: Kind, proxy: String) async throws {
        let url = try Servers.tls("good")
        for (user, password) in [("planted-user", "planted-password"), (nil, nil)] as [(String?, String?)] {
            let session = try Self.session(kind.options(proxy, user: user, password: password))
            let error = try await session.failure(url)
            #expect(error.code == .cannotAuthenticate, "\(error)")
            #expect(error.underlying is CurlError)
            #expect(error.statusCode == nil)
            var dumped = ""
            dump(error, to: &dumped)
            let encoded = Data("planted-user:planted-password".utf8).base64EncodedString()
            for text in ["\(error)", String(reflecting: error), dumped, "\(String(describing: error.underlying))"] {
                #expect(!text.contains("planted") && !text.contains(encoded), "\(text)")
            }
        }
    }

    @Test("a plain request with wrong credentials gets the proxy's 407", arguments: secured.dropLast())
    func wrongCredentialsOfPlainRequest(kind: Kind, proxy: String) async throws {
        let session = try Self.session(kind.options(proxy, user: "somebody", password: "wrong"))
        let url = try Servers.url("http", Self.makeName(), 80)
        let response = try await session.send(NetworkRequest(.get, url))
        #expect(response.statusCode == 407)
        #expect(response.headers["Proxy-Authenticate"]?.hasPrefix("Basic") == true)
    }

    // MARK: Failures

    @Test("a dead proxy is cannotConnect, for http and https", arguments: Kind.allCases)
    func deadProxy(kind: Kind) async throws {
        let port = try MockServer().deadPort
        let proxy: SessionConfiguration.Proxy =
            switch kind {
            case .http: .http("127.0.0.1", port: port)
            case .https: .https("127.0.0.1", port: port)
            case .socks: .socks5("127.0.0.1", port: port)
            }
        let session = try Self.session(proxy)
        for url in [try Servers.tls("good"), try Servers.url("http", "127.0.0.1", Servers.directory().plain)] {
            let error = try await session.failure(url)
            #expect(error.code == .cannotConnect, "\(error)")
            #expect(error.reason?.contains("\(port), the proxy") == true, "\(error)")
        }
    }

    @Test("a proxy with an unknown name is cannotFindHost")
    func unknownProxy() async throws {
        let session = try Self.session(.http("proxy.invalid", port: 8080))
        let error = try await session.failure(Servers.tls("good"))
        #expect(error.code == .cannotFindHost)
        #expect(error.reason?.contains("proxy.invalid") == true)
    }

    @Test("a server that the proxy cannot reach is cannotConnect", arguments: Kind.allCases)
    func deadServerBehindProxy(kind: Kind) async throws {
        let port = try MockServer().deadPort
        let error = try await Self.session(kind.options()).failure(Servers.url("https", "127.0.0.1", port))
        #expect(error.code == .cannotConnect, "\(error)")
    }

    @Test("a server that is not a proxy is a typed error", arguments: Kind.allCases)
    func noProxyAtAll(kind: Kind) async throws {
        try await MockServer.run(handler: { _ in .status(404) }) { server in
            let proxy: SessionConfiguration.Proxy =
                switch kind {
                case .http: .http("127.0.0.1", port: server.port)
                case .https: .https("127.0.0.1", port: server.port)
                case .socks: .socks5("127.0.0.1", port: server.port)
                }
            let error = try await Self.session(proxy).failure(Servers.tls("good"))
            #expect(error.code == (kind == .https ? .insecureConnection : .cannotConnect), "\(error)")
        }
    }

    @Test("a proxy's IPv6 address works with or without brackets", arguments: ["::1", "[::1]"])
    func proxyAtIPv6(host: String) async throws {
        let port = try MockServer().deadPort
        let error = try await Self.session(.http(host, port: port)).failure(Servers.tls("good"))
        #expect(error.code == .cannotConnect)
        #expect(error.reason?.contains("::1 port \(port)") == true)
    }

    @Test(
        "an invalid proxy host is an error that shows no credentials",
        arguments: ["", "a b", "http://a", "u:planted@a"])
    func badProxyHost(host: String) async throws {
        let session = try Self.session(.http(host, port: 1, user: "planted-user", password: "planted-password"))
        let error = try await session.failure(Servers.tls("good"))
        #expect(error.code.isKind(of: .cannotConnect), "\(error)")
        #expect(!"\(error)".contains("planted"))
    }

    // MARK: Bypass

    @Test(
        "hosts on the bypass list and their subdomains skip the proxy",
        arguments: [
            (["direct.example"], "direct.example", true), (["direct.example"], "api.direct.example", true),
            (["other.example", "direct.example"], "direct.example", true),
            ([".direct.example"], "api.direct.example", true),
            (["DIRECT.example"], "direct.EXAMPLE", true), (["*"], "anything.example", true),
            (["other.example", "*"], "anything.example", true), (["*", ""], "anything.example", true),
            (["direct.example"], "indirect.example", false), (["direct.example"], "direct.example.org", false),
            (["direct.example"], "example", false), ([], "direct.example", false), ([""], "direct.example", false),
        ])
    func bypass(list: [String], host: String, isDirect: Bool) async throws {
        try await MockServer.run(handler: { _ in .text("direct") }) { server in
            var configuration = SessionConfiguration.direct
            configuration.resolve = ["\(host):\(server.port)": ["127.0.0.1"]]
            configuration.proxy = .http("127.0.0.1", port: try MockServer().deadPort)
            configuration.proxy.bypass = list
            let session = CurlSession(configuration: configuration)
            let url = try Servers.url("http", host, server.port)
            if isDirect {
                #expect(try await session.text(url) == "direct")
            } else {
                #expect(try await session.failure(url).code == .cannotConnect)
                #expect(server.connectionCount == 0)
            }
        }
    }

    @Test("a bypassed host beyond ASCII is invalidRequest, and nothing is sent")
    func bypassBeyondASCII() async throws {
        try await MockServer.run { server in
            var configuration = SessionConfiguration()
            configuration.proxy = .http("127.0.0.1", port: server.port)
            configuration.proxy.bypass = ["localhost", "bücher.example"]
            let error = try await CurlSession(configuration: configuration).failure(server.url)
            #expect(error.code == .invalidRequest)
            #expect(error.reason?.contains("bücher.example") == true, "\(error)")
            #expect(server.connectionCount == 0)
        }
    }

    @Test("an IPv6 address skips the proxy with or without brackets", arguments: ["::1", "[::1]"])
    func bypassIPv6(entry: String) async throws {
        var configuration = SessionConfiguration.direct
        configuration.proxy = .http("127.0.0.1", port: try MockServer().deadPort)
        configuration.proxy.bypass = [entry]
        let port = try MockServer().deadPort
        let error = try await CurlSession(configuration: configuration).failure(Servers.url("http", "[::1]", port))
        #expect(error.code == .cannotConnect)
        #expect(error.reason?.contains("::1 port \(port)") == true, "\(error)")
    }

    // MARK: The environment

    #if compiler(>=6.2)
    /// Returns "direct", a status other than 200, or the error's code, for a request in this environment.
    ///
    /// Call it only in a separate process, because changing the environment races with its readers.
    static func outcome(of proxy: SessionConfiguration.Proxy, _ url: URL, _ environment: [String: String] = [:]) async
        -> String
    {
        for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
            unsetenv(name)
            unsetenv(name.uppercased())
        }
        for (name, value) in environment { setenv(name, value, 1) }
        var configuration = SessionConfiguration()
        configuration.proxy = proxy
        configuration.tls.insecureTrustsEveryServer = true
        do {
            let response = try await CurlSession(configuration: configuration).send(NetworkRequest(.get, url))
            return response.statusCode == 200 ? "direct" : "\(response.statusCode)"
        } catch {
            return (error as? NetworkError)?.code.rawValue ?? "\(error)"
        }
    }

    @Test(".system uses the proxy of the environment, and .none ignores it")
    func environment() async throws {
        await #expect(processExitsWith: .success) {
            let dead = "http://127.0.0.1:\(try MockServer().deadPort)"
            let plain = try Servers.url("http", "127.0.0.1", Servers.directory().plain)
            let secure = try Servers.tls("good")
            let variables = [
                (plain, ["http_proxy", "all_proxy", "ALL_PROXY"], ["HTTP_PROXY", "https_proxy"]),
                (secure, ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"], ["http_proxy"]),
            ]
            for (url, names, others) in variables {
                #expect(await Self.outcome(of: .system, url) == "direct")
                for name in names {
                    #expect(await Self.outcome(of: .system, url, [name: dead]) == "cannotConnect", "\(name)")
                    #expect(await Self.outcome(of: .none, url, [name: dead]) == "direct", "\(name)")
                    for exception in ["no_proxy", "NO_PROXY"] {
                        let environment = [name: dead, exception: "example.com,127.0.0.1"]
                        #expect(await Self.outcome(of: .system, url, environment) == "direct", "\(exception)")
                    }
                }
                for name in others {
                    #expect(await Self.outcome(of: .system, url, [name: dead]) == "direct", "\(name)")
                }
            }
        }
    }

    @Test("an error names a dead proxy of the environment, or a dead server")
    func deadProxyOfTheEnvironment() async throws {
        await #expect(processExitsWith: .success) {
            let (proxy, server) = (try MockServer().deadPort, try MockServer().deadPort)
            setenv("http_proxy", "http://127.0.0.1:\(proxy)", 1)
            setenv("no_proxy", "localhost", 1)
            let behind = try await CurlSession().failure(Servers.url("http", "127.0.0.1", server))
            #expect(behind.code == .cannotConnect && behind.reason?.contains(", the proxy") == true, "\(behind)")
            let direct = try await CurlSession().failure(Servers.url("http", "localhost", server))
            #expect(
                direct.reason == "nothing accepts connections at localhost port \(server), or it resets them",
                "\(direct)")
        }
    }

    @Test("an explicit proxy wins over the environment and its no_proxy")
    func environmentAndNamedProxy() async throws {
        await #expect(processExitsWith: .success) {
            let dead = try MockServer().deadPort
            let directory = try Servers.directory()
            let url = try Servers.url("http", "127.0.0.1", directory.plain)
            let living = SessionConfiguration.Proxy.http("127.0.0.1", port: try #require(directory.proxies["http"]))
            let environment = ["http_proxy": "http://127.0.0.1:\(dead)", "no_proxy": "*"]
            #expect(await Self.outcome(of: living, url, environment) == "direct")
            let named = SessionConfiguration.Proxy.http("127.0.0.1", port: dead)
            #expect(await Self.outcome(of: named, url, environment) == "cannotConnect")
        }
    }
    #endif
}

extension SessionConfiguration {
    /// A configuration without the proxies of the tests' environment.
    static var direct: SessionConfiguration {
        var configuration = SessionConfiguration()
        configuration.proxy = .none
        return configuration
    }
}
#endif
