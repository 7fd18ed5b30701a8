import Foundation
import Switchboard
import SwitchboardText

extension ResponseCache {
    /// Removes every stored response, of all environments, on disk too.
    public func removeAll() async {
        await shelf.removeAll()
    }

    /// Removes what is stored for a URL, its query included.
    public func remove(_ url: URL) async {
        let text = url.asCacheKey
        await shelf.remove { stored, _ in stored == text }
    }

    /// Removes what is stored for an endpoint, in every environment and for everybody: the responses whose path ends with its
    /// path and whose query has its parameters. Interceptors may have added more.
    ///
    /// - Throws: `NetworkError` when the endpoint makes no request.
    public func remove<EndPoint: EndPointType>(_ endPoint: EndPoint) async throws {
        let request = try RequestBuilder().makeRequest(for: RebasedEndPoint(endPoint, at: "http://cache.invalid/"))
        guard !CachePath(request.path).isEmpty else {
            // It is all in its base: a URL at hand.
            let own = try RequestBuilder().makeRequest(for: endPoint)
            if let url = own.url { await remove(url) }
            return
        }
        let wanted = CachePath(request.path)
        let items = FormBody.decode(request.query ?? "")
        await shelf.remove { url, _ in
            let parts = URLParts(URL(string: url))
            let there = FormBody.decode(parts.query ?? "")
            return CachePath(parts.path).ends(with: wanted) && items.allSatisfy(there.contains)
        }
    }

    /// Removes what is stored under a path, whatever stands before it and after it: `friends` removes `/api/friends` and
    /// `/api/friends/7?full=1`, and not `/api/friendship`.
    public func remove(path: String) async {
        let wanted = CachePath(path)
        await shelf.remove { url, _ in CachePath(URLParts(URL(string: url)).path).contains(wanted) }
    }

    /// How many responses are stored, and of how many bytes in memory and on disk.
    public var usage: (count: Int, memory: Int, disk: Int) {
        get async { await shelf.usage }
    }

    /// Removes every stored response.
    public func reset() async {
        await removeAll()
    }
}

/// A path by its segments.
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
