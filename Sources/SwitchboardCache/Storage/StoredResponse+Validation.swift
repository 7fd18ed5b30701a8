import Foundation
import Switchboard
import SwitchboardText

extension StoredResponse {
    /// The header fields of a conditional request ([RFC 9110
    /// §13.1](https://www.rfc-editor.org/rfc/rfc9110#section-13.1)). Empty when the response has no validator, and for
    /// a tag that is too long: without it, the date alone may confirm another response.
    var validators: HTTPHeaders {
        var fields = HTTPHeaders()
        if let tag {
            guard tag.utf8.count <= HTTPHeaders.validatorLimit else { return fields }
            fields.add("If-None-Match", tag)
        }
        if let date = headers.values(for: "Last-Modified").first, date.utf8.count <= HTTPHeaders.validatorLimit {
            fields.add("If-Modified-Since", date)
        }
        // Ignores validators that cannot be sent as a field.
        return (try? fields.validate()) == nil ? HTTPHeaders() : fields
    }

    /// The entity tag, or nil without one.
    var tag: String? { headers.values(for: "ETag").first }

    /// Returns whether a tag is the response's, compared weakly ([RFC 9110
    /// §8.8.3.2](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3.2)).
    func has(_ tag: String) -> Bool { self.tag?.isSameTag(as: tag) ?? false }

    /// Returns whether the response came from a URL, nil for that of the key. A redirect may have led to another one.
    func isAnswer(from url: URL?, to key: CacheKey) -> Bool {
        (self.url?.asCacheKey ?? key.url).hasBytes(of: url?.asCacheKey ?? key.url)
    }

    /// Returns whether a 304 without an entity tag may confirm this response: it has no other `Last-Modified`.
    func isConfirmed(byUntagged response: NetworkResponse) -> Bool {
        guard let changed = response.headers.values(for: "Last-Modified").first else { return true }
        return headers.values(for: "Last-Modified").first.map { $0 == changed } ?? true
    }

    /// Returns whether the response has the validators of an answer. Servers that compress mark the tag of a 200 as
    /// weak, but not that of a HEAD.
    func isVersion(of answer: NetworkResponse) -> Bool {
        let changed = answer.headers.values(for: "Last-Modified").first
        return (answer.headers.values(for: "ETag").first.map { has($0) } ?? true)
            && (changed.map { $0 == headers.values(for: "Last-Modified").first } ?? true)
    }

    /// Returns whether the fields of a HEAD match this response ([RFC 9111
    /// §4.3.5](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.5)).
    func agrees(withHead head: NetworkResponse) -> Bool {
        isVersion(of: head)
            && head.headers["Content-Length"].map {
                $0 == headers["Content-Length"] ?? wholeSize.map(String.init) ?? $0
            } ?? true
    }

    /// Returns the response with the updated fields of a 304 or a HEAD ([RFC 9111
    /// §3.2](https://www.rfc-editor.org/rfc/rfc9111#section-3.2)), as the answer to a request.
    func confirmed(by response: NetworkResponse, to request: NetworkRequest, requestTime: Date, at now: Date)
        -> StoredResponse
    {
        let fields = fields(updatedBy: response, at: now)
        let variant = CacheVariant.text(CacheVariant.names(fields) ?? [], of: request)
        return confirmed(
            fields, variant, tags.union(request.options.cacheTags), by: response, requestTime: requestTime, at: now)
    }

    /// Returns this variant with the updated fields of the 304 that confirmed another one with the same strong tag. Nil
    /// when both become one variant, or when the new `Vary` names fields whose values were not stored.
    func confirmed(like other: StoredResponse, by response: NetworkResponse, requestTime: Date, at now: Date)
        -> StoredResponse?
    {
        let fields = fields(updatedBy: response, at: now)
        let names = CacheVariant.names(fields)
        let isSameVary = names == varyNames
        guard let variant = isSameVary ? variant : names.flatMap({ CacheVariant.reduced(variant, to: $0) }) else {
            return nil
        }
        let changed = confirmed(fields, variant, tags, by: response, requestTime: requestTime, at: now)
        return changed.isSameVariant(as: other) ? nil : changed
    }

    private func fields(updatedBy response: NetworkResponse, at now: Date) -> HTTPHeaders {
        let bodyFields = ["Content-Length", "Content-Encoding", "Content-Type", "Content-Range", "Transfer-Encoding"]
        var fields = response.headers.dated(now).storable()
        for name in bodyFields { fields.remove(name) }
        return headers.merging(fields)
    }

    private func confirmed(
        _ fields: HTTPHeaders, _ variant: String, _ tags: Set<String>, by response: NetworkResponse, requestTime: Date,
        at now: Date
    ) -> StoredResponse {
        StoredResponse(
            status: status, headers: fields, body: body, url: url, variant: variant, responseTime: now,
            initialAge: Self.age(response.headers, requestTime: requestTime, at: now), tags: tags, file: file,
            part: part)
    }
}

extension String {
    /// Returns whether two entity tags are the same, compared weakly.
    func isSameTag(as other: String) -> Bool { opaqueTag.hasBytes(of: other.opaqueTag) }

    /// The entity tag without `W/`.
    private var opaqueTag: String { hasPrefix("W/") ? String(dropFirst(2)) : self }
}
