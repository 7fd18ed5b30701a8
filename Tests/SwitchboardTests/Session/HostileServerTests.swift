import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Attacks by a server or a URL on a session or a redirect that a review found.
@Suite(.inTurn, .serialized, .timeLimit(.minutes(10)))
struct HostileServerTests {
    @Test("changing the host drops user and password; an empty port is dropped", .requirement("S2.9"))
    func setters() {
        var request = NetworkRequest(.get, URL(string: "http://user:pw@a.test/x"))
        request.host = "b.test"
        #expect(request.url?.absoluteString == "http://b.test/x")
        var empty = NetworkRequest(.get, URL(string: "http://h:/x"))
        empty.path = "/y"
        #expect(empty.url?.absoluteString == "http://h/y")
    }

    @Test("ten thousand header fields become a URLResponse")
    func manyFields() throws {
        var response = NetworkResponse(statusCode: 200, url: URL(string: "http://h/"))
        for index in 0..<10_000 { response.headers.add("X-\(index % 5_000)", "v") }
        let made = try #require(response.urlResponse)
        #expect(made.value(forHTTPHeaderField: "X-7") == "v, v")
        #expect(made.allHeaderFields.count == 5_000)
    }

    @Test("a redirect keeps headers with secret names only within the origin")
    func redirectedSecrets() async throws {
        for (target, keeps) in [("http://b.test/", false), ("http://a.test/2", true)] {
            let stub = StubSession(.status(302, headers: ["Location": target]), .status(200))
            let names = ["X-Api-Key", "X-Auth-Token", "Cookie2", "Authorization"]
            let endPoint = URLEndPoint(
                .get, try #require(URL(string: "http://a.test/")),
                headers: HTTPHeaders(names.map { HTTPHeader(name: $0, value: "s") }))
            _ = try await Router<URLEndPoint>(session: stub).response(for: endPoint)
            let second = try #require(stub.requests.last)
            for name in names { #expect(second.headers.contains(name) == keeps, "\(name) to \(target)") }
        }
    }

    @Test(
        "brackets in a redirect's path or query are escaped exactly once",
        arguments: [
            ("/a%2Fb[1]", "http://h.test/a%2Fb%5B1%5D"), ("?x[]=%20", "http://h.test/?x%5B%5D=%20"),
            ("http://[::1]:80/x[y]", "http://[::1]:80/x%5By%5D"), ("//[::1]/z", "http://[::1]/z"),
        ])
    func redirectBrackets(location: String, expected: String) async throws {
        let stub = StubSession(.status(302, headers: ["Location": location]), .status(200))
        let endPoint = URLEndPoint(.get, try #require(URL(string: "http://h.test/")))
        _ = try await Router<URLEndPoint>(session: stub).response(for: endPoint)
        #expect(stub.requests.last?.url?.absoluteString == expected)
    }
}
