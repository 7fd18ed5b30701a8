import Foundation
import SwitchboardText

extension NetworkResponse {
    /// Returns the length that the head announces for the body. Nil for a response without a body ([RFC 9110
    /// §6.4.1](https://www.rfc-editor.org/rfc/rfc9110#section-6.4.1)) and for a compressed one, whose length changes.
    func announcedLength(of method: HTTPMethod) -> Int64? {
        headers.contains("Content-Encoding") ? nil : announcedSize(of: method)
    }

    /// Returns the number of bytes on the wire that the head announces, or nil. `Int64.max` for a number that is too
    /// large.
    func announcedSize(of method: HTTPMethod) -> Int64? {
        guard method != .head, statusCode != 204, statusCode != 304 else { return nil }
        guard !headers.contains("Transfer-Encoding"), let length = lengths.first, !length.isEmpty else { return nil }
        return length.isDigits ? Int64(length) ?? .max : nil
    }

    /// Throws if a head is ambiguous or too large.
    ///
    /// - Throws: ``NetworkError/Code/invalidResponse`` for a length that is not a number, and for different lengths, of
    ///   which a client must not choose one ([RFC 9112 §6.3](https://www.rfc-editor.org/rfc/rfc9112#section-6.3)),
    ///   ``NetworkError/Code/headersTooLarge``.
    package func checkHeaders(_ limits: ResponseLimits) throws(NetworkError) {
        let lengths = lengths
        guard Set(lengths).count < 2, lengths.allSatisfy(\.isDigits) else { throw Self.badLengths }
        let size = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard size > limits.responseHeaders else { return }
        throw NetworkError(
            .headersTooLarge, reason: "it has \(size) bytes, limits.responseHeaders is \(limits.responseHeaders)")
    }

    static let badLengths = NetworkError(
        .invalidResponse, reason: "it has invalid or conflicting Content-Length fields (RFC 9112 §6.3)")

    private var lengths: [String] {
        headers.values(for: "Content-Length").flatMap { $0.split(separator: ",") }.map { String($0).trimmedOfBlanks }
    }
}

extension String {
    fileprivate var isDigits: Bool { utf8.allSatisfy { (0x30...0x39).contains($0) } }
}

extension NetworkRequest {
    /// Returns whether a response's body is delivered while it arrives.
    package func streams(_ status: Int) -> Bool {
        options.streamsResponse && (200..<300).contains(status)
    }
}

extension HTTPHeaders {
    /// Creates fields from URLSession's response, which has one entry for each name, with repeated values joined.
    /// `Set-Cookie` must not be joined, so its cookies are split again.
    package init(_ response: HTTPURLResponse) {
        var fields: [HTTPHeader] = []
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            if name.equalsIgnoringCase("Set-Cookie") {
                fields += value.splitIntoCookies.map { HTTPHeader(name: name, value: $0) }
            } else {
                fields.append(HTTPHeader(name: name, value: value.withoutLineEnds))
            }
        }
        // The order of a dictionary is random. Cookies keep their order, because the sort is stable for equal names.
        self.init(fields.sorted(byName: \.name))
    }
}

extension String {
    /// The text with a blank for each CR, LF and NUL ([RFC 9110
    /// §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)).
    fileprivate var withoutLineEnds: String {
        let isReplaced: (UInt8) -> Bool = { $0 == 0x0D || $0 == 0x0A || $0 == 0 }
        guard utf8.contains(where: isReplaced) else { return self }
        return String(decoding: utf8.map { isReplaced($0) ? 0x20 : $0 }, as: UTF8.self).trimmedOfBlanks
    }
}
