import Foundation
import Switchboard
import SwitchboardText

extension ResponseCache {
    /// Sends a request that the cache does not handle, and removes stored responses that it invalidates ([RFC 9111
    /// §4.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.4)).
    func sendUncached(_ request: NetworkRequest, _ next: Next) async throws -> NetworkResponse {
        let (post, requestTime) = (await beginPost(request, next), now())
        do {
            let response = try await next(request)
            await removeChanged(by: request, response.statusCode, response.headers, except: post?.number)
            if let post { await storePost(response, of: post, requestTime: requestTime) }
            return response.cacheOutcome == nil ? response : response.recording(nil)
        } catch {
            if let post { await storage.end(post.number) }
            // The status of the head that arrived says that the server performed the request.
            if let error = error as? NetworkError, let status = error.statusCode {
                await removeChanged(by: request, status, error.response?.headers ?? [:])
            }
            throw error
        }
    }

    /// Removes the stored responses that an unsafe method changed, and those that the call makes stale. The excepted
    /// load may still store its response.
    func removeChanged(
        by request: NetworkRequest, _ status: Int, _ headers: HTTPHeaders, except load: Int? = nil
    ) async {
        guard (200..<400).contains(status) else { return }
        let isSafe = [HTTPMethod.get, .head, .options, .trace].contains(request.method)
        let urls = isSafe ? [] : invalidatedURLs(by: request, headers)
        let stale = request.options.makesStale.map(\.includes)
        guard !urls.isEmpty || !stale.isEmpty else { return }
        let partition = request.options.partition ?? ""
        if !urls.isEmpty { await storage.remove(urls: urls, partition, except: load) }
        guard !stale.isEmpty else { return }
        await storage.remove { url, storedPartition, tags in
            storedPartition.hasBytes(of: partition) && stale.contains { $0(url, tags) }
        }
    }

    /// Returns the URL of a request with an unsafe method, and those in `Location` and `Content-Location`.
    private func invalidatedURLs(by request: NetworkRequest, _ headers: HTTPHeaders) -> [String] {
        guard let url = request.url else { return [] }
        // A server may invalidate only resources of its origin.
        let others = ["Location", "Content-Location"].flatMap(headers.values).filter { !$0.isEmpty }
            .compactMap { URL(string: $0, relativeTo: url)?.absoluteURL }.filter { $0.hasSameOrigin(as: url) }
        return ([url] + others).map(\.asCacheKey)
    }
}

/// The responses to POSTs that answer a later GET ([RFC 9110
/// §9.3.3](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.3)).
extension ResponseCache {
    /// Begins the load of a POST. Nil for a request with another method, and for one that the cache does not handle.
    func beginPost(_ request: NetworkRequest, _ next: Next) async -> CacheLoad? {
        guard request.method == .post, request.options.cacheLifetime != .none, !request.options.streamsResponse else {
            return nil
        }
        var get = request
        get.method = .get
        get.body = EmptyBody()
        // These fields describe the body.
        for field in request.headers where field.name.lowercased().hasPrefix("content-") {
            get.headers.remove(field.name)
        }
        guard let key = CacheKey(get, identity: identity, ignoring: Self.ignoredFields) else { return nil }
        return await storage.begin(
            CacheLoad(key: key, removals: nil, request: request, next: next, reason: .notStored))
    }

    /// Ends the load of a POST. Stores a response that states its lifetime and has its own URL as `Content-Location`.
    func storePost(_ response: NetworkResponse, of load: CacheLoad, requestTime: Date) async {
        let locations = response.headers.values(for: "Content-Location").map {
            URL(string: $0, relativeTo: load.request.url)?.asCacheKey
        }
        let isContent =
            locations == [load.key.url] && response.request?.method == .post
            && (response.url?.asCacheKey ?? load.key.url) == load.key.url
        guard isContent, response.stream == nil,
            let new = try? storable(response, load, requestTime: requestTime).get(),
            new.isSuccess, new.rules.lifetime != nil
        else { return await storage.end(load.number) }
        let fault = await storage.store(new, at: load.number)
        load.request.report(.cache(fault?.event ?? "stored"))
    }
}
