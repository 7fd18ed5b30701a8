import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardPlatform
import SwitchboardTestSupport
import Testing

@testable import SwitchboardMocks

@Suite(.timeLimit(.minutes(10)))
struct CassetteMatchingTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var recorded: NetworkRequest
        var live: NetworkRequest
        /// The differences, empty when they match.
        var differences: [String] = []

        init(_ name: String, _ recorded: NetworkRequest, _ live: NetworkRequest, _ differences: String...) {
            (testDescription, self.recorded, self.live, self.differences) = (name, recorded, live, differences)
        }
    }

    private static func post(_ text: String, _ type: String = "text/plain") -> NetworkRequest {
        NetworkRequest(.post, text: "https://h.example/", body: DataBody(Data(text.utf8), contentType: type))
    }
    private static func get(_ text: String, _ range: String? = nil) -> NetworkRequest {
        NetworkRequest(text: text, headers: range.map { ["Range": $0] } ?? [:])
    }
    private static let json = "application/json"
    private static let form = "application/x-www-form-urlencoded"

    static let cases: [Case] = [
        Case("the same", get("https://h.example/a?b=c"), get("https://h.example/a?b=c")),
        Case("the scheme's port and no path", get("https://h.example"), get("https://H.example:443/")),
        Case("a fragment", get("https://h.example/#a"), get("https://h.example/#b")),
        Case("names of a query in another order", get("https://h.example/?a=1&b=2"), get("https://h.example/?b=2&a=1")),
        Case("two writings of a blank", get("https://h.example/?a=x%20y"), get("https://h.example/?a=x+y")),
        Case("a token", get("https://h.example/?token=aaaaaaaa"), get("https://h.example/?token=bbbbbbbb")),
        Case(
            "values of a name in another order", get("https://h.example/?a=1&a=2"), get("https://h.example/?a=2&a=1"),
            #"query a: "2", recorded "1""#, #"query a: "1", recorded "2""#),
        Case(
            "a missing pair", get("https://h.example/?a=1"), get("https://h.example/"),
            #"query a: missing, recorded "1""#),
        Case(
            "a pair too many", get("https://h.example/"), get("https://h.example/?a=1"), #"query a: "1", not recorded"#),
        Case(
            "no token", get("https://h.example/?token=aaaaaaaa"), get("https://h.example/"),
            #"query token: missing, recorded "REDACTED""#),
        Case("the same range", get("https://h.example/", "bytes=0-4"), get("https://h.example/", "bytes=0-4")),
        Case(
            "another range", get("https://h.example/", "bytes=0-4"), get("https://h.example/", "bytes=5-9"),
            #"header Range: "bytes=5-9", recorded "bytes=0-4""#),
        Case(
            "no range", get("https://h.example/", "bytes=0-4"), get("https://h.example/"),
            #"header Range: missing, recorded "bytes=0-4""#),
        Case(
            "other bytes of a letter", get("https://h.example/?a=%C3%A9"), get("https://h.example/?a=e%CC%81"),
            "query a: \"e\u{301}\", recorded \"\u{E9}\", in other bytes"),
        Case(
            "other bytes in JSON", post("[\"\u{E9}\"]", json), post("[\"e\u{301}\"]", json),
            "body $[0]: \"e\u{301}\", recorded \"\u{E9}\", in other bytes"),
        Case(
            "other bytes of a name", post("{\"\u{E9}\": 1}", json), post("{\"e\u{301}\": 1}", json),
            "body $[\"e\u{301}\"]: 1, not recorded", "body $[\"\u{E9}\"]: missing, recorded 1"),
        Case(
            "two forms of a name", post("{\"\u{E9}\": 2}", json), post("{\"\u{E9}\": 1, \"e\u{301}\": 2}", json),
            "body $[\"e\u{301}\"]: 2, not recorded", "body $[\"\u{E9}\"]: 1, recorded 2"),
        Case(
            "other bytes in a text", post("caf\u{E9}\nb"), post("cafe\u{301}\nb"),
            "body line 1: \"cafe\u{301}\", recorded \"caf\u{E9}\", in other bytes"),
        Case("another path", get("https://h.example/a"), get("https://h.example/b"), #"path: "/b", recorded "/a""#),
        Case(
            "another port", get("https://h.example/"), get("https://h.example:8443/"),
            #"host: "https://h.example:8443", recorded "https://h.example""#),
        Case(
            "another scheme", get("https://h.example/"), get("http://h.example/"),
            #"host: "http://h.example", recorded "https://h.example""#),
        Case(
            "another method", get("https://h.example/"), NetworkRequest(.put, text: "https://h.example/"),
            "method: PUT, recorded GET"),
        Case(
            "JSON in another order", post(#"{"a":1,"b":[true,null]}"#, json),
            post(#"{ "b": [true, null], "a": 1.0 }"#, json)),
        Case(
            "another number deep in JSON", post(#"{"a":{"b":[1,2]}}"#, json), post(#"{"a":{"b":[1,3]}}"#, json),
            "body $.a.b[1]: 3, recorded 2"),
        Case(
            "large numbers", post(#"[9007199254740993]"#, json), post(#"[9007199254740992]"#, json),
            "body $[0]: 9007199254740992, recorded 9007199254740993"),
        Case("true is not one", post("[1]", json), post("[true]", json), "body $[0]: true, recorded 1"),
        Case(
            "members of JSON", post(#"{"a":"x","b":1}"#, json), post(#"{"a":"y","c d":{}}"#, json),
            #"body $.a: "y", recorded "x""#, "body $.b: missing, recorded 1",
            #"body $["c d"]: an object of 0, not recorded"#),
        Case("a password in JSON", post(#"{"password":"aaaaaaaa"}"#, json), post(#"{"password":"bbbbbbbb"}"#, json)),
        Case("a form in another order", post("a=1&b=x%20y", form), post("b=x+y&a=1", form)),
        Case("a form with a #", post("a=1#2", form), post("a=1#3", form), #"body field a: "1#3", recorded "1#2""#),
        Case("another form", post("a=1", form), post("a=2", form), #"body field a: "2", recorded "1""#),
        Case("a password in a form", post("password=aaaaaaaa", form), post("password=bbbbbbbb", form)),
        Case("a line of text", post("a\nb\nc"), post("a\nx\nc"), #"body line 2: "x", recorded "b""#),
        Case("no body", post("abc"), NetworkRequest(.post, text: "https://h.example/"), "body: none, recorded 3 bytes"),
        Case(
            "multipart with another boundary", post("--b1\r\n\r\nx\r\n--b1--", "multipart/form-data; boundary=b1"),
            post("--b2\r\n\r\nx\r\n--b2--", "multipart/form-data; boundary=\"b2\"")),
        Case(
            "bytes",
            NetworkRequest(.post, text: "https://h.example/", body: DataBody(Data([255, 0, 1]))),
            NetworkRequest(.post, text: "https://h.example/", body: DataBody(Data([255, 0, 2, 3]))),
            "body: 4 bytes, recorded 3 bytes, from byte 2 on"),
    ]

    @Test("compares method, URL and body by default", arguments: cases)
    func standard(_ one: Case) async throws {
        try await withFile { file in
            try await Cassette.recording([one.recorded], in: file)
            let cassette = try Cassette.playing(file)
            guard !one.differences.isEmpty else {
                #expect(try await cassette.send(one.live).text == "recorded")
                return
            }
            let error = await #expect(throws: NetworkError.self) { try await cassette.send(one.live) }
            #expect(error?.code == .unmatchedRequest)
            let lines = error?.reason?.components(separatedBy: "\n").filter { $0.hasPrefix("    ") }
            #expect(lines?.map { String($0.dropFirst(4)) } == one.differences)
        }
    }

    @Test("each rule compares its own part")
    func singleRules() async throws {
        try await withFile { file in
            let recorded = NetworkRequest(
                .post, text: "https://h.example/p?q=1", headers: ["Accept": "text/plain"],
                body: DataBody(Data("a".utf8)))
            let live = NetworkRequest(
                .put, text: "https://other.example/p?q=2", headers: ["Accept": "text/html"],
                body: DataBody(Data("b".utf8)))
            try await Cassette.recording([recorded], in: file)
            let path = try Cassette.playing(file, matching: [.path])
            #expect(try await path.send(live).text == "recorded")
            let rules: [(Cassette.Rule, String)] = [
                (.method, "method"), (.host, "host"), (.query, "query q"), (.url, "host"), (.body, "body line 1"),
                (.header("accept"), "header accept"),
                (.custom("weekday") { live, recorded in live.method == recorded.method }, "weekday"),
            ]
            for (rule, name) in rules {
                let cassette = try Cassette.playing(file, matching: Cassette.Matching([.path]).adding(rule))
                #expect(try await cassette.send(recorded).text == "recorded")
                let error = await #expect(throws: NetworkError.self) { try await cassette.send(live) }
                #expect(error?.reason?.contains("\n    \(name): ") == true, "\(error?.reason ?? "")")
            }
        }
    }

    @Test("a custom rule receives both requests without secrets")
    func customRule() async throws {
        try await withFile { file in
            let recorded = NetworkRequest(
                .post, text: "https://h.example/?token=aaaaaaaa", headers: ["X-Api-Key": "aaaaaaaa"],
                body: JSONBody(["n": 1]))
            var live = recorded
            live.url = URL(string: "https://h.example/?token=bbbbbbbb")
            live.headers["X-Api-Key"] = "bbbbbbbb"
            try await Cassette.recording([recorded], in: file)
            let rule = Cassette.Rule.custom("same") { one, other in
                one.url?.query == "token=REDACTED" && one.url == other.url && one.method == .post
                    && one.headers == other.headers && one.headers["x-api-key"] == "REDACTED"
                    && (one.body as? DataBody)?.data == Data(#"{"n":1}"#.utf8)
                    && (other.body as? DataBody)?.data == Data(#"{"n":1}"#.utf8)
            }
            #expect(try await Cassette.playing(file, matching: [rule]).send(live).text == "recorded")
        }
    }

    static let orders: [(name: String, path: @Sendable (Int) -> Int, isReversed: Bool)] = [
        ("in order", { $0 }, false), ("reversed", { $0 }, true), ("one path", { _ in 0 }, false),
    ]

    @Test("a request is compared with few of many entries", arguments: orders)
    func manyEntries(_ order: (name: String, path: @Sendable (Int) -> Int, isReversed: Bool)) async throws {
        try await withFile { file in
            let requests = (0..<200).map { NetworkRequest(text: "https://h.example/\(order.path($0))") }
            let answers = StubSession { .text($0.path) }
            let recording = try Cassette(file: file, mode: .recordMissing, recording: answers, matching: [])
            for request in requests { _ = try await recording.send(request) }
            try recording.save()
            let compared = Protected(0)
            let rule = Cassette.Rule.custom("counted") { _, _ in
                compared.withLock { $0 += 1 }
                return true
            }
            let cassette = try Cassette.playing(file, matching: [rule, .method, .url, .body])
            for request in order.isReversed ? requests.reversed() : requests {
                #expect(try await cassette.send(request).text == request.path)
            }
            #expect(cassette.faults.isEmpty && compared.value <= 2 * requests.count)
        }
    }

    @Test("forms of thousands of fields are compared in linear time")
    func manyFields() {
        let growth = growth(from: 1_000, to: 8_000) { count in
            Data((0..<count).map { "field\($0)=a" }.joined(separator: "&").utf8)
        } _: { form in
            let recorded = form + Data("&more=a".utf8)
            #expect(Comparison(mask: "REDACTED").differences(form, recorded, areForms: true).count == 1)
        }
        #expect(growth < 24)
    }

    @Test("the nearest entries come first in the message")
    func nearestEntries() async throws {
        try await withFile { file in
            let recorded = [
                "https://far.example/x?y=1", "https://h.example/a?page=1", "https://h.example/b?page=2",
                "https://h.example/a",
            ]
            try await Cassette.recording(recorded.map { NetworkRequest(text: $0) }, in: file)
            let cassette = try Cassette.playing(file)
            _ = try await cassette.send(NetworkRequest(text: "https://h.example/a"))
            let error = await #expect(throws: NetworkError.self) {
                try await cassette.send(NetworkRequest(text: "https://h.example/a?page=2"))
            }
            #expect(
                error?.reason == """
                    cassette tape.har: no entry answers GET https://h.example/a?page=2
                      entry 2, GET https://h.example/a?page=1:
                        query page: "2", recorded "1"
                      entry 3, GET https://h.example/b?page=2:
                        path: "/a", recorded "/b"
                      entry 4, GET https://h.example/a:
                        query page: "2", not recorded
                      to record what is missing: the mode .recordMissing
                    """)
            #expect(error?.url?.absoluteString == "https://h.example/a?page=2")
            #expect(
                cassette.faults == [
                    error?.reason ?? "",
                    "cassette tape.har: nobody requested entry 1 of 4, GET https://far.example/x?y=1",
                    "cassette tape.har: nobody requested entry 2 of 4, GET https://h.example/a?page=1",
                    "cassette tape.har: nobody requested entry 3 of 4, GET https://h.example/b?page=2",
                ])
        }
    }

    @Test("an unmatched request is not retried")
    func noRetry() async throws {
        try await withFile { file in
            try await Cassette.recording([NetworkRequest(text: "https://h.example/a")], in: file)
            let cassette = try Cassette.playing(file)
            let manager = NetworkManager(session: cassette, interceptors: [RetryPolicy()])
            let error = await #expect(throws: NetworkError.self) {
                try await manager.data(from: #require(URL(string: "https://h.example/b")))
            }
            #expect(error?.code == .unmatchedRequest)
            #expect(error?.attempts == 1)
        }
    }
}
