import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

struct TrailerTests {
    private static var response: MockResponse {
        var response = MockResponse.text("film")
        response.trailers = ["X-Checksum": "12"]
        return response
    }

    @Test("a stub's response has its trailers")
    func stub() async throws {
        let router = Router<URLEndPoint>(session: StubSession(Self.response))
        let url = try #require(URL(string: "http://h.test/"))
        let answer = try await router.response(for: URLEndPoint(.get, url))
        #expect(answer.text == "film" && answer.trailers == ["X-Checksum": "12"])
    }

    #if os(Linux)
    @Test("a server sends them after the last chunk")
    func server() async throws {
        try await MockServer.run { server in
            server.enqueue(Self.response)
            let router = Router<URLEndPoint>(session: CurlSession())
            let answer = try await router.response(for: URLEndPoint(.get, server.url))
            #expect(answer.text == "film" && answer.trailers == ["X-Checksum": "12"])
            #expect(answer.headers["Transfer-Encoding"] == "chunked")
        }
    }
    #endif
}
