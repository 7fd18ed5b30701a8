import Foundation

/// What a stored response answers: a URL, asked for by somebody, in a partition. The method is GET.
struct CacheKey: Hashable, Sendable {
    let url: String
    let partition: String
    /// Whose it is. It may be made of credentials: it stays in memory, on disk is its hash alone.
    let identity: String

    /// Nil for a request that a cache has nothing to do with: another method than GET, a body, a part of the content, a
    /// condition of the app's own, a stream or a file.
    init?(_ request: NetworkRequest, identity: ResponseCache.Identity?) {
        let options = request.options
        guard request.method == .get, request.body.isEmpty, let url = request.url, options.destination == nil,
            !options.streamsResponse
        else { return nil }
        let conditions = ["Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range"]
        guard !conditions.contains(where: request.headers.contains) else { return nil }
        // A fragment is never sent.
        self.url = String(url.absoluteString.prefix { $0 != "#" })
        partition = options.partition ?? ""
        self.identity = identity.map { $0(request) ?? "" } ?? request.credentialFields.joined(separator: "\n")
    }
}

extension NetworkRequest {
    /// The header fields that hold credentials, by whatever name: `authorization: Bearer …`. In order of their names.
    var credentialFields: [String] {
        let secrets = Redaction.standard
        return allHeaders.filter { secrets.isSecret(header: $0.name) || carriesCredentials(in: $0.name) }
            .map { "\($0.name.lowercased()): \($0.value)" }.sorted()
    }

    /// Whether a request that was sent carries credentials that this one does not: added by an interceptor behind.
    func lacksCredentials(of sent: NetworkRequest) -> Bool {
        if !Set(sent.credentialFields).isSubset(of: credentialFields) { return true }
        guard let url, let other = sent.url, url.hasSameOrigin(as: other), path == sent.path else { return false }
        return !sent.secretItems.isSubset(of: secretItems)
            || other.withoutUserInfo.credentials != nil
                && other.withoutUserInfo.credentials != url.withoutUserInfo.credentials
    }

    private var secretItems: Set<String> {
        let items = URLEncodedForm.decode(query ?? "").filter { Redaction.standard.isSecret(parameter: $0.name) }
        return Set(items.map { "\($0.name)=\($0.value ?? "")" })
    }
}
