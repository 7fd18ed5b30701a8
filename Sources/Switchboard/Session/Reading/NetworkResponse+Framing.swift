import Foundation
import SwitchboardText

extension NetworkResponse {
    /// The number of bytes that the body must have, where the head says so and nothing changes them on the way: nil for
    /// a response without a body ([RFC 9110 §6.4.1](https://www.rfc-editor.org/rfc/rfc9110#section-6.4.1)) and for a
    /// compressed one.
    func announcedLength(of method: HTTPMethod) -> Int64? {
        headers.contains("Content-Encoding") ? nil : announcedSize(of: method)
    }

    /// The number of bytes on the wire, where the head says so: `Int64.max` for one that is too large to count.
    func announcedSize(of method: HTTPMethod) -> Int64? {
        guard method != .head, statusCode != 204, statusCode != 304 else { return nil }
        guard !headers.contains("Transfer-Encoding"), let length = lengths.first, !length.isEmpty else { return nil }
        return length.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(length) ?? .max : nil
    }

    /// Refuses a head that cannot be read in one way, or is larger than allowed.
    ///
    /// - Throws: ``NetworkError/Code/invalidResponse`` for several lengths that differ, which no reader may choose from
    ///   ([RFC 9112 §6.3](https://www.rfc-editor.org/rfc/rfc9112#section-6.3)), ``NetworkError/Code/headersTooLarge``.
    func checkHeaders(_ limits: ResponseLimits) throws(NetworkError) {
        guard Set(lengths).count < 2 else {
            throw Self.conflictingLengths
        }
        let size = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard size > limits.responseHeaders else { return }
        throw NetworkError(
            .headersTooLarge, reason: "it has \(size) bytes, limits.responseHeaders is \(limits.responseHeaders)")
    }

    static let conflictingLengths = NetworkError(
        .invalidResponse, reason: "it has conflicting Content-Length fields (RFC 9112 §6.3)")

    private var lengths: [String] {
        headers.values(for: "Content-Length").flatMap { $0.split(separator: ",") }.map { String($0).trimmedOfBlanks }
    }
}

extension NetworkRequest {
    /// Whether the body of a response is handed out while it arrives.
    package func streams(_ status: Int) -> Bool {
        options.streamsResponse && (200..<300).contains(status)
    }
}

extension HTTPHeaders {
    /// The fields of a response as URLSession has them: one entry for each name, repeats joined. `Set-Cookie`, which
    /// must not be joined, is taken apart again.
    init(_ response: HTTPURLResponse) {
        var fields: [HTTPHeader] = []
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            if name.equalsIgnoringCase("Set-Cookie") {
                fields += value.splitIntoCookies.map { HTTPHeader(name: name, value: $0) }
            } else {
                fields.append(HTTPHeader(name: name, value: value))
            }
        }
        // The dictionary's order changes from run to run; cookies keep theirs, the sort being stable for equal names.
        self.init(fields.sorted(byName: \.name))
    }
}
