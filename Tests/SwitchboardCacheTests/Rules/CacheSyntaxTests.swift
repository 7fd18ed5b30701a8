import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// RFC 9110 §5.6 and RFC 9111 §1.2.2: the syntax of the fields that a cache reads, and the fields that it writes.
@Suite(.timeLimit(.minutes(10)))
struct CacheSyntaxTests {
    // The fixture's clock begins at Tue, 14 Nov 2023 22:13:20 GMT.

    /// Expects that a stored response answers until its lifetime ends.
    private func expectLifetime(_ seconds: TimeInterval, _ headers: HTTPHeaders) async throws {
        let fixture = CacheFixture(headers: headers)
        _ = try await fixture.get("https://h/", .server)
        if seconds > 0 {
            fixture.date.advance(by: seconds - 1)
            #expect(try await fixture.get("https://h/", .server) == "1", "\(headers)")
            fixture.date.advance(by: 1)
        }
        #expect(try await fixture.get("https://h/", .server) == "2", "\(headers)")
    }

    @Test(
        "a number that is too large counts as 2^31",
        .rule(
            "RFC 9111 §1.2.2",
            "If a cache receives a delta-seconds value greater than the greatest integer it can represent, or if any "
                + "of its subsequent calculations overflows, the cache MUST consider the value to be 2147483648"))
    func overflow() async throws {
        let huge = String(repeating: "9", count: 400)
        try await expectLifetime(2_147_483_648, ["Cache-Control": "max-age=\(huge)"])
        try await expectLifetime(0, ["Cache-Control": "max-age=60", "Age": huge])
        for (control, answer) in [("max-age", "1"), ("min-fresh", "2"), ("max-stale", "1")] {
            let fixture = CacheFixture(headers: ["Cache-Control": "max-age=60, stale-while-revalidate=0"])
            _ = try await fixture.get("https://h/", .server)
            fixture.date.advance(by: control == "max-stale" ? 1e6 : 1)
            let asked: HTTPHeaders = ["Cache-Control": "\(control)=\(huge)"]
            #expect(try await fixture.get("https://h/", .server, headers: asked) == answer, "\(control)")
        }
    }

    @Test(
        "empty members of a list are ignored",
        .rule("RFC 9110 §5.6.1.2", "A recipient MUST parse and ignore a reasonable number of empty list elements"))
    func emptyMembers() async throws {
        try await expectLifetime(60, ["Cache-Control": ", ,max-age=60,\t,", "cache-control": ""])
        let fixture = CacheFixture(headers: [
            "Cache-Control": "max-age=60, no-cache=\",X-Secret, \"", "Vary": ", X-Unit,,", "Connection": ",, X-Hop",
            "X-Secret": "1", "X-Hop": "1", "X-Kept": "1",
        ]) { ResponseCache(identity: { _ in "me" }, now: $0) }
        _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": "a"])
        let hit = try await fixture.response("https://h/", .server, headers: ["X-Unit": "a"])
        #expect(hit.cacheAge != nil && hit.headers["X-Kept"] == "1")
        #expect(!hit.headers.contains("X-Secret") && !hit.headers.contains("X-Hop"))
        #expect(try await fixture.get("https://h/", .server, headers: ["X-Unit": "b"]) == "2")
    }

