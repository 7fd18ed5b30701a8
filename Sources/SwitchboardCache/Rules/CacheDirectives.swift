import Foundation
import SwitchboardPlatform
import Switchboard

/// The directives of a request's `Cache-Control` ([RFC 9111
/// §5.2.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1)), as values.
///
/// ```swift
/// let options = RequestOptions {
///     $0.cacheDirectives.maxStale = .seconds(600)
/// }
/// ```
///
/// The cache writes them into the field, so that caches on the way read them too. A `Cache-Control` field that the
/// request sets itself takes precedence.
public struct CacheDirectives: Sendable, Hashable {
    /// The largest accepted age, in whole seconds. Nil accepts any age.
    public var maxAge: Duration?
    /// The accepted time since the end of the lifetime, in whole seconds. A century or more accepts any. Nil accepts
    /// no stale response.
    public var maxStale: Duration?
    /// The time for which the response must still be fresh, in whole seconds. Nil makes no demand.
    public var minFresh: Duration?
    /// Whether the server must confirm a stored response. Default false.
    public var noCache = false
    /// Whether the response must not be stored. Default false.
    public var noStore = false
    /// Whether nothing is sent. Without a fitting stored response, the call fails with `NetworkError.Code.notCached`.
    /// Default false.
    public var onlyIfCached = false

    /// Creates no directives.
    public init() {}

    /// The value of the field. Nil without directives.
    var field: String? {
        func seconds(_ name: String, _ time: Duration?) -> String? {
            time.map { "\(name)=\(max(0, $0.components.seconds))" }
        }
        let isAnyStale = maxStale.map { $0 >= .century } ?? false
        let parts = [
            seconds("max-age", maxAge), isAnyStale ? "max-stale" : seconds("max-stale", maxStale),
            seconds("min-fresh", minFresh), noCache ? "no-cache" : nil, noStore ? "no-store" : nil,
            onlyIfCached ? "only-if-cached" : nil,
        ].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}

extension NetworkRequest {
    /// The request with its directives as a header field.
    var withCacheDirectives: NetworkRequest {
        let directives = options.cacheDirectives
        guard directives != CacheDirectives(), let field = directives.field else { return self }
        let own = headers.values(for: "Cache-Control")
        // The core adds one directive for a policy. It does not replace those of the options.
        let isOfPolicy = options.cachePolicy != .useProtocolCachePolicy && own.count == 1 && !own[0].contains(",")
        guard own.isEmpty || isOfPolicy else { return self }
        var request = self
        request.headers.set("Cache-Control", (own + [field]).joined(separator: ", "))
        return request
    }
}
