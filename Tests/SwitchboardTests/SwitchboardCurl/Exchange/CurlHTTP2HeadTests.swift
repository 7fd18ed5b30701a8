#if os(Linux)
import Foundation
import Switchboard
import SwitchboardCurl
import SwitchboardTestSupport
import Testing

/// Heads over HTTP/2 that are larger than libcurl's usual buffer.
@Suite(.needsServers, .inTurn, .serialized, .timeLimit(.minutes(10)))
struct CurlHTTP2HeadTests {
    private static func request(_ size: Int, isStreamed: Bool = false) throws -> NetworkRequest {
        var request = NetworkRequest(.get, try Servers.http2("scriptsTLS", "/fields/\(size)"))
        request.timeouts.attempt = .seconds(300)
        request.options.streamsResponse = isStreamed
        return request
    }

    @Test(
        "a head of up to 125 KB arrives whole", arguments: [16_000, 40_000, 64_000, 100_000, 125_000], [false, true])
    func largeHead(size: Int, isStreamed: Bool) async throws {
        let session = try CurlHTTP2Tests.session(connections: 1)
        for _ in 0..<2 {
            let response = try await session.send(Self.request(size, isStreamed: isStreamed))
            let fields = response.headers.filter { $0.name.hasPrefix("x-field-") }
            #expect(fields.count == size / 1_000)
            #expect(fields.allSatisfy { $0.value.utf8.count == 985 })
            #expect(isStreamed || response.body == Data("body".utf8))
            if isStreamed { for try await _ in response.bytes {} }
        }
    }

    @Test("a head over limits.responseHeaders is headersTooLarge", arguments: [false, true])
    func overTheLimit(isStreamed: Bool) async throws {
        var request = try Self.request(100_000, isStreamed: isStreamed)
        request.limits.responseHeaders = 64 << 10
        let limited = request
        let session = try CurlHTTP2Tests.session()
        let error = await #expect(throws: NetworkError.self) { try await session.send(limited) }
        #expect(error?.code == .headersTooLarge)
        #expect(error?.reason?.contains("limits.responseHeaders") == true)
    }

    @Test("a head over libcurl's limit is headersTooLarge on any connection", arguments: [false, true])
    func overTheLimitOfTheLibrary(isStreamed: Bool) async throws {
        let session = try CurlHTTP2Tests.session(connections: 1)
        // A POST that lost a kept-alive connection would not be sent again.
        for (isKept, method) in [(false, HTTPMethod.get), (true, .get), (true, .post)] {
            if isKept { _ = try await CurlHTTP2FrameTests.count(session, Servers.http2("scriptsTLS", "/count")) }
            var request = try Self.request(400_000, isStreamed: isStreamed)
            request.method = method
            let sent = request
            let error = await #expect(throws: NetworkError.self) { try await session.send(sent) }
            #expect(error?.code == .headersTooLarge, "\(String(describing: error))")
        }
    }
}
#endif
