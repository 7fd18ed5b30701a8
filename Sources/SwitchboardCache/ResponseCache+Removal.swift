import Foundation
import Switchboard
import SwitchboardText

extension ResponseCache {
    /// Removes every stored response of all environments, from memory and disk.
    public func removeAll() async {
        await storage.removeAll()
    }

    /// Removes the responses that are stored for this URL, for every identity and environment. The query must match
    /// too.
    public func remove(_ url: URL) async {
        let text = url.asCacheKey
        await storage.remove { stored, _, _ in stored.hasBytes(of: text) }
    }

    /// Removes the responses that are stored for an endpoint, for every identity and environment: those whose path ends
    /// with its path and whose query contains its parameters. Their queries may contain more, because interceptors add
    /// parameters.
    ///
    /// - Throws: `NetworkError` when no request can be built for the endpoint.
    public func remove<EndPoint: EndPointType>(_ endPoint: EndPoint) async throws {
        let request = try RequestBuilder().makeRequest(for: RebasedEndPoint(endPoint, at: "http://cache.invalid/"))
        guard !CachePath(request.path).isEmpty else {
            // The endpoint has no path: its base URL is the whole URL.
            let own = try RequestBuilder().makeRequest(for: endPoint)
            if let url = own.url { await remove(url) }
            return
        }
        let wanted = CachePath(request.path)
        let items = FormBody.decode(request.query ?? "")
        await storage.remove { url, _, _ in
            let parts = URLParts(URL(string: url))
            let there = FormBody.decode(parts.query ?? "")
            return CachePath(parts.path).ends(with: wanted) && items.allSatisfy(there.contains)
        }
    }

    /// Removes the responses whose path contains these segments, in every environment: `friends` removes `/api/friends`
    /// and `/api/friends/7?full=1`, but not `/api/friendship`.
    public func remove(path: String) async {
        let wanted = CachePath(path)
        await storage.remove { url, _, _ in CachePath(URLParts(URL(string: url)).path).contains(wanted) }
    }

    /// Removes the responses that were stored for requests with this tag, for every identity and environment. See
    /// `RequestOptions.cacheTags`.
    public func remove(tag: String) async {
        await storage.remove { _, _, tags in tags.contains(tag) }
    }

    /// The number of stored responses, and the bytes they use in memory and on disk.
    public var usage: (count: Int, memory: Int, disk: Int) {
        get async { await storage.usage }
    }

    /// Ends the revalidations in the background, and removes every stored response.
    public func reset() async {
        await revalidations.end()
        await removeAll()
    }
}

/// A path as a list of segments.
private struct CachePath {
    private let segments: [String]

    var isEmpty: Bool { segments.isEmpty }

    init(_ path: String) {
        segments = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/")
            .map { $0.removingPercentEncoding ?? String($0) }
    }

    func ends(with other: CachePath) -> Bool {
        !other.segments.isEmpty && segments.suffix(other.segments.count) == other.segments[...]
    }

    func contains(_ other: CachePath) -> Bool {
        let count = other.segments.count
        guard count > 0, count <= segments.count else { return false }
        return (0...(segments.count - count)).contains { segments[$0..<($0 + count)] == other.segments[...] }
    }
}
