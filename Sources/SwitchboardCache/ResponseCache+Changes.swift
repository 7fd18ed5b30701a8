import Foundation
import Switchboard
import SwitchboardText

extension ResponseCache {
    /// Sends a request that the cache does not handle, and removes stored responses that it invalidates ([RFC 9111
    /// §4.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.4)).
    func pass(_ request: NetworkRequest, _ next: Next) async throws -> NetworkResponse {
        let (post, asked) = (await begin(post: request, next), now())
        do {
            let response = try await next(request)
            await removeChanged(by: request, response.statusCode, response.headers, sparing: post?.number)
            if let post { await keep(response, ofPost: post, asked: asked) }
            return response.cacheOutcome == nil ? response : response.noting(nil)
        } catch {
            if let post { await storage.end(post.number) }
            // The response's head arrived: its status says that the server performed the request.
            if let error = error as? NetworkError, let status = error.status {
                await removeChanged(by: request, status, error.response?.headers ?? [:])
            }
            throw error
        }
    }

    private func removeChanged(
        by request: NetworkRequest, _ status: Int, _ headers: HTTPHeaders, sparing load: Int? = nil
    ) async {
        let isSafe = [HTTPMethod.get, .head, .options, .trace].contains(request.method)
        guard !isSafe, (200..<400).contains(status), let url = request.url else { return }
        // A resource of another origin is not this server's to invalidate.
        let others = ["Location", "Content-Location"].flatMap(headers.values).filter { !$0.isEmpty }
            .compactMap { URL(string: $0, relativeTo: url)?.absoluteURL }.filter { $0.hasSameOrigin(as: url) }
        let places = Set(([url] + others).map { Array(Self.place($0.asCacheKey).utf8) })
        let partition = request.options.partition ?? ""
        await storage.remove(sparing: load) { stored, owner, _ in
            owner.hasBytes(of: partition) && places.contains(Array(Self.place(stored).utf8))
        }
    }

    /// Returns the URL without its query.
    static func place(_ url: String) -> Substring {
        url.prefix { $0 != "?" && $0 != "#" }
    }

    /// Revalidates a stored response in the background.
    func revalidate(_ stored: StoredResponse, _ request: NetworkRequest, _ next: Next, _ key: CacheKey) {
        revalidations.start(request, key) { [self] request in
            do {
                let response = try await load(
                    CacheLoad(key: key, stored: stored, request: request, next: next, reason: .expired))
                let isFailed = response.cacheOutcome == .stale(.serverFailed)
                if isFailed || response.statusCode >= 500 {
                    let why = isFailed ? "the stored response stays" : "HTTP \(response.statusCode)"
                    request.report(.cache("revalidation failed: \(why)"))
                }
                return response
            } catch {
                request.report(.cache("revalidation failed: \((error as? NetworkError)?.summary ?? "cancelled")"))
                throw error
            }
        }
    }
}
