import Foundation
import Switchboard
import SwitchboardText

/// A request that the cache sends, and the stored response that the answer may confirm or replace.
struct CacheLoad: Sendable {
    let key: CacheKey
    /// The stored response that matches the request and can answer it. Nil when there is none.
    var stored: StoredResponse?
    /// The stored response that matches the request, even if it is incomplete or cannot answer its `Range`.
    var found: StoredResponse?
    /// ``CacheStorage/State/removals`` before the stored response was found. Nil for a load that uses none.
    let removals: Int?
    var request: NetworkRequest
    /// The request of the key, if another one is sent.
    var keyRequest: NetworkRequest?
    let next: Next
    let reason: ResponseCache.Outcome.Reason
    /// Whether this is a revalidation in the background, whose answer has no reader.
    var isInBackground = false
    /// The number of the load in the storage.
    var number = 0
    /// The number of exchanges of the call before the load.
    var earlierCount = 0
    /// The cookies of earlier responses, such as an unsuitable 304. The answer sets them too.
    var cookies: [String] = []

    var usesStored: Bool { request.options.usesStoredResponse }

    /// Returns the response with the URL that the cache received, if an interceptor after a cache with an identity
    /// changed it, such as one that adds a key to the query. A redirect led to another resource.
    func withOwnURL(_ response: NetworkResponse) -> NetworkResponse {
        let ownCount = NetworkResponse.isRedirect(response.statusCode) ? 1 : 0
        guard key.isNamed, response.url != request.url, let sent = response.request, sent.call != nil,
            response.url?.asCacheKey == sent.url?.asCacheKey,
            !response.history.dropFirst(earlierCount).dropLast(ownCount).contains(where: \.isRedirect)
        else { return response }
        var response = response
        response.url = request.url
        return response
    }
}

extension ResponseCache {
    /// Sends a request, counts and reports the outcome, and removes what the call makes stale.
    func perform(_ load: CacheLoad) async throws -> NetworkResponse {
        let response: NetworkResponse
        var sent = load
        do {
            response = try await send(&sent)
        } catch let error as NetworkError where error.isAbout(load.request) {
            if let status = error.statusCode { await removeChanged(by: load.request, status, [:]) }
            throw error
        }
        let outcome = response.cacheOutcome
        // Without an outcome, an interceptor after the cache replaced the response.
        if let outcome { report(outcome, of: response, sent) }
        if outcome != .stale(.serverFailed) { await removeChanged(by: load.request, response.statusCode, [:]) }
        return response
    }

    private func report(_ outcome: Outcome, of response: NetworkResponse, _ load: CacheLoad) {
        let isCompleted = outcome == .validated(.incomplete)
        let storedCount = response.stream == nil ? load.found?.bodyCount : load.found?.part?.prefix
        storage.count(outcome, isCompleted ? storedCount ?? 0 : response.length(of: load.stored))
        switch outcome {
        case .miss: response.request?.report(.cache("new response of the server"))
        case .validated:
            response.request?.report(
                .validated, isCompleted ? "completed" : "validated, not modified", with: response)
        default: break
        }
    }

    /// Sends the request, ends the load, and returns the answer.
    private func send(_ load: inout CacheLoad) async throws -> NetworkResponse {
        load = await storage.begin(load)
        let startTime = now()
        do {
            // The stored response was removed, and must not come back.
            if load.isInBackground, load.found == nil { throw CancellationError() }
            if load.request.method == .head { return try await sendHead(load) }
            if load.usesStored, let completionRequest = load.completionRequest {
                let plain = load.request
                load.keyRequest = load.request
                load.request = completionRequest
                if let response = try await complete(&load, for: plain) { return response }
                load.request = plain
            } else if load.usesStored, let response = try await confirm(&load) {
                return response
            }
            let requestTime = now()
            return await finish(try await load.next(load.request), load, requestTime: requestTime).adding(
                cookies: load.cookies)
        } catch let error as NetworkError {
            let stale = error.isNetworkFailure ? staleAnswer(for: load, "\(error.code)") : nil
            await storeReceivedPart(error, load, requestTime: startTime)
            guard let stale else { throw error }
            return stale.adding(cookies: load.cookies + (error.headers?.cookies ?? []))
        } catch {
            await storage.end(load.number)
            throw error
        }
    }

