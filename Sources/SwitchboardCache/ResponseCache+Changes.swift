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

    /// Removes the stored responses that an unsafe method changed, and those that the call makes stale. The spared load
    /// may still store its response.
    private func removeChanged(
        by request: NetworkRequest, _ status: Int, _ headers: HTTPHeaders, sparing load: Int? = nil
    ) async {
        guard (200..<400).contains(status) else { return }
        let isSafe = [HTTPMethod.get, .head, .options, .trace].contains(request.method)
        let places = isSafe ? [] : changedPlaces(by: request, headers)
        let stale = request.options.makesStale.map(\.includes)
        guard !places.isEmpty || !stale.isEmpty else { return }
        let partition = request.options.partition ?? ""
        if !places.isEmpty { await storage.remove(places: places, partition, sparing: load) }
        guard !stale.isEmpty else { return }
        await storage.remove { stored, owner, tags in
            owner.hasBytes(of: partition) && stale.contains { $0(stored, tags) }
        }
    }

    /// Returns the place of a request with an unsafe method, and those that its answer names.
    private func changedPlaces(by request: NetworkRequest, _ headers: HTTPHeaders) -> [String] {
        guard let url = request.url else { return [] }
        // A resource of another origin is not this server's to invalidate.
        let others = ["Location", "Content-Location"].flatMap(headers.values).filter { !$0.isEmpty }
            .compactMap { URL(string: $0, relativeTo: url)?.absoluteURL }.filter { $0.hasSameOrigin(as: url) }
        return ([url] + others).map(\.asCacheKey)
    }

    /// Answers a request that is sent: counts and reports the outcome, and removes what the call makes stale.
    func answer(_ load: CacheLoad) async throws -> NetworkResponse {
        var response: NetworkResponse
        do {
            response = try await self.load(load)
        } catch let error as NetworkError {
            if let status = error.status { await removeChanged(by: load.request, status, [:]) }
            throw error
        }
        guard let outcome = response.cacheOutcome else { return response }
        // Only the rest of an incomplete body was received.
        let isCompleted = outcome == .validated(.incomplete)
        let known = response.stream == nil ? load.found?.bodyCount : load.found?.part?.prefix
        storage.count(outcome, isCompleted ? known ?? 0 : response.length(of: load.stored))
        switch outcome {
        case .miss: response.request?.report(.cache("answered by the server"))
        case .validated: response.request?.report(.cache("still right"))
        default: break
        }
        if outcome != .stale(.serverFailed) { await removeChanged(by: load.request, response.statusCode, [:]) }
        guard load.request.options.reusesDecodedValue,
            let decoded = storage.decoded(load.key, load.request)
        else { return response }
        response.reuse(decoded.values, of: decoded.body, kept)
        return response
    }

    /// Revalidates a stored response in the background. `removals` is ``CacheHeld/removals`` before it was found.
    func revalidate(
        _ stored: StoredResponse, _ request: NetworkRequest, _ next: Next, _ key: CacheKey, _ removals: Int
    ) {
        revalidations.start(request, key, stored) { [self] request in
            do {
                var response = try await answer(
                    CacheLoad(
                        key: key, stored: stored, found: stored, removals: removals, request: request, next: next,
                        reason: .expired, isInBackground: true))
                let isFailed = response.cacheOutcome == .stale(.serverFailed)
                if isFailed || response.statusCode >= 500 {
                    let why = isFailed ? "the stored response stays" : "HTTP \(response.statusCode)"
                    request.report(.cache("revalidation failed: \(why)"))
                }
                // This task is the only reader of a body that is stored while it is read. Releasing another body cancels it.
                if response.isStoredAsItArrives { for try await _ in response.bytes {} }
                response.stream = nil
                return response
            } catch {
                request.report(.cache("revalidation failed: \((error as? NetworkError)?.summary ?? "cancelled")"))
                throw error
            }
        }
    }
}

extension NetworkResponse {
    /// Whether the body is that of the server, and is stored while it is read.
    fileprivate var isStoredAsItArrives: Bool {
        guard stream != nil, notStoredReason == nil, case .miss = cacheOutcome else { return false }
        return true
    }

    /// Returns the number of bytes of the body of an answer. A body that streams is in the file of the stored response.
    func length(of stored: StoredResponse?) -> Int {
        guard stream != nil else { return body.count }
        return statusCode == 206 ? headers["Content-Length"].flatMap { Int($0) } ?? 0 : stored?.bodyCount ?? 0
    }
}
