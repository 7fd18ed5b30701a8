import Foundation
import Switchboard
import SwitchboardText

extension StoredResponse {
    /// The header fields of a conditional request ([RFC 9110
    /// §13.1](https://www.rfc-editor.org/rfc/rfc9110#section-13.1)). Empty when the response has no validator, and for a
    /// tag that is too long: without it, the date alone may confirm another response.
    var validators: HTTPHeaders {
        var fields = HTTPHeaders()
        if let tag {
            guard tag.utf8.count <= CacheVariant.tagLimit else { return fields }
            fields.add("If-None-Match", tag)
        }
        if let date = headers.values(for: "Last-Modified").first, date.utf8.count <= CacheVariant.tagLimit {
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

    /// Returns whether a 304 without a tag is about this response: it names no other time of change.
    func isMeantUntagged(by response: NetworkResponse) -> Bool {
        guard let changed = response.headers.values(for: "Last-Modified").first else { return true }
        return headers.values(for: "Last-Modified").first.map { $0 == changed } ?? true
    }

    /// Returns whether the response has the validators that an answer names.
    func isVersion(of answer: NetworkResponse) -> Bool {
        ["ETag", "Last-Modified"].allSatisfy { name in
            answer.headers.values(for: name).first.map { $0 == headers.values(for: name).first } ?? true
        }
    }

    /// Returns whether a HEAD describes this response ([RFC 9111
    /// §4.3.5](https://www.rfc-editor.org/rfc/rfc9111#section-4.3.5)).
    func isDescribed(by head: NetworkResponse) -> Bool {
        isVersion(of: head)
            && head.headers["Content-Length"].map {
                $0 == headers["Content-Length"] ?? wholeSize.map(String.init) ?? $0
            } ?? true
    }

    /// Returns the response with the updated fields of a 304 or a HEAD ([RFC 9111
    /// §3.2](https://www.rfc-editor.org/rfc/rfc9111#section-3.2)), as the answer to a request.
    func confirmed(by response: NetworkResponse, to request: NetworkRequest, asked: Date, at now: Date)
        -> StoredResponse
    {
        let fields = fields(updatedBy: response, at: now)
        let variant = CacheVariant.text(CacheVariant.names(fields) ?? [], of: request)
        return confirmed(fields, variant, tags.union(request.options.cacheTags), by: response, asked: asked, at: now)
    }

    /// Returns another variant with the strong tag of a confirmed one, with the updated fields of its 304. Nil when it
    /// becomes that variant, or when the new `Vary` names fields whose values were not stored.
    func confirmed(like other: StoredResponse, by response: NetworkResponse, asked: Date, at now: Date)
        -> StoredResponse?
    {
        let fields = fields(updatedBy: response, at: now)
        let names = CacheVariant.names(fields)
        let isSameVary = names == CacheVariant.names(headers)
        guard let variant = isSameVary ? variant : names.flatMap({ CacheVariant.reduced(variant, to: $0) }) else {
            return nil
        }
        let changed = confirmed(fields, variant, tags, by: response, asked: asked, at: now)
        return changed.isSameVariant(as: other) ? nil : changed
    }

    private func fields(updatedBy response: NetworkResponse, at now: Date) -> HTTPHeaders {
        let ofTheBody = ["Content-Length", "Content-Encoding", "Content-Type", "Content-Range", "Transfer-Encoding"]
        var fields = response.headers.dated(now).storable()
        for name in ofTheBody { fields.remove(name) }
        return headers.merging(fields)
    }

    private func confirmed(
        _ fields: HTTPHeaders, _ variant: String, _ tags: Set<String>, by response: NetworkResponse, asked: Date,
        at now: Date
    ) -> StoredResponse {
        StoredResponse(
            status: status, headers: fields, body: body, url: url, variant: variant, date: now,
            ageBefore: Self.age(response.headers, asked: asked, at: now), tags: tags, file: file, part: part,
            decoded: decoded)
    }
}

extension String {
    /// Returns whether two entity tags are the same, compared weakly.
    func isSameTag(as other: String) -> Bool { withoutWeakness.hasBytes(of: other.withoutWeakness) }

    /// The entity tag without its mark of weakness.
    private var withoutWeakness: String { hasPrefix("W/") ? String(dropFirst(2)) : self }
}
