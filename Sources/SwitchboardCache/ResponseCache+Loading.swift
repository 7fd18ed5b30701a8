import Foundation
import Switchboard
import SwitchboardText

extension ResponseCache {
    /// Sends the request, ends the load, and returns the answer.
    func load(_ load: CacheLoad) async throws -> NetworkResponse {
        var load = await storage.begin(load)
        let begun = now()
        do {
            if load.request.method == .head { return try await describe(load) }
            if load.usesStored, let completing = load.completing {
                let plain = load.request
                load.request = completing
                if let response = try await complete(&load, for: plain) { return response }
                load.request = plain
            } else if load.usesStored, let response = try await confirm(&load) {
                return response
            }
            let asked = now()
            return await settle(try await load.next(load.request), load, asked: asked).adding(cookies: load.cookies)
        } catch let error as NetworkError where error.isAbsence {
            let cookies = load.cookies + (error.headers?.cookies ?? [])
            let stale = substitute(for: load, "\(error.code)")?.adding(cookies: cookies)
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
    private func confirm(_ load: inout CacheLoad) async throws -> NetworkResponse? {
        let (request, stored) = (load.request, load.stored)
        // The server evaluates the app's own condition, as it is.
        guard !request.isConditional else { return nil }
        if let url = stored?.url, url.asCacheKey != load.key.url { return nil }
        var validators = stored?.validators ?? HTTPHeaders()
        // A 304 about another variant answers no range.
        let tags = request.headers.contains("Range") ? [] : await storage.tags(of: load.key)
        let own = validators.values(for: "If-None-Match")
        let others = CacheVariant.sendable(tags.filter { $0 != stored?.tag }, behind: own.first)
        if !others.isEmpty {
            validators.set("If-None-Match", (own + others).joined(separator: ", "))
        }
        guard !validators.isEmpty, (try? validators.validate()) != nil else { return nil }
        var conditional = request
        conditional.headers.merge(validators)
        let asked = now()
        let response = try await load.next(conditional)
        guard response.statusCode == 304 else { return await settle(response, load, asked: asked) }
        let meant = await meant(by: response, load, sent: own + others)
        guard let meant, meant.canAnswer(request) else {
            request.report(.cache("the 304 does not match the stored response"))
            load.cookies = response.headers.cookies
            return nil
        }
        let confirmed = meant.confirmed(by: response, to: request, asked: asked, at: now())
        await keep(confirmed, after: response, asked: asked, load)
        return try confirmed.answer(to: request, at: now(), .validated(load.reason))
            .adding(cookies: response.headers.cookies)
    }

    /// Returns the stored response that a 304 is about ([RFC 9111
    /// §4.3.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.4)). Nil when it is about none, or when that is not
    /// certain.
    private func meant(by response: NetworkResponse, _ load: CacheLoad, sent tags: [String]) async -> StoredResponse? {
        if let url = response.url, url.asCacheKey != load.key.url { return nil }
        if let tag = response.headers.values(for: "ETag").first {
            if let stored = load.stored, stored.has(tag) { return stored }
            return await storage.find(tag, for: load)
        }
        guard tags.count < 2 else { return nil }
        // A server that reads the tag of another variant ignores the date of this one.
        var meant = load.stored
        if let tag = tags.first, tag != meant?.tag { meant = await storage.find(tag, for: load) }
        return meant.flatMap { $0.isMeantUntagged(by: response) ? $0 : nil }
    }

    /// Ends a load with a stored response that the server confirmed.
    private func keep(_ confirmed: StoredResponse, after response: NetworkResponse, asked: Date, _ load: CacheLoad)
        async
    {
        let isStorable = CacheVariant.names(confirmed.headers) != nil
        let isOurs = refusal(of: response, load, varyingBy: confirmed.headers) == nil
        if CacheControl(response.headers).isNoStore || !isStorable || !isOurs {
            await storage.end(load.number, isReplaced: true)
        } else if CacheControl(load.request.headers).isNoStore {
            await storage.end(load.number)
        } else {
            if let fault = await storage.store(confirmed, at: load.number) { load.request.report(.cache(fault)) }
            // A strong tag is that of all variants that have it.
            let now = now()
            await storage.update(load.key, like: confirmed) {
                $0.confirmed(like: confirmed, by: response, asked: asked, at: now)
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
            return stale.adding(cookies: response.headers.cookies)
        }
        let stored = load.found.flatMap { $0.status == 200 && response.statusCode == 200 ? $0 : nil }
        if let stored, !stored.isDescribed(by: response) {
            await storage.end(load.number, isReplaced: true)
        } else if let stored, load.request.options.cacheLifetime != .none, refusal(of: response, load) == nil {
            await keep(
                stored.confirmed(by: response, to: load.request, asked: asked, at: now()), after: response,
                asked: asked, load)
        } else {
            await storage.end(load.number, describedBy: response)
        }
        return response.noting(.miss(load.reason), "the answer to a HEAD has no body")
    }

    /// Ends a load: stores the server's response, or returns the stored one in its place when the server failed.
    func settle(_ response: NetworkResponse, _ load: CacheLoad, asked: Date) async -> NetworkResponse {
        if [500, 502, 503, 504].contains(response.statusCode),
            let stale = substitute(for: load, "HTTP \(response.statusCode)")
        {
            await storage.end(load.number)
            return stale.adding(cookies: response.headers.cookies)
        }
        let (answer, refusal) = await store(response, load, asked: asked)
        return answer.noting(.miss(load.reason), refusal)
    }

    /// Returns the stored response in place of a failure of the server, if that is allowed.
    private func substitute(for load: CacheLoad, _ why: String) -> NetworkResponse? {
        let now = now()
        guard load.usesStored, let stored = load.stored,
            let seconds = stored.staleness(for: load.request.options, at: now),
            stored.mayReplaceFailure(staleFor: seconds, load.request),
            // A body above the limit of the request is no substitute.
            let response = try? stored.answer(to: load.request, at: now, .stale(.serverFailed))
        else { return nil }
        response.request?.report(.cache("hit, \(stored.age(at: now).components.seconds) s old, in place of \(why)"))
        return response
    }

    /// Stores a response, or returns one with a body that is stored while it is read, or the reason why neither happens.
    private func store(_ response: NetworkResponse, _ load: CacheLoad, asked: Date) async
        -> (NetworkResponse, CacheRefusal?)
    {
        let request = load.request
        let result = storable(response, load, asked: asked)
        let body = response.stream == nil ? nil : (try? result.get()).flatMap { self.body($0, of: response, load) }
        guard case .success(let new) = result, response.stream == nil || body != nil else {
            var refusal: CacheRefusal = "it is a part that does not continue the stored one"
            if case .failure(let own) = result { refusal = own }
            let isOn = request.options.cacheLifetime != .none
            if isOn { request.report(.cache(refusal.note)) }
            // A permanent answer removes the stored response. A temporary failure does not.
            let isPassing = response.statusCode >= 500 || [304, 408, 429].contains(response.statusCode)
            let isReplaced = isOn && !isPassing && !response.isOnlyAboutRange(of: request, load.found)
            await storage.end(load.number, isReplaced: isReplaced)
            return (response, refusal)
        }
        if let stream = response.stream, let body {
            var response = response
            response.stream = await storage.storing(stream, in: body)
            return (response, nil)
        }
        let fault = await storage.store(new, at: load.number)
        request.report(.cache(fault ?? "stored"))
        return (response, fault.map(CacheRefusal.init(reported:)))
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
