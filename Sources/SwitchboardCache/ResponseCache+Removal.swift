import Foundation
import Switchboard
import SwitchboardText

extension ResponseCache {
    /// Removes every stored response of all environments, from memory and disk.
    public func removeAll() async {
        await storage.removeAll()
    }

    /// Removes the stored responses of a partition, for every identity. Nil is the partition of requests without one.
    public func removeAll(in partition: String?) async {
        let partition = partition ?? ""
        await storage.remove { _, storedPartition, _ in storedPartition.hasBytes(of: partition) }
    }

    /// Removes the responses with a tag, a path or a URL, for every identity and environment.
    public func remove(_ target: Target) async {
        if case .url(let url) = target { return await storage.remove(url: url.asCacheKey) }
        let includes = target.includes
        await storage.remove { url, _, tags in includes(url, tags) }
    }

    /// Removes the responses that are stored for an endpoint, for every identity and environment: those whose path ends
    /// with its path and whose query contains its parameters. Their queries may contain more, because interceptors add
    /// parameters. An endpoint without a path must have the same base URL.
    ///
    /// - Throws: `NetworkError` when no request can be built for the endpoint.
    public func remove<EndPoint: EndPointType>(
        _ endPoint: EndPoint, isolation: isolated (any Actor)? = #isolation
    ) async throws {
        var builder = RequestBuilder()
        builder.replacedBaseURL = "http://cache.invalid/"
        var request = try builder.makeRequest(for: endPoint)
        let wanted = CachePath(request.path)
        var baseURL: String?
        if wanted.isEmpty {
            // The base URL is the whole URL.
            request = try RequestBuilder().makeRequest(for: endPoint)
            baseURL = request.url.map { String($0.asCacheKey.urlWithoutQuery) }
        }
        let items = FormBody.decode(request.query ?? "")
        await storage.remove { [baseURL] url, _, _ in
            let isPath =
                baseURL.map { String(url.urlWithoutQuery).hasBytes(of: $0) } ?? CachePath(ofURL: url).ends(with: wanted)
            let stored = FormBody.decode(url.dropFirst(url.urlWithoutQuery.count + 1))
            return isPath && items.allSatisfy(stored.contains)
        }
    }

    /// The number and the size of the stored responses, and counts of hits, saved bytes and evictions.
    public var usage: Usage {
        get async { await storage.usage }
    }

    /// Ends the revalidations in the background, and removes every stored response.
    public func reset() async {
        await revalidations.end()
        await removeAll()
    }
}

extension NetworkResponse {
    /// Lets a streamed download that refuses its file remove the stored response.
    mutating func removeIfDownloadIsRefused(
        _ request: NetworkRequest, _ key: CacheKey, _ storage: CacheStorage
    ) {
        guard request.options.streamsResponse else { return }
        self.request?[RefusedDownload.self] = { await storage.remove(key, request, refused: $0) }
    }
}