    /// Sends a conditional request with the validators of the stored response, and the tags of the other variants.
    /// Returns the answer, or nil when no stored response has a validator or when the 304 confirms none of them.
    private func confirm(_ load: inout CacheLoad) async throws -> NetworkResponse? {
        let (request, stored) = (load.request, load.stored)
        // The server evaluates the app's own condition.
        guard !request.isConditional, stored?.isAnswer(from: nil, to: load.key) ?? true else { return nil }
        var validators = stored?.validators ?? HTTPHeaders()
        // A 304 about another variant answers no range.
        let tags = request.headers.contains("Range") ? [] : await storage.entityTags(of: load.key)
        let own = validators.values(for: "If-None-Match")
        let others = CacheVariant.sendable(tags.filter { $0 != stored?.tag }, after: own.first)
        if !others.isEmpty {
            validators.set("If-None-Match", (own + others).joined(separator: ", "))
        }
        guard !validators.isEmpty, (try? validators.validate()) != nil else { return nil }
        var conditional = request
        conditional.headers.merge(validators)
        let requestTime = now()
        let response = try await load.next(conditional)
        guard response.statusCode == 304 else { return await finish(response, load, requestTime: requestTime) }
        let selected = await storedResponse(confirmedBy: response, load, sent: own + others)
        guard let selected, selected.canAnswer(request) else {
            request.report(.cache("the 304 does not match the stored response"))
            load.cookies = response.headers.cookies
            return nil
        }
        load.stored = selected
        let confirmed = selected.confirmed(by: response, to: request, requestTime: requestTime, at: now())
        let fault = await storeConfirmed(confirmed, after: response, requestTime: requestTime, load)
        return try confirmed.answer(to: request, at: now(), .validated(load.reason))
            .recording(.validated(load.reason), fault).adding(cookies: response.headers.cookies)
    }

    /// Returns the stored response that a 304 selects ([RFC 9111
    /// §4.3.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.4)). Nil when the 304 selects none or is ambiguous.
    private func storedResponse(confirmedBy response: NetworkResponse, _ load: CacheLoad, sent tags: [String]) async
        -> StoredResponse?
    {
        if let url = load.withOwnURL(response).url, url.asCacheKey != load.key.url { return nil }
        if let tag = response.headers.values(for: "ETag").first {
            if let stored = load.stored, stored.has(tag) { return stored }
            return await storage.find(tag, for: load)
        }
        guard tags.count < 2 else { return nil }
        // A server that reads the tag of another variant ignores the date of this one.
        var selected = load.stored
        if let tag = tags.first, selected?.tag?.hasBytes(of: tag) != true {
            selected = await storage.find(tag, for: load)
        }
        return selected.flatMap { $0.isConfirmed(byUntagged: response) ? $0 : nil }
    }

    /// Ends a load with a stored response that the server confirmed. Returns the reason if it is not stored.
    private func storeConfirmed(
        _ confirmed: StoredResponse, after response: NetworkResponse, requestTime: Date, _ load: CacheLoad
    ) async -> CacheRefusal? {
        let forbidden: CacheRefusal? =
            confirmed.varyNames == nil
            ? CacheVariant.refusal : CacheRules.refusal(confirmed.status, CacheControl(response.headers))
        let fault: CacheRefusal?
        if let refusal = refusal(of: response, load, varyingBy: confirmed.headers) ?? forbidden {
            fault = refusal
            let isOfOther = response.isShared || hasChangedIdentity(load)
            await storage.end(load.number, replacedBy: isOfOther ? nil : confirmed.headers)
        } else if let refusal = StoredResponse.refusal(of: load.request) {
            fault = refusal
            await storage.end(load.number)
        } else {
            fault = await storage.store(confirmed, at: load.number)
            // Variants with the same strong tag are confirmed too.
            let now = now()
            await storage.updateVariants(of: load.key, taggedAs: confirmed) {
                $0.confirmed(like: confirmed, by: response, requestTime: requestTime, at: now)
            }
        }
        if let fault { load.request.report(.cache(fault.event)) }
        return fault
    }

    /// Sends a HEAD, and updates or removes the stored response to the GET ([RFC 9111
    /// §4.3.5](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.5)).
    private func sendHead(_ load: CacheLoad) async throws -> NetworkResponse {
        let requestTime = now()
        let response = try await load.next(load.request)
        if let stale = await staleAnswer(for: load, replacing: response) { return stale }
        let stored = load.found.flatMap { $0.status == 200 && response.statusCode == 200 ? $0 : nil }
        let isFromOther = stored.map { !$0.isAnswer(from: load.withOwnURL(response).url, to: load.key) } ?? false
        if isFromOther || response.isShared || hasChangedIdentity(load) {
            await storage.end(load.number)
        } else if let stored, !stored.agrees(withHead: response) {
            await storage.end(load.number, replacedBy: response.headers)
        } else if let stored, load.request.options.cacheLifetime != .none, refusal(of: response, load) == nil {
            _ = await storeConfirmed(
                stored.confirmed(by: response, to: load.request, requestTime: requestTime, at: now()), after: response,
                requestTime: requestTime, load)
        } else {
            await storage.end(load.number, head: response)
        }
        return response.recording(.miss(load.reason), "the answer to a HEAD has no body")
    }

