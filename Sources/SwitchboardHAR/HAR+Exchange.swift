import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardText

// The exchange contains its secrets. They are replaced before it is written.

extension HAR.Request {
    /// Creates a request whose body is a `DataBody` or empty.
    package init(_ request: NetworkRequest) {
        let body = (request.body as? DataBody)?.data ?? Data()
        self.init(request.method, request.url, request.allHeaders, body: body, bodySize: body.count)
    }

    /// Creates a request from its parts. Without a size, it is unknown.
    package init(_ method: HTTPMethod, _ url: URL?, _ headers: HTTPHeaders, body: Data, bodySize: Int?) {
        // The format excludes fragments, which are not sent.
        let url = String((url?.absoluteString ?? "").pieces(between: .numberSign)[0])
        self.init(
            method: method.rawValue, url: url, httpVersion: "unknown",
            cookies: headers.values(for: "Cookie").flatMap(HAR.Cookie.sent), headers: HAR.Field.list(headers),
            queryString: HAR.Field.query(of: url),
            postData: body.isEmpty ? nil : HAR.PostData(body, mimeType: headers["Content-Type"] ?? ""),
            bodySize: bodySize ?? -1)
    }
}

extension HAR.Response {
    /// Creates a response with a separate body, because a stream and a download store theirs elsewhere.
    fileprivate init(_ response: NetworkResponse, body: Data, size: Int) {
        let headers = response.headers
        self.init(
            status: response.statusCode, statusText: StatusText.phrase(for: response.statusCode),
            httpVersion: response.metrics.protocolVersion ?? "unknown",
            cookies: headers.values(for: "Set-Cookie").compactMap(HAR.Cookie.received),
            headers: HAR.Field.list(headers),
            content: HAR.Content(body, mimeType: headers.contentType ?? "", size: size),
            redirectURL: headers["Location"] ?? "", bodySize: headers.isEncoded ? -1 : size,
            trailers: response.trailers.isEmpty ? nil : HAR.Field.list(response.trailers))
    }
}

extension HAR.Entry {
    /// Creates an entry. Without a size, the body is complete. A size of -1 is unknown.
    package init(
        _ request: HAR.Request, _ response: NetworkResponse, body: Data, bodySize: Int? = nil,
        outcome: ExchangeRecord.Outcome? = nil, start: Date, elapsed: Duration
    ) {
        let timings = HAR.Timings(response.metrics, elapsed: elapsed)
        var answer = HAR.Response(response, body: body, size: bodySize ?? body.count)
        if let outcome, !outcome.isStatus { answer.error = outcome.description }
        self.init(
            startedDateTime: Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(
                response.metrics.start ?? start),
            time: timings.total, request: request, response: answer, timings: timings,
            serverIPAddress: response.metrics.remoteAddress.flatMap(\.addressWithoutPort))
        self.request.httpVersion = answer.httpVersion
    }
}

extension HTTPHeaders {
    package init(_ fields: [HAR.Field]) {
        self.init(fields.map { HTTPHeader(name: $0.name, value: $0.value) })
    }
}

extension HAR.Field {
    package static func list(_ headers: HTTPHeaders) -> [HAR.Field] {
        headers.map { HAR.Field(name: $0.name, value: $0.value) }
    }

    /// Returns the pairs of a URL's query, decoded.
    package static func query(of url: String) -> [HAR.Field] {
        let url = url.pieces(between: .numberSign)[0]
        return url.utf8.firstIndex(of: .questionMark).map { form(url[url.utf8.index(after: $0)...]) } ?? []
    }

    /// Returns the pairs of a query or a form, decoded.
    package static func form(_ text: some StringProtocol) -> [HAR.Field] {
        FormBody.decode(text).map { HAR.Field(name: $0.name, value: $0.value ?? "") }
    }
}

extension HAR.Cookie {
    /// Returns the cookies of a `Cookie` field.
    package static func sent(_ field: String) -> [HAR.Cookie] {
        field.pieces(between: .semicolon).compactMap(pair).map { HAR.Cookie(name: $0, value: $1) }
    }

    /// Returns the cookie of a `Set-Cookie` field.
    package static func received(_ field: String) -> HAR.Cookie? {
        let parts = field.pieces(between: .semicolon)
        guard let first = parts.first, let (name, value) = pair(first) else { return nil }
        func attribute(_ name: String) -> String? {
            parts.dropFirst().lazy.compactMap(pair).first { $0.name.lowercased() == name }?.value
        }
        let flags = Set(parts.dropFirst().map { String($0).trimmedOfBlanks.lowercased() })
        return HAR.Cookie(
            name: name, value: value, path: attribute("path"), domain: attribute("domain"),
            httpOnly: flags.contains("httponly"), secure: flags.contains("secure"))
    }

    private static func pair(_ text: Substring) -> (name: String, value: String)? {
        guard let equals = text.utf8.firstIndex(of: .equals) else { return nil }
        return (
            String(decoding: text.utf8[..<equals].trimmedOfBlanks, as: UTF8.self),
            String(decoding: text.utf8[equals...].dropFirst().trimmedOfBlanks, as: UTF8.self)
        )
    }
}

extension HAR.Timings {
    /// Creates timings from a session's measurements. Without measurements all of the time counts as waiting.
    package init(_ metrics: ExchangeMetrics, elapsed: Duration) {
        let whole = metrics.duration ?? elapsed
        let toFirstByte = metrics.timeToFirstByte ?? whole
        let connecting = [metrics.connect, metrics.secureConnect].compactMap { $0 }
        let before = ([metrics.queue, metrics.nameLookup].compactMap { $0 } + connecting).reduce(.zero, +)
        self.init(
            blocked: metrics.queue?.milliseconds ?? -1, dns: metrics.nameLookup?.milliseconds ?? -1,
            connect: connecting.isEmpty ? -1 : connecting.reduce(.zero, +).milliseconds,
            send: 0, wait: max(.zero, toFirstByte - before).milliseconds,
            receive: max(.zero, whole - toFirstByte).milliseconds, ssl: metrics.secureConnect?.milliseconds ?? -1)
    }

    /// The sum of the known times. `connect` includes TLS.
    package var total: Double {
        [blocked, dns, connect, send, wait, receive].filter { $0 > 0 }.reduce(0, +).roundedToMicroseconds
    }
}

extension Duration {
    /// The milliseconds, to a thousandth.
    package var milliseconds: Double { (seconds * 1_000).roundedToMicroseconds }
}

extension Double {
    fileprivate var roundedToMicroseconds: Double { (self * 1_000).rounded() / 1_000 }
}

extension String {
    /// The address in `127.0.0.1:80` and `[::1]:80`, or nil for any other text.
    fileprivate var addressWithoutPort: String? {
        guard let colon = lastIndex(of: ":") else { return nil }
        let address = self[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        return address.contains(where: { $0 == "." || $0 == ":" }) ? address : nil
    }
}