    @Test(
        "a quoted pair counts as its second character",
        .rule(
            "RFC 9110 §5.6.4",
            "Recipients that process the value of a quoted-string MUST handle a quoted-pair as if it were replaced by "
                + "the octet following the backslash."))
    func quotedPairs() async throws {
        try await expectLifetime(60, ["Cache-Control": #"max-age="\6\0""#])
        try await expectLifetime(60, ["Cache-Control": #"ext="\", max-age=5", max-age=60"#])
        try await expectLifetime(5, ["Cache-Control": #"ext="\\", max-age=5, x="", max-age=60"#])
        let fixture = CacheFixture(headers: ["Cache-Control": #"max-age=60, no-cache="X\-Secret""#, "X-Secret": "1"])
        _ = try await fixture.get("https://h/", .server)
        let hit = try await fixture.response("https://h/", .server)
        #expect(hit.cacheAge != nil && !hit.headers.contains("X-Secret"))
    }

    @Test("a combining mark after a quote hides no directive")
    func combiningMarks() async throws {
        try await expectLifetime(5, ["Cache-Control": "max-age=60, ext=\"\u{301}\", max-age=5"])
        try await expectLifetime(5, ["Cache-Control": "max-age=60, ext=\"a\"\u{301}, max-age=5"])
    }

    @Test(
        "a year of two digits is never more than 50 years ahead",
        .rule(
            "RFC 9110 §5.6.7",
            "MUST interpret a timestamp that appears to be more than 50 years in the future as representing the most "
                + "recent year in the past that had the same last two digits."),
        arguments: [("Wednesday, 14-Nov-73 22:13:20 GMT", true), ("Wednesday, 14-Nov-74 22:13:20 GMT", false)])
    func twoDigits(expires: String, isFresh: Bool) async throws {
        let fixture = CacheFixture(headers: ["Expires": expires])
        _ = try await fixture.get("https://h/", .server)
        #expect(try await fixture.get("https://h/", .server) == (isFresh ? "1" : "2"))
    }

    @Test(
        "unknown directives change nothing",
        .rule("RFC 9111 §5.2.3", "A cache MUST ignore unrecognized cache directives."))
    func unknown() async throws {
        let other = "community=\"UCI, no-store\", foo, no-storex, xno-cache=\"a\", =5, max-age-x=5, s-maxage=5"
        try await expectLifetime(60, ["Cache-Control": "\(other), max-age=60"])
        let fixture = CacheFixture(headers: ["Cache-Control": "max-age=60"])
        _ = try await fixture.get("https://h/", .server)
        #expect(try await fixture.get("https://h/", .server, headers: ["Cache-Control": "\(other), only-if"]) == "1")
    }

    @Test(
        "a malformed directive that contains no-store or no-cache counts as it",
        arguments: [
            (#"max-age=60, private="a, no-store"#, false), (#"max-age=60, "no-store""#, false),
            ("max-age=60,no-store;", false), ("max-age=60, x;No-Store", false), ("max-age=60, x no-store", false),
            (#"max-age=60, ext="a"x="b, no-store""#, false), (#"max-age=60, ext="\", no-store"#, false),
            ("max-age=60, x;no-cache", false), (#"max-age=60, "no-cache""#, false),
            (#"max-age=60, ext="a; no-store""#, true), (#"max-age=60, ext="\"no-store\"""#, true),
            ("max-age=60, ext=no-store", true), ("max-age=60, x-no-store;", true), ("max-age=60, no-storex;", true),
            (#"max-age=60, "no-stor"e"#, true),
        ])
    func malformed(control: String, isHit: Bool) async throws {
        let fixture = CacheFixture(headers: ["Cache-Control": control])
        for _ in 1...2 { _ = try await fixture.response("https://h/", .server) }
        #expect(fixture.session.requests.count == (isHit ? 1 : 2))
    }

    @Test(
        "the local time zone changes no lifetime",
        .rule(
            "RFC 9111 §4.2",
            "A cache recipient MUST NOT allow local time zones to influence the calculation or comparison of an age or "
                + "expiration time."))
    func timeZone() async throws {
        let zone = NSTimeZone.default
        defer { NSTimeZone.default = zone }
        for name in ["Asia/Kathmandu", "America/St_Johns"] {
            NSTimeZone.default = try #require(TimeZone(identifier: name))
            try await expectLifetime(60, ["Expires": "Tue, 14 Nov 2023 22:14:20 GMT"])
            try await expectLifetime(
                30, ["Cache-Control": "max-age=60", "Date": "Tue, 14 Nov 2023 22:12:50 GMT"])
        }
    }

    @Test(
        "a response without Date is stored with the time of its arrival",
        .rule(
            "RFC 9110 §6.6.1",
            "A recipient with a clock that receives a response message without a Date header field MUST record the "
                + "time it was received and append a corresponding Date header field"))
    func date() async throws {
        let tag: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "max-age=60"]
        let fixture = CacheFixture(
            StubSession(
                .text("a", headers: tag), .status(304, headers: tag),
                .text("b", headers: ["Cache-Control": "max-age=60", "Date": "Tue, 14 Nov 2023 22:15:20 GMT"])))
        var dates: [String?] = []
        for time in [0.9, 1, 60, 1, 60, 1] {
            fixture.date.advance(by: time)
            dates.append(try await fixture.response("https://h/", .server).headers["Date"])
        }
        #expect(
            dates == [
                nil, "Tue, 14 Nov 2023 22:13:20 GMT", "Tue, 14 Nov 2023 22:14:21 GMT", "Tue, 14 Nov 2023 22:14:21 GMT",
                "Tue, 14 Nov 2023 22:15:20 GMT", "Tue, 14 Nov 2023 22:15:20 GMT",
            ])
    }

    @Test(
        "trailers do not become header fields of the stored response",
        .rule("RFC 9111 §3.1", "Caches MUST NOT combine trailer fields with header fields."),
        .rule("RFC 9110 §6.5.1", "A recipient MUST NOT merge a trailer field into a header section"))
    func trailers() async throws {
        let session = AdHocSession { request in
            var response = NetworkResponse(
                statusCode: 200, headers: ["Cache-Control": "max-age=86400", "X-Kept": "1"], url: request.url)
            response.trailers = ["X-Sum": "1", "Cache-Control": "no-store", "Age": "90", "X-Kept": "2"]
            return response
        }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [ResponseCache()])
        let endPoint = URLEndPoint(.get, URL(text: "https://h/"))
        #expect(try await router.response(for: endPoint).trailers["X-Sum"] == "1")
        let hit = try await router.response(for: endPoint)
        #expect(hit.cacheAge != nil && !hit.headers.contains("X-Sum"))
        #expect(hit.headers.values(for: "X-Kept") == ["1"] && hit.headers["Cache-Control"] == "max-age=86400")
    }
}
