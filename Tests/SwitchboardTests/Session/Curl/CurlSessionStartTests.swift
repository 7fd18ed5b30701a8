#if os(Linux)
import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// Sessions that cannot start at first.
@Suite(.timeLimit(.minutes(10))) struct CurlSessionStartTests {
    /// An authority, which only connections with TLS read.
    private static let authority = "-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n"

    @Test("a session that could not be made is made for a later request")
    func madeLater() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        var configuration = SessionConfiguration()
        configuration.tls.extraAuthorities = [.file(file)]
        let session = CurlSession(configuration: configuration)
        try await RawServer.run {
            try $0.answerAll("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        } body: { server in
            let error = await #expect(throws: NetworkError.self) {
                try await session.send(NetworkRequest(.get, server.url))
            }
            #expect(error?.code == .insecureConnection)
            try Data(Self.authority.utf8).write(to: file)
            #expect(try await session.send(NetworkRequest(.get, server.url)).text == "ok")
            #expect(try await session.send(NetworkRequest(.get, server.url)).metrics.isReusedConnection == true)
            await session.shutdown()
            let closed = await #expect(throws: NetworkError.self) {
                try await session.send(NetworkRequest(.get, server.url))
            }
            #expect(closed?.code == .sessionInvalidated)
        }
    }

    @Test("a session that was invalidated before it could be made stays so")
    func invalidatedBefore() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        var configuration = SessionConfiguration()
        configuration.tls.extraAuthorities = [.file(file)]
        let session = CurlSession(configuration: configuration)
        session.invalidate()
        try Data(Self.authority.utf8).write(to: file)
        let error = await #expect(throws: NetworkError.self) {
            try await session.send(NetworkRequest(.get, URL(string: "http://127.0.0.1:9/")!))
        }
        #expect(error?.code == .sessionInvalidated)
    }
}
#endif
