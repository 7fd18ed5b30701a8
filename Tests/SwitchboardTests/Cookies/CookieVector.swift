import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// A case of http-state; see Vectors/README.md.
struct CookieVector: Decodable, Sendable {
    struct Pair: Decodable, Sendable {
        let name: String
        let value: String
    }

    let test: String
    /// The values of `Set-Cookie`.
    let received: [String]
    /// Where the second request goes, when that is not the usual place.
    let sentTo: String?
    /// What that carries.
    let sent: [Pair]

    enum CodingKeys: String, CodingKey {
        case test, received, sent
        case sentTo = "sent-to"
    }

    /// The `Cookie` field of the second request, nil for none.
    var expected: String? {
        sent.isEmpty ? nil : sent.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    /// What differs here, and why.
    static let deviations = [
        "DISABLED_CHROMIUM0022": "a NUL refuses the whole cookie (RFC 6265bis §5.6), in place of ending its value",
        "DISABLED_CHROMIUM0023": "a CR refuses the whole cookie (RFC 6265bis §5.6), in place of ending its value",
        "DISABLED_PATH0029":
            "paths are compared as they are sent, escapes included (RFC 6265 §5.1.4; PATH0028 asks for that)",
    ]

    static func all() throws -> [CookieVector] {
        try JSONDecoder().decode([CookieVector].self, from: CookieVector.file("parser"))
    }

    /// A file of http-state without the comment before it.
    static func file(_ name: String) throws -> Data {
        let url = Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Vectors/http-state")
        let lines = try String(contentsOf: #require(url), encoding: .utf8).split(separator: "\n")
        return Data(lines.filter { !$0.hasPrefix("//") }.joined(separator: "\n").utf8)
    }

    /// Sends the two requests through a router, and gives the `Cookie` field of the second.
    func run() async throws -> String? {
        let base = "http://home.example.org:8888"
        let target = sentTo ?? "/cookie-parser-result?\(test)"
        let first = try #require(URL(string: "\(base)/cookie-parser?\(test)"))
        let second = try #require(URL(string: target.hasPrefix("/") ? base + target : target))
        // Not a double, which would refuse the vectors with control characters.
        let seen = Seen()
        let session = AdHocSession { request in
            seen.add(request)
            var response = NetworkResponse(status: 200)
            if request.url == first { for field in received { response.headers.add("Set-Cookie", field) } }
            return response
        }
        // Some dates have passed since.
        let jar = CookieJar { Date(timeIntervalSince1970: 1_300_000_000) }
        let router = Router<URLEndPoint>(session: session, interceptors: [Cookies(jar)])
        for url in [first, second] { _ = try await router.exchange(URLEndPoint(.get, url)) }
        #expect(seen.requests.first?.headers["Cookie"] == nil)
        return seen.requests.last?.headers["Cookie"]
    }
}

/// The requests that a session got.
private final class Seen: @unchecked Sendable {  // under the lock alone
    private let lock = NSLock()
    private var seen: [NetworkRequest] = []

    var requests: [NetworkRequest] { lock.withLock { seen } }

    func add(_ request: NetworkRequest) { lock.withLock { seen.append(request) } }
}

extension MockResponse {
    /// The response with other header fields.
    func with(_ change: (inout HTTPHeaders) -> Void) -> MockResponse {
        var response = self
        change(&response.headers)
        return response
    }

    /// The response with these cookies.
    func setting(_ cookies: String...) -> MockResponse {
        with { headers in for cookie in cookies { headers.add("Set-Cookie", cookie) } }
    }
}
