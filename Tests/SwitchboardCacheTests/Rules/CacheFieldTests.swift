import SwitchboardCache
import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// Fields that a cache must read with care: RFC 9111 §3.1, §4.2, §5.1, §5.2.1 and §5.3.
@Suite(.timeLimit(.minutes(10)))
struct CacheFieldTests {
    // The fixture's clock begins at 1,700,000,000: Tue, 14 Nov 2023 22:13:20 GMT.
    @Test(
        "an Expires in none of the three forms counts as past (RFC 9111 §5.3)",
        .rule(
            "RFC 9111 §5.3",
            "A cache recipient MUST interpret invalid date formats, especially the value \"0\", as representing a "
                + "time in the past"),
        .rule(
            "RFC 9111 §4.2",
            "A cache recipient SHOULD consider a date with a zone abbreviation other than \"GMT\" to be invalid for "
                + "calculating expiration."),
        arguments: [
            ["Expires": "Thu, 18 Aug 2050 02:01:18 UTC"], ["Expires": "Thu, 18 Aug 50 02:01:18 GMT"],
            ["Expires": "Thu, 18  Aug  2050 02:01:18 GMT"], ["Expires": "Thu, 18 Aug 2050 2:01:18 GMT"],
            ["Expires": "Thu, 18-Aug-2050 02:01:18 GMT"], ["Expires": ""],
            ["Expires": "Thu, 18 Aug 2050 02:01:18 GMT", "expires": "Thu, 18 Aug 2050 02:01:18 GMT"],
            ["Expires": "Thu, 18 Aug 2050 02:01:18 GMT", "expires": "Thu, 18 Aug 2051 02:01:18 GMT"],
            ["Expires": "Thu, 18 Aug 2050 02:01:18 GMT, Thu, 18 Aug 2050 02:01:18 GMT"],
        ] as [HTTPHeaders])
    func past(headers: HTTPHeaders) async throws {
        let fixture = CacheFixture(headers: headers)
        _ = try await fixture.get("https://h/", .server)
        #expect(try await fixture.get("https://h/", .server) == "2")
    }

