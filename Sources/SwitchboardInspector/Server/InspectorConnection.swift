import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardJSON
import SwitchboardMocks
import SwitchboardPlatform
import SwitchboardText

/// One connection of an ``InspectorServer``: one request and its answer.
struct InspectorConnection: Sendable {
    let number: Int
    let socket: Socket
    let end: StopSignal
    let server: InspectorServer

    /// The largest head of a request, in bytes.
    private static let maximumHead = 16 << 10

    func serve() {
        let channel = ByteChannel(socket: socket, stop: end)
        channel.deadline = .now + server.times.request
        let limits = RequestLimits(head: Self.maximumHead, body: 0)
        let reader = RequestReader(channel: channel, connection: number, isSecure: false, limits: limits)
        do {
            if let request = try reader.next() {
                let answer = answer(to: request)
                channel.deadline = .now + server.times.answer
                try channel.send(answer.bytes)
                if answer.isEventStream {
                    try EventFeed(socket: socket, channel: channel, end: end, server: server).run()
                }
            }
            channel.close()
        } catch let error as RequestError {
            channel.deadline = .now + server.times.answer
            try? channel.send(Answer(error.status, text: error.reason).bytes)
            // The client may still be sending.
            channel.close(waitingForRest: .milliseconds(500))
        } catch {
            socket.close()
        }
    }

    private func answer(to request: RecordedRequest) -> Answer {
        guard isFromPage(request) else { return Answer(403, text: "The request comes from elsewhere.") }
        let path =
            request.path.hasPrefix(server.path + "/") ? request.path.dropFirst(server.path.count) : request.path[...]
        if path == "/", request.method == .get, let key = request.queryValue("key") {
            guard key.isEqualInConstantTime(to: server.key) else { return Self.wrongKey }
            return Answer(
                303,
                headers: [
                    ("Location", server.path + "/"),
                    ("Set-Cookie", "\(cookieName)=\(server.key); HttpOnly; SameSite=Strict; Path=\(server.path)/"),
                ])
        }
        guard hasKey(request) else { return Self.wrongKey }
        server.trust(number)
        let calls = server.calls
        let id = path.hasPrefix("/calls/") ? path.dropFirst(7) : nil
        switch (path, request.method) {
        case ("/", .get): return .page
        case ("/calls", .get): return Answer(200, type: "text/event-stream", isEventStream: true)
        case ("/calls", .delete):
            calls.removeAll()
            return Answer(204)
        case ("/har", .get):
            let fields = [("Content-Disposition", "attachment; filename=\"switchboard.har\"")]
            return Answer(json: Result { try calls.archive() }, headers: fields)
        case (_, .get) where id != nil:
            // The secrets of this call too are known before the call is read.
            let masking = TextMasking(calls)
            guard let number = id.flatMap({ Int($0) }), let call = calls[number] else {
                return Answer(404, text: "The call is no longer stored.")
            }
            return Answer(json: Result { try FastJSONEncoder().encode(CallDetail(call, masking)) })
        case ("/", _), ("/har", _): return Answer(405, text: "Use GET.", headers: [("Allow", "GET")])
        case ("/calls", _): return Answer(405, text: "Use GET or DELETE.", headers: [("Allow", "GET, DELETE")])
        case _ where id != nil: return Answer(405, text: "Use GET.", headers: [("Allow", "GET")])
        default: return Answer(404, text: "There is no such page.")
        }
    }

    // MARK: Access

    private static let wrongKey = Answer(
        403, text: "The key is missing or wrong. Use the URL that the app has printed.")

    /// Cookies do not depend on the port, so their name does.
    private var cookieName: String { "switchboard-inspector-\(server.port)" }

    private func hasKey(_ request: RecordedRequest) -> Bool {
        let cookies = request.headers.values(for: "Cookie").flatMap(HAR.Cookie.sent)
        return cookies.contains { $0.name == cookieName && $0.value.isEqualInConstantTime(to: server.key) }
    }

    /// Returns whether the request is addressed to this server by a name of this device, and no other page made it. A
    /// page whose domain resolves to this device sends its own domain as `Host`.
    private func isFromPage(_ request: RecordedRequest) -> Bool {
        guard let host = request.headers["Host"],
            ["127.0.0.1:\(server.port)", "localhost:\(server.port)"].contains(host)
        else { return false }
        let origins = request.headers.values(for: "Origin")
        let sites = request.headers.values(for: "Sec-Fetch-Site")
        return origins.allSatisfy { $0 == "http://\(host)" }
            && sites.allSatisfy { $0 == "same-origin" || $0 == "none" }
    }
}

/// An answer of the server. It closes its connection.
struct Answer {
    private let head: String
    private let body: Data
    let isEventStream: Bool

    var bytes: Data { Data(head.utf8) + body }

    init(
        _ status: Int, type: String? = nil, headers: [(String, String)] = [], body: Data = Data(),
        isEventStream: Bool = false
    ) {
        var fields = [
            ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Connection", "close"),
        ]
        if let type { fields.append(("Content-Type", type)) }
        if !isEventStream, status != 204 { fields.append(("Content-Length", "\(body.count)")) }
        head =
            "HTTP/1.1 \(status) \(StatusText.phrase(for: status))\r\n"
            + (fields + headers).map { "\($0): \($1)\r\n" }.joined() + "\r\n"
        self.body = body
        self.isEventStream = isEventStream
    }

    init(_ status: Int, text: String, headers: [(String, String)] = []) {
        self.init(status, type: "text/plain; charset=utf-8", headers: headers, body: Data((text + "\n").utf8))
    }

    init(json: Result<Data, any Error>, headers: [(String, String)] = []) {
        switch json {
        case .success(let data): self.init(200, type: "application/json", headers: headers, body: data)
        case .failure: self.init(500, text: "The calls cannot be written as JSON.")
        }
    }

    /// The page. A new nonce allows its style and its script, and no other ones.
    static var page: Answer {
        let nonce = Data.random(24).base64URLText
        let page = inspectorPage.replacingOccurrences(of: "<style>", with: "<style nonce=\"\(nonce)\">")
            .replacingOccurrences(of: "<script>", with: "<script nonce=\"\(nonce)\">")
        let policy =
            "default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; img-src data: blob:; "
            + "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; "
            + "require-trusted-types-for 'script'; trusted-types 'none'"
        return Answer(
            200, type: "text/html; charset=utf-8", headers: [("Content-Security-Policy", policy)],
            body: Data(page.utf8))
    }
}

extension CallStore {
    /// Returns the finished exchanges as an HTTP archive, oldest call first.
    fileprivate func archive() throws -> Data {
        let masking = TextMasking(self)
        let entries = all.flatMap { call in
            zip(call.exchanges, masking.entries(of: call, masking.payloads(of: call)))
                .filter { $0.0.end != nil && $0.0.cache == nil }.map { $0.1.withWebSocketScheme }
        }
        return try HAR(log: HAR.Log(entries: entries)).data
    }
}
