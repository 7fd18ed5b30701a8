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
            await removeChanged(
                by: request, response.statusCode, response.headers, last: response.request, history: response.history,
                except: post?.number)
            if let post { await storePost(response, of: post, requestTime: requestTime) }
            return response.cacheOutcome == nil ? response : response.recording(nil)
        } catch {
            if let post { await storage.end(post.number) }
            // The status of the head that arrived says that the server performed the request.
            if let error = error as? NetworkError, error.isAbout(request) {
                await removeChanged(
                    by: request, error.statusCode, error.headers ?? [:], last: error.request, history: error.history)
            } else {
                await removeChanged(by: request, nil, [:], history: request.call?.history ?? [])
            }
            throw error
        }
    }

    /// Removes the stored responses that an unsafe method changed, and those that the call makes stale. The excepted
    /// load may still store its response.
    ///
    /// A redirect that was followed after the cache accepted the request too. `last` is then the request that the status
    /// and the fields answer. Nil for the request itself.
    func removeChanged(
        by request: NetworkRequest, _ status: Int?, _ headers: HTTPHeaders, last: NetworkRequest? = nil,
        history: @autoclosure () -> [ExchangeRecord] = [], except load: Int? = nil
    ) async {
        let isAccepted = status.map((200..<400).contains) ?? false
        let redirected = request.method.isSafe ? [] : redirectedURLs(history())
        guard isAccepted || !redirected.isEmpty else { return }
        let urls = redirected + (isAccepted && !request.method.isSafe ? changedURLs(by: request, last, headers) : [])
        let stale = request.options.makesStale.map(\.includes)
        guard !urls.isEmpty || !stale.isEmpty else { return }
        let partition = request.options.partition ?? ""
        if !urls.isEmpty { await storage.remove(urls: urls.map(\.asCacheKey), partition, except: load) }
        guard !stale.isEmpty else { return }
        await storage.remove { url, storedPartition, tags in
            storedPartition.hasBytes(of: partition) && stale.contains { $0(url, tags) }
        }
    }

    /// Returns the URLs of all accepted changes, and those in their origins to which they were redirected. Empty without a
    /// redirected change.
    private func redirectedURLs(_ history: [ExchangeRecord]) -> [URL] {
        guard history.contains(where: \.isRedirectedChange) else { return [] }
        var urls: [URL] = []
        for (index, record) in history.enumerated() where record.isAcceptedChange {
            guard let url = record.request.url else { continue }
            urls.append(url)
            if record.isRedirectedChange, index + 1 < history.count, let target = history[index + 1].request.url,
                target.hasSameOrigin(as: url)
            {
                urls.append(target)
            }
        }
        return urls
    }

    /// Returns the URL of a request with an unsafe method, and those in the `Location` and `Content-Location` of an
    /// accepted change, which `last` made.
    private func changedURLs(
        by request: NetworkRequest, _ last: NetworkRequest?, _ headers: HTTPHeaders
    ) -> [URL] {
        guard let url = request.url else { return [] }
        let (last, target) = (last ?? request, last?.url ?? url)
        guard !last.method.isSafe else { return [url] }
        // A server may invalidate only resources of its origin.
        return [url]
            + ["Location", "Content-Location"].flatMap(headers.values).filter { !$0.isEmpty }
            .compactMap { URL(location: $0, relativeTo: target) }.filter { $0.hasSameOrigin(as: target) }
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
        guard let key = CacheKey(get, identity: identity) else { return nil }
        return await storage.begin(
            CacheLoad(key: key, removals: nil, request: request, keyRequest: get, next: next, reason: .notStored))
    }

    /// Ends the load of a POST. Stores a response that states its lifetime and has its own URL as `Content-Location`.
    func storePost(_ response: NetworkResponse, of load: CacheLoad, requestTime: Date) async {
        let locations = response.headers.values(for: "Content-Location").map {
            URL(string: $0, relativeTo: load.request.url)?.asCacheKey
        }
        let isContent =
            locations == [load.key.url] && response.request?.method == .post
            && (load.withOwnURL(response).url?.asCacheKey ?? load.key.url) == load.key.url
        guard isContent, response.stream == nil,
            let new = try? storable(response, load, requestTime: requestTime),
            new.isSuccess, new.rules.lifetime != nil
        else { return await storage.end(load.number) }
        let fault = await storage.store(new, at: load.number)
        load.request.report(.cache(fault?.event ?? "stored"))
    }
}

extension ExchangeRecord {
    fileprivate var isAcceptedChange: Bool {
        guard !request.method.isSafe, case .status(let status) = outcome else { return false }
        return (200..<400).contains(status)
    }

    fileprivate var isRedirectedChange: Bool { !request.method.isSafe && isRedirect }

    var isRedirect: Bool {
        guard case .status(let status) = outcome else { return false }
        return NetworkResponse.isRedirect(status)
    }
}
