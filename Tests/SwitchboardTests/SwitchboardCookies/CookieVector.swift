import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import SwitchboardCookies

/// Two requests: the response to the first sets cookies, and the second carries some of them.
struct CookieVector: Sendable, CustomTestStringConvertible {
    let test: String
    /// The target of the first request.
    let from: String
    /// The values of `Set-Cookie`.
    let received: [String]
    /// The target of the second request, a path or a URL.
    let to: String
    /// The `Cookie` field of the second request, or nil when it has none.
    let expected: String?

    var testDescription: String { test }

    init(_ test: String, from: String? = nil, _ received: [String], to: String? = nil, sent expected: String?) {
        self.test = test
        self.from = from ?? "/cookie-parser?\(test)"
        self.received = received
        self.to = to ?? "/cookie-parser-result?\(test)"
        self.expected = expected
    }

    /// The cases of http-state that this package deviates from, with reasons.
    static let deviations = [
        "DISABLED_CHROMIUM0022": "a NUL refuses the whole cookie (RFC 6265bis §5.6), in place of ending its value",
        "DISABLED_CHROMIUM0023": "a CR refuses the whole cookie (RFC 6265bis §5.6), in place of ending its value",
        "DISABLED_PATH0029":
            "paths are compared as they are sent, escapes included (RFC 6265 §5.1.4; PATH0028 asks for that)",
    ]

    /// Returns the cases of http-state.
    static func all() throws -> [CookieVector] {
        try JSONDecoder().decode([CookieVector].self, from: CookieVector.file("parser"))
    }

    /// Returns a file of http-state without the comment before its JSON.
    static func file(_ name: String) throws -> Data {
        let lines = String(decoding: try Vectors.data("http-state/\(name).json"), as: UTF8.self).split(separator: "\n")
        return Data(lines.filter { !$0.hasPrefix("//") }.joined(separator: "\n").utf8)
    }

    /// Sends the two requests through a router and returns the `Cookie` field of the second.
    func run() async throws -> String? {
        let base = "http://home.example.org:8888"
        let first = try #require(URL(string: base + from))
        let second = try #require(URL(string: to.hasPrefix("/") ? base + to : to))
        // Not a stub, which would refuse the vectors with control characters.
        let seen = Seen()
        let session = AdHocSession { request in
            seen.add(request)
            var response = NetworkResponse(status: 200)
            if request.url == first { for field in received { response.headers.add("Set-Cookie", field) } }
            return response
        }
        // In 2011, since some dates of the vectors have passed.
        let jar = CookieJar { Date(timeIntervalSince1970: 1_300_000_000) }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [CookieInterceptor(jar)])
        for url in [first, second] { _ = try await router.rawResponse(for: URLEndPoint(.get, url)) }
        #expect(seen.requests.first?.headers["Cookie"] == nil)
        return seen.requests.last?.headers["Cookie"]
    }
}

extension CookieVector: Decodable {
    private struct Pair: Decodable {
        let name: String
        let value: String
    }

    private enum CodingKeys: String, CodingKey {
        case test, received, sent
        case sentTo = "sent-to"
    }

    /// Reads a case as http-state writes it.
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let sent = try fields.decode([Pair].self, forKey: .sent).map { "\($0.name)=\($0.value)" }
        self.init(
            try fields.decode(String.self, forKey: .test), try fields.decode([String].self, forKey: .received),
            to: try fields.decodeIfPresent(String.self, forKey: .sentTo),
            sent: sent.isEmpty ? nil : sent.joined(separator: "; "))
    }
}

/// Records the requests of a session.
private final class Seen: @unchecked Sendable {  // under the lock alone
    private let lock = NSLock()
    private var seen: [NetworkRequest] = []

    var requests: [NetworkRequest] { lock.withLock { seen } }

    func add(_ request: NetworkRequest) { lock.withLock { seen.append(request) } }
}
