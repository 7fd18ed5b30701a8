import Foundation
@testable import Switchboard
@testable import SwitchboardCache
@testable import SwitchboardMocks
@testable import SwitchboardPlatform
@testable import SwitchboardText
@testable import SwitchboardWebSocket

extension Target {
    static let peers = [request, extensions, range, retryAfter]

    private static let request = Target("request") { bytes in
        let data = Data(bytes)
        let (whole, parts) = (Requests.read([Data(data.dropFirst())]), Requests.read(data.chunks))
        check(whole == parts, "the requests of the whole \(whole) differ from those of chunks \(parts)")
        for request in whole.requests {
            check(request.body.count <= Requests.limits.body, "a body of \(request.body.count) bytes")
            check(request.head.count <= Requests.limits.head, "a head of \(request.head.count) bytes")
            for field in Array(request.headers) + Array(request.trailers) {
                check(!(field.name + field.value).breaksHead, "\(field) has two lines")
            }
            // The same request, with a body of a stated length and without trailers.
            var head = "\(request.method.rawValue) \(request.target) \(request.httpVersion)\r\n"
            for field in request.headers
            where !["content-length", "transfer-encoding", "expect"].contains(field.name.lowercased()) {
                head += "\(field.name): \(field.value)\r\n"
            }
            head += "Content-Length: \(request.body.count)\r\n\r\n"
            // The numbers of a smuggled request and of a longer head are above the limits.
            guard head.utf8.count < Requests.limits.head else { continue }
            let again = Requests.read([Data(head.utf8) + request.body])
            check(
                again.failure == nil && again.requests.count == 1 && again.requests[0].body == request.body
                    && again.requests[0].target == request.target && again.requests[0].method == request.method,
                "\(request) became \(again)")
        }
    } read: {
        _ = Requests.read([Data($0)])
    }

    private static let extensions = Target("extensions") { bytes in
        let (text, selector) = (String(UnsafeRawBufferPointer(rebasing: bytes.dropLast())), Int(bytes.last ?? 0))
        var offer = WebSocketCompression()
        offer.allowsClientContextTakeover = selector & 1 == 0
        offer.allowsServerContextTakeover = selector & 2 == 0
        // Each line is a field.
        let fields = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
        guard let accepted = Opening.compression(fields, offer) else { return }
        check((8...15).contains(accepted.windowBits), "\(accepted.windowBits) bits")
        check(
            offer.allowsClientContextTakeover || !accepted.allowsClientContextTakeover,
            "\(accepted) keeps a context that the client does not")
        check(
            offer.allowsServerContextTakeover || !accepted.allowsServerContextTakeover,
            "\(accepted) lets the server keep a context")
        let written =
            "permessage-deflate; client_max_window_bits=\(accepted.windowBits)"
            + (accepted.allowsClientContextTakeover ? "" : "; client_no_context_takeover")
            + (accepted.allowsServerContextTakeover ? "" : "; server_no_context_takeover")
        check(Opening.compression([written], offer) == accepted, "\(accepted) differs when it is read again")
        var none = WebSocketOptions()
        none.compression = nil
        check(Opening.isRefused(fields, none), "\(fields) is accepted without an offer")
    } read: {
        _ = Opening.compression([String($0)], WebSocketCompression())
    }

    private static let range = Target("range") { bytes in
        let text = String(bytes)
        guard let range = CacheRange(text) else { return }
        let written =
            switch range {
            case .from(let first, let last): "bytes=\(first)-\(last.map { "\($0)" } ?? "")"
            case .last(let count): "bytes=-\(count)"
            }
        check(CacheRange(written) == range, "\(range) of \(text.debugDescription) differs when it is read again")
        for size in [0, 1, 2, 9, 10, 100, 1 << 40, .max] {
            guard let part = range.bytes(of: size) else { continue }
            check(
                !part.isEmpty && part.lowerBound >= 0 && part.upperBound <= size,
                "\(text.debugDescription) is \(part) of \(size) bytes")
            check(range.allows(part, of: size), "\(text.debugDescription) does not allow \(part) of \(size) bytes")
            switch range {
            case .from(let first, let last):
                check(part.lowerBound == first && (part.upperBound == size || part.upperBound - 1 == last), "\(part)")
            case .last(let count): check(part.upperBound == size && part.count == min(count, size), "\(part)")
            }
        }
    } read: {
        _ = CacheRange(String($0))
    }