    @Test(
        "Expires is read in each of the three forms (RFC 9110 §5.6.7)",
        .rule(
            "RFC 9110 §5.6.7",
            "A recipient that parses a timestamp value in an HTTP field MUST accept all three HTTP-date formats."),
        .rule(
            "RFC 9111 §4.2",
            "Although all date formats are specified to be case-sensitive, a cache recipient SHOULD match the field "
                + "value case-insensitively."),
        arguments: [
            "Thu, 18 Aug 2050 02:01:18 GMT", "Thursday, 18-Aug-50 02:01:18 GMT", "Thu Aug 18 02:01:18 2050",
            "THU, 18 aug 2050 02:01:18 gmt",
        ])
    func future(expires: String) async throws {
        let fixture = CacheFixture(headers: ["Expires": expires])
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 86_400)
        #expect(try await fixture.get("https://h/", .server) == "1")
    }

    @Test(
        "the first member of Age counts, if it is a number (RFC 9111 §5.1)",
        .rule(
            "RFC 9111 §5.1",
            "a cache encountering a message with a list-based Age field value SHOULD use the first member of the "
                + "field value, discarding subsequent ones."),
        .rule(
            "RFC 9111 §5.1",
            "If the field value … is invalid (e.g., it contains something other than a non-negative integer), a "
                + "cache SHOULD ignore the field."),
        arguments: [
            (["Age": "7200, 0"], false), (["Age": "7200,0"], false), (["Age": "7200", "age": "0"], false),
            (["Age": "7200, 7200"], false), (["Age": "0, 7200"], true), (["Age": "0", "age": "7200"], true),
            (["Age": "abc"], true), (["Age": "-7200"], true), (["Age": "7200.0"], true), (["Age": ", 7200"], false),
            (["Age": "99999999999999999999"], false),
        ] as [(HTTPHeaders, Bool)])
    func age(headers: HTTPHeaders, isFresh: Bool) async throws {
        let fixture = CacheFixture(
            headers: HTTPHeaders([.init(name: "Cache-Control", value: "max-age=3600")] + Array(headers)))
        _ = try await fixture.get("https://h/", .server)
        #expect(try await fixture.get("https://h/", .server) == (isFresh ? "1" : "2"))
    }

    @Test(
        "fields of the connection are not stored (RFC 9111 §3.1)",
        .rule(
            "RFC 9111 §3.1",
            "Caches MUST include all received response header fields — including unrecognized ones — when storing a "
                + "response"),
        .rule(
            "RFC 9111 §3.1",
            "Header fields that are specific to the proxy that a cache uses when forwarding a request MUST NOT be "
                + "stored"),
        .rule(
            "RFC 9110 §7.6.1",
            "Intermediaries MUST parse a received Connection header field … and, for each connection-option in this "
                + "field, remove any header or trailer field(s) from the message with the same name"),
        .rule(
            "RFC 9110 §7.6.1",
            "intermediaries SHOULD remove or replace fields that are known to require removal before forwarding, "
                + "whether or not they appear as a connection-option"))
    func connectionFields() async throws {
        let hop: HTTPHeaders = [
            "Connection": "close, X-Hop, \"odd", "connection": "X-Other", "X-Hop": "1", "x-other": "2",
            "Keep-Alive": "timeout=5", "Proxy-Connection": "close", "Proxy-Authenticate": "Basic", "Upgrade": "h2c",
            "Proxy-Authentication-Info": "a=b", "Transfer-Encoding": "chunked", "TE": "trailers",
        ]
        let fixture = CacheFixture(
            StubSession(
                .text("old", headers: hop.merging(["X-Kept": "1", "ETag": "\"1\""])),
                .status(304, headers: hop.merging(["X-New": "1"]))))
        let first = try await fixture.response()
        #expect(first.headers["X-Hop"] == "1" && first.headers["X-Kept"] == "1")
        for isConfirmed in [false, true] {
            if isConfirmed { fixture.date.advance(by: 60) }
            let stored = try await fixture.response()
            #expect(stored.cacheAge != nil && stored.headers["X-Kept"] == "1" && stored.text == "old")
            #expect((stored.headers["X-New"] == "1") == isConfirmed)
            for field in hop { #expect(!stored.headers.contains(field.name), "\(field.name)") }
        }
    }

    @Test("a Connection field cannot remove the fields that control caching", arguments: [false, true])
    func connectionNamesRules(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            func fixture(_ headers: HTTPHeaders) throws -> CacheFixture {
                try CacheFixture(headers: headers) { now in
                    try isOnDisk ? ResponseCache(folder: folder, memoryLimit: 0, now: now) : ResponseCache(now: now)
                }
            }
            let far = "Thu, 18 Aug 2050 02:01:18 GMT"
            for (url, headers, text) in [
                ("https://h/1", ["Cache-Control": "no-store", "ETag": "\"1\""], "2"),
                ("https://h/2", ["Cache-Control": "no-cache", "Expires": far], "2"),
                ("https://h/3", ["Cache-Control": "max-age=60", "Age": "90"], "2"),
                ("https://h/4", ["Cache-Control": "max-age=60"], "1"), ("https://h/5", ["Expires": far], "1"),
            ] as [(String, HTTPHeaders, String)] {
                let fixture = try fixture(headers.merging(["Connection": "Cache-Control, Age, Expires, Vary"]))
                _ = try await fixture.get(url, .server)
                #expect(try await fixture.get(url, .server) == text, "\(headers)")
            }
            let varying = try fixture(["Connection": "Vary", "Vary": "X-Lang", "Cache-Control": "max-age=60"])
            for (language, text) in [("a", "1"), ("b", "2"), ("a", "1")] {
                #expect(try await varying.get("https://h/", .server, headers: ["X-Lang": language]) == text)
            }
        }
    }

    @Test(
        "the request's Cache-Control is honored (RFC 9111 §5.2.1)",
        arguments: [
            ("max-age=0", 0, "2"), ("max-age=0", 5, "2"), ("max-age=10", 10, "1"), ("max-age=10", 11, "2"),
            ("max-age=x", 5, "2"), ("max-age=\"10\"", 9, "1"), ("min-fresh=10", 50, "1"), ("min-fresh=10", 51, "2"),
            ("no-cache", 5, "2"), ("max-stale=100", 5, "1"), ("max-stale=100", 160, "1"), ("max-stale=100", 161, "2"),
        ] as [(String, TimeInterval, String)])
    func requestDirectives(control: String, seconds: TimeInterval, text: String) async throws {
        for lifetime in [ResponseCache.Lifetime.server, .time(.seconds(60))] {
            let fixture = CacheFixture(headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
            _ = try await fixture.get("https://h/", lifetime)
            fixture.date.advance(by: seconds)
            #expect(try await fixture.get("https://h/", lifetime, headers: ["Cache-Control": control]) == text)
            guard text == "2" else { continue }
            #expect(fixture.session.requests.last?.headers["If-None-Match"] == "\"1\"")
        }
    }

    @Test(
        "only-if-cached with max-age and an older response is notCached",
        .rule(
            "RFC 9111 §5.2.1.7",
            "SHOULD, upon receiving it, respond with either a stored response consistent with the other constraints "
                + "of the request or a 504 (Gateway Timeout)"))
    func onlyIfCached() async throws {
        let fixture = CacheFixture(headers: ["Cache-Control": "max-age=60"])
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 20)
        let control = "only-if-cached, max-age="
        #expect(try await fixture.get("https://h/", .server, headers: ["Cache-Control": control + "30"]) == "1")
        let error = await #expect(throws: NetworkError.self) {
            try await fixture.get("https://h/", .server, headers: ["Cache-Control": control + "19"])
        }
        #expect(error?.code == .notCached && fixture.session.requests.count == 1)
    }

    @Test(
        "a cache-only GET or HEAD that the cache does not handle is not sent",
        arguments: [
            (.get, ["Range": "bytes=0-1,3-4"], false), (.get, ["If-Match": "\"1\""], false),
            (.head, ["Range": "bytes=0-1"], false), (.options, [:], true), (.post, [:], true),
        ] as [(HTTPMethod, HTTPHeaders, Bool)], [false, true])
    func unhandled(_ request: (method: HTTPMethod, headers: HTTPHeaders, isSent: Bool), isPolicy: Bool) async throws {
        let fixture = CacheFixture()
        _ = try? await fixture.response("https://h/", .server, method: request.method, headers: request.headers) {
            if isPolicy { $0.cachePolicy = .returnCacheDataDontLoad } else { $0.cacheDirectives.onlyIfCached = true }
        }
        #expect(fixture.session.requests.isEmpty != request.isSent)
    }

    @Test(
        "a request with no-store stores and renews nothing (RFC 9111 §5.2.1.5)",
        .rule(
            "RFC 9111 §5.2.1.5",
            "The no-store request directive indicates that a cache MUST NOT store any part of either this request "
                + "or any response to it."))
    func noStore() async throws {
        let tag: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "max-age=60"]
        let fixture = CacheFixture(
            StubSession(.text("old", headers: tag), .status(304, headers: tag), .status(304, headers: tag)))
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 60)
        #expect(try await fixture.get("https://h/", .server, headers: ["Cache-Control": "no-store"]) == "old")
        #expect(try await fixture.get("https://h/", .server) == "old")
        #expect(fixture.session.requests.count == 3)
        let unseen = CacheFixture(headers: tag)
        _ = try await unseen.get("https://h/", .server, headers: ["Cache-Control": "no-store"])
        #expect(try await unseen.get("https://h/", .server) == "2")
    }

    @Test(
        "staleIfError stores responses without freshness and validator",
        arguments: [
            ([:], 60, 60, true), ([:], 60, 61, false), ([:], nil, 1, false),
            (["Cache-Control": "no-store"], 60, 1, false),
            (["Cache-Control": "stale-if-error=60"], nil, 60, true),
            (["Cache-Control": "stale-if-error=60, must-revalidate"], nil, 1, false),
        ] as [(HTTPHeaders, Int?, TimeInterval, Bool)])
    func staleIfError(headers: HTTPHeaders, own: Int?, seconds: TimeInterval, isUsed: Bool) async throws {
        for fault in [MockResponse.status(503), .close] {
            let fixture = CacheFixture(
                StubSession(.json("1", headers: headers), .json("2", headers: headers), fault))
            let option: @Sendable (inout RequestOptions) -> Void = { $0.staleIfError = own.map { .seconds($0) } }
            _ = try await fixture.get("https://h/", .server, option)
            // The response is still not fresh: each call asks the server first.
            #expect(try await fixture.get("https://h/", .server, option) == "2")
            fixture.date.advance(by: seconds)
            #expect(((try? await fixture.get("https://h/", .server, option)) == "2") == isUsed, "\(fault)")
        }
    }

    // RFC 9111 §3.1: "Caches MUST include all received response header fields -- including unrecognized ones -- when
    // storing a response".
    @Test("fields that the cache does not know are stored")
    func unknownFields() async throws {
        let fixture = CacheFixture(headers: ["Set-Cookie2": "a=b", "Content-Foo": "c", "Clear-Site-Data": "\"cache\""])
        _ = try await fixture.get()
        let stored = try await fixture.response()
        #expect(stored.cacheAge != nil && stored.headers["Set-Cookie2"] == "a=b")
        #expect(stored.headers["Content-Foo"] == "c" && stored.headers["Clear-Site-Data"] == "\"cache\"")
    }
}
