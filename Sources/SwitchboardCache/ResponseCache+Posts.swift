import Foundation
import Switchboard

/// The responses to POSTs that answer a later GET ([RFC 9110
/// §9.3.3](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.3)).
extension ResponseCache {
    /// Begins the load of a POST. Nil for a request with another method, and for one that the cache does not handle.
    func begin(post request: NetworkRequest, _ next: Next) async -> CacheLoad? {
        guard request.method == .post, request.options.cacheLifetime != .none, !request.options.streamsResponse else {
            return nil
        }
        var get = request
        get.method = .get
        get.body = EmptyBody()
        // They describe the body.
        for field in request.headers where field.name.lowercased().hasPrefix("content-") {
            get.headers.remove(field.name)
        }
        guard let key = CacheKey(get, identity: identity, ignoring: Self.ignored) else { return nil }
        return await storage.begin(
            CacheLoad(key: key, removals: nil, request: request, next: next, reason: .notStored))
    }

    /// Ends the load of a POST. Stores its response if it states its lifetime, and that it is the content of the URL.
    func keep(_ response: NetworkResponse, ofPost load: CacheLoad, asked: Date) async {
        let places = response.headers.values(for: "Content-Location").map {
            URL(string: $0, relativeTo: load.request.url)?.asCacheKey
        }
        let isContent =
            places == [load.key.url] && response.request?.method == .post
            && (response.url?.asCacheKey ?? load.key.url) == load.key.url
        guard isContent, response.stream == nil, let new = try? storable(response, load, asked: asked).get(),
            new.isSuccess, new.rules.lifetime != nil
        else { return await storage.end(load.number) }
        load.request.report(.cache(await storage.store(new, at: load.number) ?? "stored"))
    }
}
