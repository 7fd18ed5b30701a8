import Foundation
import Switchboard

@testable import SwitchboardURLSession

/// Notes the end of a loading.
final class LoadingClient: NSObject, URLProtocolClient, Sendable {
    private let (ends, end) = AsyncStream.makeStream(of: URLError.Code?.self)

    func load(_ request: URLRequest) async -> URLError.Code? {
        await end(of: ChainURLProtocol(request: request, cachedResponse: nil, client: self))
    }

    /// Starts a loading of this client and returns its failure.
    func end(of loading: ChainURLProtocol) async -> URLError.Code? {
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