    private static let retryAfter = Target("retry-after") { bytes in
        // Each line is the value of a field, and one is `Retry-After` alone.
        let lines = String(bytes).split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
        let names = ["Retry-After", "RateLimit", "RateLimit-Remaining", "RateLimit-Reset", "X-RateLimit-Reset", "Date"]
        var headers = HTTPHeaders()
        for (name, line) in zip(names, lines) where !line.isEmpty { headers.add(name, line) }
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        for status in [200, 429] {
            let response = NetworkResponse(statusCode: status, headers: headers)
            guard let wait = response.retryAfter(now: now) else {
                let isNumber = lines[0].utf8.allSatisfy { (0x30...0x39).contains($0) } && !lines[0].isEmpty
                check(!isNumber, "no wait for \(lines[0])")
                continue
            }
            // The largest number of 32 bits stands for larger ones.
            check((.zero ... .seconds(4_294_967_295)).contains(wait), "\(headers) is a wait of \(wait)")
            guard let text = headers["Retry-After"], !text.isEmpty,
                text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { continue }
            let seconds = min(UInt64(text) ?? .max, 4_294_967_295)
            check(wait == .seconds(Int64(seconds)), "\(text) is a wait of \(wait)")
            let written = NetworkResponse(statusCode: 200, headers: ["Retry-After": "\(seconds)"])
            check(written.retryAfter(now: now) == wait, "\(wait) differs when it is read again")
        }
        // A date, which counts from that of the response.
        guard let date = HTTPDate.parse(lines[0], now: now), !headers.contains("Date") else { return }
        let wait = NetworkResponse(statusCode: 200, headers: ["Retry-After": lines[0]]).retryAfter(now: now)
        let seconds = max(0, date.timeIntervalSince(now))
        check(
            wait.map { $0 <= .seconds(seconds) && ($0 > .seconds(seconds - 1) || seconds > 3e9) } == true,
            "\(lines[0]) is a wait of \(String(describing: wait)), expected \(seconds) s")
    } read: {
        _ = NetworkResponse(statusCode: 429, headers: ["RateLimit": String($0)]).retryAfter()
    }
}

private enum Opening {
    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="

    private static func negotiation(
        _ fields: [String], _ options: WebSocketOptions
    ) throws -> AcceptedCompression? {
        var headers: HTTPHeaders = [
            "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        ]
        for field in fields { headers.add("Sec-WebSocket-Extensions", field) }
        return try WebSocketHandshake(options, key: key).negotiation(headers).compression
    }

    static func compression(_ fields: [String], _ offer: WebSocketCompression) -> AcceptedCompression? {
        var options = WebSocketOptions()
        options.compression = offer
        return try? negotiation(fields, options)
    }

    static func isRefused(_ fields: [String], _ options: WebSocketOptions) -> Bool {
        (try? negotiation(fields, options)) == nil
    }
}

private struct Requests: Equatable {
    static let limits = RequestLimits(head: 512, body: 256)

    private(set) var requests: [RecordedRequest] = []
    private(set) var failure: String?

    /// Each receipt of the server returns one chunk.
    static func read(_ chunks: [Data]) -> Requests {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0 else { fatalError("socketpair") }
        defer { close(ends[0]) }
        for chunk in chunks where !chunk.isEmpty {
            let count = chunk.withUnsafeBytes { send(ends[0], $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
            guard count == chunk.count else { fatalError("the socket takes too few chunks") }
        }
        shutdown(ends[0], Int32(SHUT_WR))
        guard let socket = try? Socket.make(), let stop = stop else { fatalError("no socket") }
        dup2(ends[1], socket.descriptor)
        close(ends[1])
        let channel = ByteChannel(socket: socket, stop: stop)
        let reader = RequestReader(channel: channel, connection: 0, isSecure: false, limits: limits)
        var result = Requests()
        do {
            while let request = try reader.next() { result.requests.append(request) }
        } catch {
            result.failure = "\(error)"
        }
        return result
    }

    private static let stop = try? StopSignal()

    static func == (one: Requests, two: Requests) -> Bool {
        one.failure == two.failure
            && one.requests.elementsEqual(two.requests) { one, two in
                one.head == two.head && one.method == two.method && one.target == two.target
                    && one.httpVersion == two.httpVersion && one.headers == two.headers && one.body == two.body
                    && one.trailers == two.trailers && one.index == two.index
            }
    }
}
