import Foundation
import Switchboard
import SwitchboardText

extension ResponseCache {
    /// Sends the request, ends the load, and returns the answer.
    func load(_ load: CacheLoad) async throws -> NetworkResponse {
        var load = load
        load.number = await storage.begin(load.key, load.request)
        let begun = now()
        do {
            if load.request.method == .head { return try await describe(load) }
            if load.usesStored, let completing = load.completing {
                let plain = load.request
                load.request = completing
                if let response = try await complete(load, for: plain) { return response }
                load.request = plain
            } else if load.usesStored, let response = try await confirm(load) {
                return response
            }
            let asked = now()
            return await settle(try await load.next(load.request), load, asked: asked)
        } catch let error as NetworkError where error.isAbsence {
            let stale = substitute(for: load, "\(error.code)")
            await keepReceived(error, load, asked: begun)
            guard let stale else { throw error }
            return stale
        } catch let error as NetworkError {
            await keepReceived(error, load, asked: begun)
            throw error
        } catch {
            await storage.end(load.number)
            throw error
        }
    }

    /// Sends a conditional request with the validators of the stored response, and the tags of the other variants.
    /// Returns the answer, or nil when nothing stored has a validator or when the 304 is about something else.
    private func confirm(_ load: CacheLoad) async throws -> NetworkResponse? {
        let (request, stored) = (load.request, load.stored)
        // The server evaluates the app's own condition, as it is.
        guard !request.isConditional else { return nil }
        if let url = stored?.url, url.asCacheKey != load.key.url { return nil }
        var validators = stored?.validators ?? HTTPHeaders()
        // A 304 about another variant answers no range.
        let tags = request.headers.contains("Range") ? [] : await storage.tags(of: load.key)
        let others = tags.filter { $0 != stored?.tag && CacheVariant.isTag($0) }
        if !others.isEmpty {
            let own = validators.values(for: "If-None-Match")
            validators.set("If-None-Match", (own + others).joined(separator: ", "))
        }
        guard !validators.isEmpty, (try? validators.validate()) != nil else { return nil }
        var conditional = request
        conditional.headers.merge(validators)
        let asked = now()
        let response = try await load.next(conditional)
        guard response.statusCode == 304 else { return await settle(response, load, asked: asked) }
        let meant = await meant(by: response, load, sent: [stored?.tag].compactMap { $0 } + others)
        guard let meant, meant.canAnswer(request) else {
            request.report(.cache("the 304 does not match the stored response"))
            return nil
        }
        let confirmed = meant.confirmed(by: response, to: request, asked: asked, at: now())
        await keep(confirmed, after: response, asked: asked, load)
        return confirmed.answer(to: request, at: now(), .validated(load.reason))
    }

    /// Returns the stored response that a 304 is about ([RFC 9111
    /// §4.3.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.4)). Nil when it is about none, or when that is not
    /// certain.
    private func meant(by response: NetworkResponse, _ load: CacheLoad, sent tags: [String]) async -> StoredResponse? {
        if let url = response.url, url.asCacheKey != load.key.url { return nil }
        if let tag = response.headers.values(for: "ETag").first {
            if let stored = load.stored, stored.has(tag) { return stored }
            return await storage.find(load.key, tag: tag, for: load.request)
        }
        guard tags.count < 2 else { return nil }
        // A server that reads the tag of another variant ignores the date of this one.
        var meant = load.stored
        if let tag = tags.first, tag != meant?.tag { meant = await storage.find(load.key, tag: tag, for: load.request) }
        return meant.flatMap { $0.isMeantUntagged(by: response) ? $0 : nil }
    }

    /// Ends a load with a stored response that the server confirmed.
    private func keep(_ confirmed: StoredResponse, after response: NetworkResponse, asked: Date, _ load: CacheLoad)
        async
    {
        let isStorable = CacheVariant.names(confirmed.headers) != nil
        let isOurs = isOurs(response, to: load.request, varyingBy: confirmed.headers)
        if CacheControl(response.headers).isNoStore || !isStorable || !isOurs {
            await storage.end(load.number, isReplaced: true)
        } else if CacheControl(load.request.headers).isNoStore {
            await storage.end(load.number)
        } else {
            if let fault = await storage.store(confirmed, at: load.number) { load.request.report(.cache(fault)) }
            // A strong tag is that of all variants that have it.
            let now = now()
            await storage.update(load.key, like: confirmed) {
                $0.confirmed(by: response, to: nil, asked: asked, at: now)
            }
        }
    }

