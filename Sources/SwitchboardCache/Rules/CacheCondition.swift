import Foundation
import Switchboard
import SwitchboardText

/// A condition that the app set in a request, for a response that the app stores itself ([RFC 9110
/// §13.1](https://www.rfc-editor.org/rfc/rfc9110#section-13.1)).
enum CacheCondition: Sendable {
    /// `If-None-Match`. A lone `*` is every tag.
    case noneMatch([String])
    /// `If-Modified-Since`, which counts only without an `If-None-Match`.
    case modifiedSince(Date)

    /// Reads the condition of a request. Nil without one, and for an invalid one.
    init?(_ request: NetworkRequest) {
        let tags = request.headers.values(for: "If-None-Match")
        if !tags.isEmpty {
            let members = tags.flatMap { $0.splitOutsideQuotes(at: .comma, hasEscapes: false) }.map(\.trimmedOfBlanks)
                .filter { !$0.isEmpty }
            guard members == ["*"] || !members.isEmpty && members.allSatisfy(\.isEntityTag) else { return nil }
            self = .noneMatch(members)
            return
        }
        let dates = request.headers.values(for: "If-Modified-Since")
        guard dates.count == 1, let date = HTTPDate.parse(dates[0]) else { return nil }
        self = .modifiedSince(date)
    }

    /// Returns whether the app has this response already ([RFC 9111
    /// §4.3.2](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.2)).
    private func isKnown(_ response: NetworkResponse) -> Bool {
        switch self {
        case .noneMatch(let tags):
            let tag = response.headers.values(for: "ETag").first
            return tags == ["*"] || tag.map { tag in tags.contains { $0.isSameTag(as: tag) } } ?? false
        case .modifiedSince(let date):
            let changed = ["Last-Modified", "Date"].lazy.compactMap { response.headers.values(for: $0).first }.first
            return changed.flatMap { HTTPDate.parse($0) }.map { $0 <= date } ?? false
        }
    }

    /// Returns a 304 instead of a 200 that the app has already. Other responses stay unchanged.
    func answer(_ response: NetworkResponse) -> NetworkResponse {
        guard response.statusCode == 200, isKnown(response) else { return response }
        // RFC 9110 §15.4.5, the fields for caches, and the cookies of the server's answer.
        let kept = [
            "age", "cache-control", "content-location", "date", "etag", "expires", "last-modified", "set-cookie",
            "vary",
        ]
        var answer = NetworkResponse(
            statusCode: 304, headers: HTTPHeaders(response.headers.filter { kept.contains($0.name.lowercased()) }),
            body: Data(), url: response.url)
        answer.request = response.request
        answer.cacheAge = response.cacheAge
        return answer
    }
}

extension ResponseCache {
    /// Returns the app's condition if the cache evaluates it against the stored response, after a revalidation if
    /// necessary. Nil if the server evaluates it.
    func condition(of request: NetworkRequest, _ key: CacheKey) async -> CacheCondition? {
        let options = request.options
        guard options.usesStoredResponse, let condition = CacheCondition(request),
            let stored = await storage.peek(key, request)?.response, stored.status == 200, stored.canAnswer(request),
            !stored.validators.isEmpty || stored.staleness(for: options, at: now()) == nil
        else { return nil }
        return condition
    }
}

extension NetworkRequest {
    /// Whether the request has a condition on a response that the app has, valid or not.
    var isConditional: Bool { headers.contains("If-None-Match") || headers.contains("If-Modified-Since") }

    /// The request without conditions on a response that the app has.
    var unconditional: NetworkRequest {
        var request = self
        request.headers.remove("If-None-Match")
        request.headers.remove("If-Modified-Since")
        return request
    }
}
