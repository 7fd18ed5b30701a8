import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// Each stub answers only the URLSessions of its configurations.
@Suite(.timeLimit(.minutes(10)))
struct StubURLSessionScopeTests {
    private let url: URL

    init() throws {
        url = try #require(URL(string: "http://127.0.0.1:1/"))
    }

    @Test("two concurrent stubs answer their own sessions")
    func twoStubs() async throws {
        let one = StubSession { _ in .text("one") }
        let other = StubSession { _ in .text("other") }
        let sessions = [one.urlSession(), other.urlSession(), one.urlSession()]
        var texts: [String] = []
        for session in sessions + sessions { texts.append(try await session.text(from: url)) }
        #expect(texts == ["one", "other", "one", "one", "other", "one"])
        #expect(one.requests.count == 4)
        #expect(other.requests.count == 2)
    }

    @Test("500 concurrent stubs answer their own sessions")
    func manyStubs() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<500 {
                group.addTask {
                    let stub = StubSession { .text("\(number) \($0.path)") }
                    let session = stub.urlSession()
                    for path in ["/a", "/b"] {
                        let url = url.appendingPathComponent(path)
                        let text = try await session.text(from: url)
                        #expect(text == "\(number) \(path)")
                    }
                    #expect(stub.requests.map(\.path) == ["/a", "/b"])
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("nothing reaches the network, and other sessions are unaffected")
    func noNetwork() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("from the server"))
            let stub = StubSession { _ in .text("from the stub") }
            let session = stub.urlSession()
            let stubbed = try await session.text(from: server.url)
            #expect(stubbed == "from the stub")
            let real = try await URLSession(configuration: .ephemeral).text(from: server.url)
            #expect(real == "from the server")
            #expect(server.requests.count == 1)
            #expect(stub.requests.count == 1)
        }
    }

    @Test("the configuration is a copy that keeps its other values")
    func configurationCopy() throws {
        final class Other: URLProtocol {}
        let base = URLSessionConfiguration.ephemeral
        base.timeoutIntervalForRequest = 3
        base.protocolClasses = [Other.self]
        let configuration = StubSession().urlSessionConfiguration(base)
        #expect(base.protocolClasses?.count == 1)
        #expect(configuration.timeoutIntervalForRequest == 3)
        #expect(configuration.protocolClasses?.count == 2)
        #expect(configuration.protocolClasses?.last == Other.self)
    }

    @Test("each stub has one class of its own")
    func stubClass() {
        let stub = StubSession()
        let names = Set((0..<100).map { _ in stub.protocolName })
        #expect(names.count == 1)
        let others = (0..<100).map { _ in StubSession() }
        #expect(Set(others.map(\.protocolName)).union(names).count == 101)
    }

    // MARK: Lifetime

    @Test("a session retains its stub")
    func sessionRetainsStub() async throws {
        let session = StubSession { _ in .text("still there") }.urlSession()
        #expect(try await session.text(from: url) == "still there")
    }

    @Test("a stub released by a changed configuration is not replaced")
    func releasedStub() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        do {
            let stubbed = StubSession { _ in .text("gone") }.urlSessionConfiguration()
            configuration.protocolClasses = stubbed.protocolClasses
        }
        let others = (0..<200).map { _ in StubSession { _ in .text("a stranger") } }
        for other in others { _ = other.urlSessionConfiguration() }
        try await MockServer.run { server in
            let session = URLSession(configuration: configuration)
            let error = await #expect(throws: URLError.self) { try await session.data(from: server.url) }
            #expect(error?.code == .cannotConnectToHost)
            let underlying = error?.userInfo[NSUnderlyingErrorKey] as? NetworkError
            #expect(underlying?.reason == "the StubSession of this URLSessionConfiguration is gone: keep it")
            #expect(server.requests.isEmpty)
        }
        #expect(!others.contains { !$0.requests.isEmpty })
    }

    @Test("the last session releases the stub")
    func lastSession() async throws {
        let (gone, goes) = AsyncStream<Void>.makeStream()
        let url = url
        try await Self.use(url, Token { goes.yield() })
        for await _ in gone { break }
    }

    private static func use(_ url: URL, _ token: Token) async throws {
        let session = StubSession { _ in .text("\(type(of: token))") }.urlSession()
        #expect(try await session.text(from: url) == "Token")
        session.finishTasksAndInvalidate()
    }
}

/// Calls a closure when it is deallocated.
private final class Token: Sendable {
    private let goes: @Sendable () -> Void

    init(_ goes: @escaping @Sendable () -> Void) {
        self.goes = goes
    }

    deinit {
        goes()
    }
}

extension StubSession {
    fileprivate var protocolName: String {
        urlSessionConfiguration().protocolClasses?.first.map { String(reflecting: $0) } ?? ""
    }
}
