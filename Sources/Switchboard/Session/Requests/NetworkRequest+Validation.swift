import Foundation
import SwitchboardText

extension NetworkRequest {
    /// Refuses what may not be sent. Every session calls it; it sends nothing.
    ///
    /// - Throws: ``NetworkError/Code/missingURL``, ``NetworkError/Code/bodyNotAllowed`` for GET, HEAD or TRACE with a
    ///   body, and ``NetworkError/Code/invalidRequest`` for a method or header that would break the request's head, for
    ///   a URL that is not http or https, and for framing headers that contradict the body: `Content-Length` other than
    ///   its length, any `Transfer-Encoding`, two `Content-Type` fields ([RFC 9112
    ///   §6](https://www.rfc-editor.org/rfc/rfc9112#section-6)).
    public func validate() throws(NetworkError) {
        guard !isReady else { return }
        do throws(NetworkError) {
            try checkLine(isURLChecked: false)
            try checkFields()
        } catch {
            throw error.attributed(to: self)
        }
    }

    /// The request as it is sent; see ``makeReady(isURLChecked:completing:)``.
    func ready() throws(NetworkError) -> NetworkRequest {
        var request = self
        try request.makeReady()
        return request
    }

    /// Makes it the request that is sent: checks it as ``validate()`` does, and encodes its body, so that every sending has
    /// the same bytes. Streamed bodies stay as they are. What was not changed since is not looked at again.
    ///
    /// - Parameters:
    ///   - isURLChecked: Whether the URL was just made of checked parts.
    ///   - complete: Adds header fields, once it is known whether there is a body.
    /// - Throws: What ``validate()`` throws, and ``NetworkError/Code/encodingFailed`` over what the body threw.
    mutating func makeReady(
        isURLChecked: Bool = false, completing complete: (inout NetworkRequest) -> Void = { _ in }
    ) throws(NetworkError) {
        guard !isReady else { return }
        do throws(NetworkError) {
            try checkLine(isURLChecked: isURLChecked)
            try encodeBody()
            complete(&self)
            try checkFields()
        } catch {
            throw error.attributed(to: self)
        }
        isReady = true
    }

    /// Encodes a body in memory, and takes the fields that describe it.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed`` over what the body threw.
    package mutating func encodeBody() throws(NetworkError) {
        guard !body.isEmpty, !body.isStreamed else { return }
        let data: Data
        do { data = try body.encode() } catch { throw NetworkError.encoding(error).attributed(to: self) }
        // What encodes to nothing is no body, and has no type (RFC 9110 §8.3).
        if !data.isEmpty { headers.fill(body.additionalHeaders) }
        body = DataBody(data)
    }

    private func checkLine(isURLChecked: Bool) throws(NetworkError) {
        guard method.isToken else {
            throw NetworkError(
                .invalidRequest,
                reason: "the method \(method.rawValue.quotedForMessage) is not a token (RFC 9110 §9.1)")
        }
        if !isURLChecked { try checkURL() }
        guard body.isEmpty || method.allowsBody else {
            throw NetworkError(
                .bodyNotAllowed,
                reason: "the method is \(method)" + (method == .get ? ", the default: set httpMethod" : ""))
        }
    }

    private func checkFields() throws(NetworkError) {
        let headers = allHeaders
        try headers.validate()
        guard !headers.contains("Transfer-Encoding") else {
            throw NetworkError(.invalidRequest, reason: "the session sets Transfer-Encoding: remove the field")
        }
        guard headers.values(for: "Content-Type").count < 2 else {
            throw NetworkError(.invalidRequest, reason: "it has two Content-Type fields")
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

    /// The fields to send, checked: a streamed body may say others than when the request was made ready.
    func sentHeaders() throws(NetworkError) -> HTTPHeaders {
        let headers = allHeaders
        try headers.validate()
        return headers
    }

    /// The fields to send: those of the request, and those of the body that it does not have.
    package var allHeaders: HTTPHeaders {
        var result = headers
        if !body.isEmpty { result.fill(body.additionalHeaders) { departures.count > 0 && !goesToOtherOrigins($0) } }
        return result
    }
}
