#if os(Linux)
import Foundation
import SwitchboardCurlC
import SwitchboardTesting
import Testing

@testable import Switchboard

/// The session that is used by default.
@Suite
struct DefaultSessionTests {
    @Test("CurlSession is the default where the system has libcurl")
    func curlIsTheDefault() {
        #expect(CurlSession.isAvailable)
        #expect(DefaultSession.shared is CurlSession)
        #expect(DefaultSession.make() is CurlSession)
        #expect(DefaultSession.shared as? CurlSession === CurlSession.shared)
    }

    @Test("without a usable libcurl the default is FoundationSession")
    func fallback() {
        let chosen = DefaultSession.choose("no such library") {
            CurlSession()
        } or: {
            FoundationSession()
        }
        #expect(chosen is FoundationSession)
    }

    @Test(
        "a missing or wrong library is refused by name",
        arguments: ["libcurl-that-is-not-there.so.4", "libc.so.6"])
    func wrongLibrary(name: String) throws {
        let failure = try #require(swcurl_try_load(name).map { String(cString: $0) })
        #expect(failure.contains(name))
    }

    @Test("a router and a manager without a session use the default session")
    func routersUseIt() async throws {
        try await MockServer.run { server in
            server.enqueue(.status(200), .status(200))
            let fromRouter = try await Router<URLEndPoint>().response(for: URLEndPoint(.get, server.url))
            let fromManager = try await NetworkManager().response(for: URLEndPoint(.get, server.url))
            // Only CurlSession reports the remote address.
            let address = "127.0.0.1:\(server.url.port ?? 0)"
            #expect(fromRouter.metrics.remoteAddress == address)
            #expect(fromManager.metrics.remoteAddress == address)
        }
    }
}
#endif
