import Foundation
import Switchboard
import SwitchboardText

/// The reason why a response is not stored, and what to do.
struct CacheRefusal: Error, ExpressibleByStringInterpolation {
    let text: String
    let event: String

    init(stringLiteral text: String) {
        (self.text, event) = (text, "not stored: \(text)")
    }

    private init(disk reason: String) {
        text = "not stored on disk: \(reason)"
        event = text
    }

    /// Returns the reason why a response is not stored on disk. It may be in memory.
    static func onDisk(_ reason: String) -> CacheRefusal { CacheRefusal(disk: reason) }

    static func onDisk(_ error: any Error) -> CacheRefusal {
        error as? CacheRefusal ?? onDisk((error as? NetworkError)?.summary ?? error.localizedDescription)
    }
}

extension ResponseCache {
    /// Returns the form in which the response to a load is stored, or throws why it is not.
    func storable(
        _ response: NetworkResponse, _ load: CacheLoad, requestTime: Date, isTruncated: Bool = false
    ) throws(CacheRefusal) -> StoredResponse {
        if let refusal = StoredResponse.refusal(of: load.request) ?? refusal(of: response, load) { throw refusal }
        return try StoredResponse(
            load.withOwnURL(response), to: load.request, requestTime: requestTime, at: now(), isTruncated: isTruncated)
    }

    /// Returns why a response does not belong to the request that the cache received. With an identity, which
    /// must be the same as at the start, an interceptor after the cache may change all fields but those that `Vary`
    /// names. Without an identity, it may change nothing.
    func refusal(of response: NetworkResponse, _ load: CacheLoad, varyingBy headers: HTTPHeaders? = nil)
        -> CacheRefusal?
    {
        guard let sent = response.request else {
            return "an interceptor after the cache replaced the response: list the cache after it"
        }
        // A cache hit would hide that another origin or another call was involved.
        guard !response.isShared else { return "it is the response to another call" }
        guard response.isFromOrigin(of: load.request) else { return "another origin was involved" }
        guard load.key.isNamed else { return changeRefusal(of: load.request, load.key, sentAs: sent) }
        guard !hasChangedIdentity(load) else { return "its identity changed during the request" }
        guard let names = CacheVariant.names(headers ?? response.headers) else { return CacheVariant.refusal }
        guard CacheVariant.text(names, of: sent).hasBytes(of: CacheVariant.text(names, of: load.request)) else {
            return "its Vary names a field that an interceptor after the cache changed: list the cache after it"
        }
        return nil
    }

    /// Returns whether a sign-in replaced the account while the request waited. The response is then that of another
    /// user.
    func hasChangedIdentity(_ load: CacheLoad) -> Bool {
        guard load.key.isNamed else { return false }
        guard let name = identity?(load.keyRequest ?? load.request) else { return true }
        return !CacheKey.text(ofName: name).hasBytes(of: load.key.identity)
    }

    /// Returns why the response to a request without identity is not stored: an interceptor after the cache changed it.
    func changeRefusal(of request: NetworkRequest, _ key: CacheKey, sentAs sent: NetworkRequest) -> CacheRefusal? {
        let advice = "list the cache after it, or \(identity == nil ? "create the cache with" : "return") an identity"
        // A login after the cache may send credentials with the next equal request.
        guard sent.isSignInRecorded == request.isSignInRecorded else {
            return "a login after the cache may add credentials: \(advice)"
        }
        func fields(_ request: NetworkRequest) -> [[UInt8]] {
            request.allHeaders.filter { !$0.name.lowercased().hasPrefix("if-") }
                .map { "\($0.name.lowercased()): \($0.value)" }.sorted().map { Array($0.utf8) }
        }
        guard fields(sent) == fields(request), sent.url?.asCacheKey == request.url?.asCacheKey else {
            return "an interceptor after the cache changed the request: \(advice)"
        }
        return nil
    }
}

extension NetworkResponse {
    /// Why a ``ResponseCache`` did not store this response, in words, and what to do. Nil for a response that it
    /// stored, and for one that passed no cache.
    ///
    /// A streamed response is stored while it is read. The monitors receive a reason that arises meanwhile.
    public var notStoredReason: String? { request?.cacheRefusal?.text }
}