    /// Sends a HEAD, and freshens or removes the stored response to the GET ([RFC 9111
    /// §4.3.5](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.5)).
    private func describe(_ load: CacheLoad) async throws -> NetworkResponse {
        let asked = now()
        let response = try await load.next(load.request)
        if load.usesStored, response.statusCode >= 500, let stale = substitute(for: load, "HTTP \(response.statusCode)")
        {
            await storage.end(load.number)
            return stale
        }
        if let stored = load.found, response.statusCode == 200, stored.status == 200,
            isOurs(response, to: load.request)
        {
            if stored.isDescribed(by: response), load.request.options.cacheLifetime == .none {
                await storage.end(load.number)
            } else if stored.isDescribed(by: response) {
                await keep(
                    stored.confirmed(by: response, to: load.request, asked: asked, at: now()), after: response,
                    asked: asked, load)
            } else {
                await storage.end(load.number, isReplaced: true)
            }
        } else {
            await storage.end(load.number)
        }
        return response.noting(.miss(load.reason))
    }

    /// Ends a load: stores the server's response, or returns the stored one in its place when the server failed.
    func settle(_ response: NetworkResponse, _ load: CacheLoad, asked: Date) async -> NetworkResponse {
        if [500, 502, 503, 504].contains(response.statusCode),
            let stale = substitute(for: load, "HTTP \(response.statusCode)")
        {
            await storage.end(load.number)
            return stale
        }
        return await store(response, load, asked: asked).noting(.miss(load.reason))
    }

    /// Returns the stored response in place of a failure of the server, if that is allowed.
    private func substitute(for load: CacheLoad, _ why: String) -> NetworkResponse? {
        let now = now()
        guard load.usesStored, let stored = load.stored,
            let seconds = stored.staleness(for: load.request.options, at: now),
            stored.mayReplaceFailure(staleFor: seconds, load.request)
        else { return nil }
        let response = stored.answer(to: load.request, at: now, .stale(.serverFailed))
        response.request?.report(.cache("hit, \(stored.age(at: now).components.seconds) s old, in place of \(why)"))
        return response
    }

    /// Stores a response, or returns one with a body that is stored while it is read.
    private func store(_ response: NetworkResponse, _ load: CacheLoad, asked: Date) async -> NetworkResponse {
        let request = load.request
        let new = StoredResponse(response, to: request, asked: asked, at: now())
        let isOurs = isOurs(response, to: request)
        let body = response.stream == nil ? nil : new.flatMap { self.body($0, of: response, load) }
        guard let new, isOurs, response.stream == nil || body != nil else {
            if new != nil, !isOurs { request.report(.cache("not stored: the request was changed behind the cache")) }
            // A permanent answer removes the stored response. A temporary failure does not.
            let isPassing = response.statusCode >= 500 || [304, 408, 429].contains(response.statusCode)
            let isReplaced =
                request.options.cacheLifetime != .none && !isPassing
                && !response.isOnlyAboutRange(of: request, load.found)
            await storage.end(load.number, isReplaced: isReplaced)
            return response
        }
        if let stream = response.stream, let body {
            var response = response
            response.stream = await storage.storing(stream, in: body)
            return response
        }
        request.report(.cache(await storage.store(new, at: load.number) ?? "stored"))
        return response
    }

    /// Returns whether a response belongs to the request that the cache received. Without an identity, the sent request
    /// must be the same; with one, only the fields that `Vary` names must be the same. False when the response does not
    /// tell which request was sent.
    func isOurs(
        _ response: NetworkResponse, to request: NetworkRequest, varyingBy headers: HTTPHeaders? = nil
    ) -> Bool {
        // Rejects a response that involves another origin: a cache hit would not show that.
        guard let sent = response.request, !response.isShared, response.isFromOrigin(of: request) else { return false }
        guard identity == nil else {
            guard let names = CacheVariant.names(headers ?? response.headers) else { return false }
            return CacheVariant.text(names, of: sent).hasBytes(of: CacheVariant.text(names, of: request))
        }
        func fields(_ request: NetworkRequest) -> [[UInt8]] {
            request.allHeaders.filter { !$0.name.lowercased().hasPrefix("if-") }
                .map { "\($0.name.lowercased()): \($0.value)" }.sorted().map { Array($0.utf8) }
        }
        // A login behind the cache may send credentials with the next equal request.
        return sent.isSignInDecided == request.isSignInDecided && fields(sent) == fields(request)
            && sent.url?.asCacheKey == request.url?.asCacheKey
    }
}

extension NetworkResponse {
    /// The number of bytes that the head announces for the body. Nil when it does not, or when the body is compressed.
    var announcedBodyCount: Int? {
        guard !headers.contains("Content-Encoding"), !headers.contains("Transfer-Encoding") else { return nil }
        return headers.values(for: "Content-Length").first.flatMap { Int($0.trimmed) }
    }
}

extension NetworkError {
    /// Whether the server did not answer because of a network failure.
    fileprivate var isAbsence: Bool {
        code.isKind(of: .cannotConnect) || code == .timedOut || code == .truncatedBody || code == .circuitOpen
    }
}
