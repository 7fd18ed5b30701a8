import SwitchboardText
import Foundation

extension NetworkRequest {
    /// Throws if the request must not be sent. Sends nothing. A custom session calls this method first.
    ///
    /// - Throws: ``NetworkError/Code/missingURL``, ``NetworkError/Code/bodyNotAllowed`` for GET, HEAD or TRACE with a
    ///   body, ``NetworkError/Code/unreadableFile`` for a file that does not exist,
    ///   ``NetworkError/Code/encodingFailed`` for a form with an invalid boundary or a stream of negative length, and
    ///   ``NetworkError/Code/invalidRequest`` in all other cases: a method or header that would break the request's
    ///   head, a URL that is not http or https, or headers that contradict the body. Those are a `Content-Length` other
    ///   than its length, any `Transfer-Encoding`, two `Content-Type` fields ([RFC 9112
    ///   §6](https://www.rfc-editor.org/rfc/rfc9112#section-6)), and a `Content-Type` of a ``MultipartBody`` without
    ///   its boundary.
    public func validate() throws(NetworkError) {
        guard !isPrepared else { return }
        do throws(NetworkError) {
            try checkMethodAndURL()
            try checkHeaders()
        } catch {
            throw error.attributed(to: self)
        }
    }

    func encodedAndValidated() throws(NetworkError) -> NetworkRequest {
        var request = self
        try request.encodeAndValidate()
        return request
    }

    /// Prepares the request for sending. Validates it like ``validate()`` and encodes its body, so that every sending
    /// has the same bytes. Streamed bodies are not encoded. An unchanged request is not prepared again.
    mutating func encodeAndValidate() throws(NetworkError) {
        guard !isPrepared else { return }
        do throws(NetworkError) {
            try checkMethodAndURL()
            try encodeBody()
            if let addHeaders = onBodyEncoded {
                onBodyEncoded = nil
                addHeaders(&self)
            }
            try checkHeaders()
        } catch {
            throw error.attributed(to: self)
        }
        isPrepared = true
    }

    /// Encodes a body in memory with the encoder of the options, and adds the header fields that describe it. A
    /// streamed body only receives the encoder, for the parts of a form.
    package mutating func encodeBody() throws(NetworkError) {
        guard !body.isEmpty else { return }
        if options.hasValues, let encoder = options.encoder { body = body.withEncoder(encoder) }
        guard !body.isStreamed else { return }
        let data: Data
        do {
            data = try body.encode()
        } catch {
            throw NetworkError.encoding(error, by: "the body's encode()").attributed(to: self)
        }
        let described = body.additionalHeaders
        body = DataBody(data)
        // An empty result is no body and has no type (RFC 9110 §8.3).
        if !data.isEmpty { addBodyHeaders(described) }
    }

    private func checkMethodAndURL() throws(NetworkError) {
        guard method == .get || method.rawValue.isHTTPToken else {
            throw NetworkError(
                .invalidRequest,
                reason: "the method \(method.rawValue.quotedForMessage) is not a token (RFC 9110 §9.1)")
        }
        try checkURL()
        guard body.isEmpty || method.allowsBody else {
            throw NetworkError(
                .bodyNotAllowed,
                reason: "a \(method) request must not have a body"
                    + (method == .get ? "; the default of `httpMethod` is GET" : ""))
        }
    }

    private func checkHeaders() throws(NetworkError) {
        let headers = allHeaders
        try headers.validate()
        guard !headers.contains("Transfer-Encoding") else {
            throw NetworkError(.invalidRequest, reason: "the session sets Transfer-Encoding: remove the field")
        }
        guard headers.values(for: "Content-Type").count < 2 else {
            throw NetworkError(.invalidRequest, reason: "it has two Content-Type fields")
        }
        if body.isStreamed { try checkStreamedBody() }
        let lengths = headers.values(for: "Content-Length")
        // A body in memory whose length is still unknown is checked again after encoding.
        guard !lengths.isEmpty, body.length != nil || body.isStreamed else { return }
        guard lengths.count == 1, let length = body.length, lengths[0] == String(length) else {
            throw NetworkError(
                .invalidRequest,
                reason: "Content-Length \(lengths.joined(separator: ", ").quotedForMessage) is not the body's length")
        }
    }

    private func checkStreamedBody() throws(NetworkError) {
        if let fault = body.fileFault { throw fault }
        if let length = body.length, length < 0 {
            throw NetworkError(.encodingFailed, reason: "the body's length is \(length)")
        }
        guard let type = headers["Content-Type"],
            let boundary = body.additionalHeaders["Content-Type"]?.multipartBoundary, type.multipartBoundary != boundary
        else { return }
        throw NetworkError(
            .invalidRequest,
            reason: "the Content-Type \(type.quotedForMessage) lacks the boundary of the form: remove the field")
    }

    /// Returns the validated fields to send. The fields of a streamed body may have changed since the request was
    /// prepared.
    func sentHeaders() throws(NetworkError) -> HTTPHeaders {
        let headers = allHeaders
        try headers.validate()
        return headers
    }

    /// The fields to send: those of the request, and those of the body that the request does not set.
    package var allHeaders: HTTPHeaders {
        var result = headers
        if !body.isEmpty {
            result.addMissing(body.additionalHeaders) { crossOriginHops.count > 0 && !isAllowedCrossOrigin($0) }
        }
        return result
    }
}