    /// Ends a load: stores the server's response, or returns the stored one instead of a failure.
    func finish(_ response: NetworkResponse, _ load: CacheLoad, requestTime: Date) async -> NetworkResponse {
        if let stale = await staleAnswer(for: load, replacing: response) { return stale }
        let (answer, refusal) = await store(response, load, requestTime: requestTime)
        return answer.recording(.miss(load.reason), refusal)
    }

    /// Ends a load with the stored response, if the server failed in a way that a stale one may replace (RFC 5861 §4).
    private func staleAnswer(for load: CacheLoad, replacing response: NetworkResponse) async -> NetworkResponse? {
        guard [500, 502, 503, 504].contains(response.statusCode),
            let stale = staleAnswer(for: load, "HTTP \(response.statusCode)")
        else { return nil }
        await storage.end(load.number)
        return stale.adding(cookies: response.headers.cookies)
    }

    /// Returns the stored response instead of a failure of the server, if the options or the response allow it. Nil for
    /// a body above the limit of the request.
    private func staleAnswer(for load: CacheLoad, _ why: String) -> NetworkResponse? {
        let now = now()
        guard load.usesStored, let stored = load.stored, !load.request.retries(stored),
            stored.mayReplaceFailure(
                staleFor: stored.staleness(for: load.request.options, at: now) ?? 0, load.request),
            let response = try? stored.answer(to: load.request, at: now, .stale(.serverFailed))
        else { return nil }
        response.request?.report(
            .stale, "hit, \(stored.ageText(at: now)), in place of \(why)", with: response)
        return response
    }

    /// Stores a response, a stream while it is read. Returns the response for the reader, and the reason if it is not
    /// stored.
    private func store(_ response: NetworkResponse, _ load: CacheLoad, requestTime: Date) async
        -> (NetworkResponse, CacheRefusal?)
    {
        let request = load.request
        do throws(CacheRefusal) {
            let new = try storable(response, load, requestTime: requestTime)
            guard let stream = response.stream else {
                let fault = await storage.store(new, at: load.number)
                request.report(.cache(fault?.event ?? "stored"))
                return (response, fault)
            }
            let body = try self.body(new, of: load.withOwnURL(response), load)
            var response = response
            response.stream = await storage.storing(stream, in: body)
            return (response, nil)
        } catch {
            let isCacheOn = request.options.cacheLifetime != .none
            if isCacheOn { request.report(.cache(error.event)) }
            // A permanent answer removes the stored response. A temporary failure, or one about credentials, does not.
            let isTemporary = response.statusCode >= 500 || [304, 401, 407, 408, 429].contains(response.statusCode)
            let isReplaced =
                isCacheOn && !isTemporary && !hasChangedIdentity(load)
                && !response.concernsOnlyRange(of: request, load.found)
            if isReplaced, response.isShared {
                await storage.end(load.number, replacing: load.found)
            } else {
                await storage.end(load.number, replacedBy: isReplaced ? response.headers : nil)
            }
            return (response, error)
        }
    }
}

extension NetworkResponse {
    /// Returns the number of bytes of the body of an answer. A body that streams is in the file of the stored response.
    func length(of stored: StoredResponse?) -> Int {
        guard stream != nil else { return body.count }
        return statusCode == 206 ? headers["Content-Length"].flatMap { Int($0) } ?? 0 : stored?.bodyCount ?? 0
    }

    /// Returns the response with the cookies of earlier responses before its own ones.
    func adding(cookies: [String]) -> NetworkResponse {
        guard !cookies.isEmpty else { return self }
        var response = self
        let own = headers.cookies
        response.headers.remove("Set-Cookie")
        for cookie in cookies + own { response.headers.add("Set-Cookie", cookie) }
        return response
    }
}

extension NetworkError {
    fileprivate var isNetworkFailure: Bool {
        code.isKind(of: .cannotConnect) || code == .timedOut || code == .truncatedBody || code == .circuitOpen
    }
}

extension HTTPHeaders {
    /// The values of `Set-Cookie`. No stored response has them, but a user agent must process them, whatever the status
    /// ([RFC 6265 §3](https://www.rfc-editor.org/rfc/rfc6265#section-3)).
    var cookies: [String] { values(for: "Set-Cookie") }
}
