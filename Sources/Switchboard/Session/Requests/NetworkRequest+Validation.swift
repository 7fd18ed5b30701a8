import Foundation

extension NetworkRequest {
    /// Refuses what may not be sent. Every session calls it; it sends nothing.
    ///
    /// - Throws: ``NetworkError/Code/missingURL``, ``NetworkError/Code/bodyNotAllowed`` for GET, HEAD or TRACE with a
    ///   body, and ``NetworkError/Code/invalidRequest`` for a method or header that would break the request's head, for
    ///   a URL that is not http or https, and for framing headers that contradict the body: `Content-Length` other than
    ///   its length, any `Transfer-Encoding`, two `Content-Type` fields ([RFC 9112
    ///   §6](https://www.rfc-editor.org/rfc/rfc9112#section-6)).
    public func validate() throws(NetworkError) {
        try validate(isURLChecked: false)
    }

    /// The same, without a second look at a URL that was just made of checked parts.
    func validate(isURLChecked: Bool) throws(NetworkError) {
        do throws(NetworkError) {
            guard method.isToken else {
                throw NetworkError(
                    .invalidRequest,
                    reason: "the method \(method.rawValue.quotedForMessage) is not a token (RFC 9110 §9.1)")
            }
            if !isURLChecked || url == nil { _ = try checkedURL() }
            try headers.validate()
            try body.additionalHeaders.validate()
            guard body.isEmpty || method.allowsBody else {
                throw NetworkError(
                    .bodyNotAllowed,
                    reason: "it is \(method)" + (method == .get ? ", as every endpoint without an httpMethod is" : ""))
            }
            try checkFraming()
        } catch {
            throw error.attributed(to: self)
        }
    }

    private func checkFraming() throws(NetworkError) {
        let headers = allHeaders
        guard !headers.contains("Transfer-Encoding") else {
            throw NetworkError(.invalidRequest, reason: "Transfer-Encoding is the session's to set")
        }
        guard headers.values(for: "Content-Type").count < 2 else {
            throw NetworkError(.invalidRequest, reason: "there are two Content-Type fields")
        }
        let lengths = headers.values(for: "Content-Length")
        // A body in memory whose length is not known yet is checked again once it is encoded.
        guard !lengths.isEmpty, body.length != nil || body.isStreamed else { return }
        guard lengths.count == 1, let length = body.length, lengths[0] == String(length) else {
            throw NetworkError(
                .invalidRequest,
                reason: "Content-Length \(lengths.joined(separator: ", ").quotedForMessage) is not the body's length")
        }
    }

    /// The request with its body encoded, once, so that every sending has the same bytes. Streamed bodies stay as they
    /// are.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed`` over what the body threw.
    package func withEncodedBody() throws(NetworkError) -> NetworkRequest {
        guard !body.isEmpty, !body.isStreamed else { return self }
        var request = self
        do {
            let data = try body.encode()
            request.body = DataBody(data)
            // What encodes to nothing is no body, and has no type (RFC 9110 §8.3).
            if !data.isEmpty { request.headers.fill(body.additionalHeaders) }
            try request.checkFraming()
        } catch {
            throw NetworkError.encoding(error).attributed(to: self)
        }
        return request
    }

    /// The fields to send: those of the request, and those of the body that it does not have.
    package var allHeaders: HTTPHeaders {
        var result = headers
        if !body.isEmpty { result.fill(body.additionalHeaders) { departures.count > 0 && !goesToOtherOrigins($0) } }
        return result
    }
}
