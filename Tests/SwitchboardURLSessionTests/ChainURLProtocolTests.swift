import Foundation
import Switchboard
import Testing

@testable import SwitchboardURLSession

struct ChainURLProtocolTests {
    /// Notes the end of a loading.
    private final class Client: NSObject, URLProtocolClient, Sendable {
        private let (ends, end) = AsyncStream.makeStream(of: URLError.Code?.self)

        func load(_ request: URLRequest) async -> URLError.Code? {
            let loading = ChainURLProtocol(request: request, cachedResponse: nil, client: self)
            loading.startLoading()
            for await failure in ends { return failure }
            return nil
        }

        func urlProtocol(_ urlProtocol: URLProtocol, didFailWithError error: any Error) {
            end.yield((error as? URLError)?.code)
        }

        func urlProtocolDidFinishLoading(_ urlProtocol: URLProtocol) { end.yield(nil) }

        func urlProtocol(
            _ urlProtocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
        ) {}
        func urlProtocol(_ urlProtocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {}
        func urlProtocol(
            _ urlProtocol: URLProtocol, didReceive response: URLResponse,
            cacheStoragePolicy policy: URLCache.StoragePolicy
        ) {}
        func urlProtocol(_ urlProtocol: URLProtocol, didLoad data: Data) {}
        func urlProtocol(_ urlProtocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {}
        func urlProtocol(_ urlProtocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {}
    }

    @Test("a loading without a task ends too", .timeLimit(.minutes(10)))
    func noTask() async throws {
        let url = try #require(URL(string: "http://a.example/"))
        #expect(await Client().load(URLRequest(url: url)) == .cannotConnectToHost)
    }

    @Test("every loading starts on Apple, and that of a running task on Linux")
    func states() {
        for state in [URLSessionTask.State.running, .suspended, .canceling, .completed] {
            #expect(ChainURLProtocol.loads(in: state, startsStoppedTasks: false))
            #expect(ChainURLProtocol.loads(in: state, startsStoppedTasks: true) == (state == .running))
        }
    }
}
