import Foundation
import Switchboard
@testable import SwitchboardCache
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// RFC 9110 §13.1.5 and §14: ranges of whole stored responses.
@Suite(.timeLimit(.minutes(10)))
struct CacheRangeTests {
    private let fresh: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"v1\"", "X-Kind": "kept"]

    private func get(_ fixture: CacheFixture, _ range: String?, _ more: HTTPHeaders = [:]) async throws
        -> NetworkResponse
    {
        var headers = more
        headers["Range"] = range
        return try await fixture.answer(headers)
    }

    // §14.1.1: "range-unit = token", §14.1: "Range units … are case-insensitive", §14.1.2: "int-range = first-pos "-" [ last-pos ]",
    // "suffix-range = "-" suffix-length", §14.1.1: "An int-range is invalid if the last-pos value is present and less than first-pos."
    @Test(
        "one range of bytes is read, and nothing else",
        .rule(
            "RFC 9110 §14.1.2",
            "recipients MUST anticipate potentially large decimal numerals and prevent parsing errors due to "
                + "integer conversion overflows."),
        arguments: [
            ("bytes=0-4", CacheRange.from(0, through: 4)), ("BYTES=3-", .from(3, through: nil)),
            ("bytes=-5", .last(5)), ("bytes=-0", .last(0)), ("bytes=007-9", .from(7, through: 9)),
            ("bytes=5-99999999999999999999", .from(5, through: .max)), ("bytes=-99999999999999999999", .last(.max)),
            ("bytes=99999999999999999999-", nil), ("bytes=5-4", nil), ("bytes=0-1,3-4", nil), ("bytes=0-1,", nil),
            ("bytes=-", nil), ("bytes=", nil), ("bytes", nil), ("bytes=a-b", nil), ("bytes=+1-2", nil),
            ("bytes=1-2-3", nil), ("bytes=--1", nil), ("bytes= 1-2", nil), ("lines=1-2", nil), ("bytes=1-2=3", nil),
        ] as [(String, CacheRange?)])
    func parsing(field: String, range: CacheRange?) {
        #expect(CacheRange(field) == range)
    }

    // §14.1.2: "If the last-pos value is absent, or if the value is greater than or equal to the current length of the
    // representation data, the byte range is interpreted as the remainder"; "If the selected representation is shorter
    // than the specified suffix-length, the entire representation is used."
    @Test(
        "a stored whole response answers a range of it",
        .rule(
            "RFC 9111 §3.3",
            "A cache MUST NOT send a partial response to a client without explicitly marking it using the 206 "
                + "(Partial Content) status code."),
        .rule(
            "RFC 9110 §15.3.7",
            "A server that generates a 206 response MUST generate the following header fields, in addition to those "
                + "required in the subsections below"),
        .rule(
            "RFC 9110 §15.3.7.1",
            "the server generating the 206 response MUST generate a Content-Range header field, describing what "
                + "range of the selected representation is enclosed"),
        .rule("RFC 9110 §14.2", "the server SHOULD send a 206 (Partial Content) response"),
        arguments: [
            ("bytes=0-1", "01", "0-1"), ("bytes=1-", "123456789A", "1-10"), ("bytes=-1", "A", "10-10"),
            ("bytes=0-0", "0", "0-0"), ("bytes=4-99", "456789A", "4-10"), ("bytes=-99", "0123456789A", "0-10"),
            ("bytes=10-99999999999999999999", "A", "10-10"), ("bytes=0-10", "0123456789A", "0-10"),
        ])
    func slices(range: String, text: String, content: String) async throws {
        let fixture = CacheFixture(StubSession(.text("0123456789A", headers: fresh)))
        _ = try await get(fixture, nil)
        fixture.date.advance(by: 7)
        let part = try await get(fixture, range)
        #expect(part.statusCode == 206 && part.text == text && part.cacheOutcome == .hit)
        #expect(part.headers["Content-Range"] == "bytes \(content)/11" && part.headers["ETag"] == "\"v1\"")
        #expect(part.headers["Content-Length"] == "\(text.utf8.count)" && part.headers["X-Kind"] == "kept")
        #expect(part.headers["Age"] == "7" && part.cacheAge == .seconds(7))
        #expect(try await get(fixture, nil).text == "0123456789A")
        #expect(fixture.session.requests.count == 1)
    }

    @Test(
        "a range beyond a fresh stored response is a 416",
        .rule("RFC 9110 §14.2", "the server SHOULD send a 416 (Range Not Satisfiable) response."),
        .rule(
            "RFC 9110 §15.5.17",
            "A server that generates a 416 response to a byte-range request SHOULD generate a Content-Range header "
                + "field specifying the current length"),
        arguments: ["bytes=11-", "bytes=11-20", "bytes=-0"])
    func unsatisfiable(range: String) async throws {
        let fixture = CacheFixture(StubSession(.text("0123456789A", headers: fresh)))
        _ = try await get(fixture, nil)
        let refused = try await get(fixture, range)
        #expect(refused.statusCode == 416 && refused.headers["Content-Range"] == "bytes */11" && refused.body.isEmpty)
        #expect(refused.cacheOutcome == .hit && fixture.session.requests.count == 1)
        #expect(try await get(fixture, nil).text == "0123456789A")
    }

    // §14.2: "A server MAY ignore the Range header field"; "A server that supports range requests MAY ignore or reject a Range
    // header field that contains an invalid ranges-specifier": that is the server's choice.
    @Test(
        "other ranges go to the server as they are, and change nothing",
        arguments: ["bytes=0-1,3-4", "lines=0-1", "bytes=4-2", "x", "bytes=99999999999999999999-"])
    func others(range: String) async throws {
        let fixture = CacheFixture(StubSession(.text("0123", headers: fresh), .status(206, headers: fresh, body: "?")))
        _ = try await get(fixture, nil)
        let passed = try await get(fixture, range)
        #expect(passed.text == "?" && passed.cacheOutcome == nil)
        #expect(fixture.session.requests[1].headers["Range"] == range)
        #expect(fixture.session.requests[1].headers["If-None-Match"] == nil)
        #expect(try await get(fixture, nil).text == "0123")
    }

    @Test(
        "two Range fields, and a HEAD with one, go to the server",
        .rule(
            "RFC 9110 §14.2",
            "A server MUST ignore a Range header field received with a request method that is unrecognized or for "
                + "which range handling is not defined."))
    func unusual() async throws {
        let fixture = CacheFixture(
            StubSession(.text("0123", headers: fresh), .status(206, body: "?"), .status(200, headers: ["X-Head": "1"])))
        _ = try await get(fixture, nil)
        var two = HTTPHeaders()
        two.add("Range", "bytes=0-1")
        two.add("Range", "bytes=1-2")
        #expect(try await fixture.answer(two).text == "?")
        let head = try await fixture.response("https://h/", .server, method: .head, headers: ["Range": "bytes=0-1"])
        #expect(head.headers["X-Head"] == "1")
        #expect(fixture.session.requests.count == 3)
    }

    @Test(
        "an If-Range decides by strong comparison",
        .rule(
            "RFC 9110 §13.1.5",
            "A recipient of an If-Range header field MUST ignore the Range header field if the If-Range condition "
                + "evaluates to false."),
        .rule("RFC 9110 §13.1.5", "Otherwise, the recipient SHOULD process the Range header field as requested."),
        arguments: [
            ("\"v1\"", "\"v1\"", true), ("\"v1\"", "\"v2\"", false), ("W/\"v1\"", "W/\"v1\"", false),
            ("\"v1\"", "W/\"v1\"", false), (nil, "Tue, 14 Nov 2023 22:13:18 GMT", true),
            (nil, "Tue, 14 Nov 2023 22:13:17 GMT", false),
        ] as [(String?, String, Bool)])
    func condition(tag: String?, condition: String, isHit: Bool) async throws {
        var headers = fresh
        headers["ETag"] = tag
        headers["Date"] = "Tue, 14 Nov 2023 22:13:20 GMT"
        headers["Last-Modified"] = "Tue, 14 Nov 2023 22:13:18 GMT"
        let fixture = CacheFixture(StubSession(.text("0123", headers: headers), .text("new", headers: fresh)))
        _ = try await get(fixture, nil)
        let answer = try await get(fixture, "bytes=0-1", ["If-Range": condition])
        #expect(answer.text == (isHit ? "01" : "new") && answer.statusCode == (isHit ? 206 : 200))
        guard !isHit else { return }
        // The request is sent unchanged, and its 200 replaces the stored response.
        let sent = fixture.session.requests[1].headers
        #expect(sent["If-Range"] == condition && sent["Range"] == "bytes=0-1" && sent["If-None-Match"] == nil)
        #expect(try await get(fixture, nil).text == "new")
        #expect(fixture.session.requests.count == 2)
    }

    // §8.8.2.2: a Last-Modified is strong if "the presented … Date value … is at least one second after the Last-Modified value"
    @Test("a Last-Modified of the second of Date is no strong validator")
    func weakDate() async throws {
        var headers = fresh
        headers["ETag"] = nil
        headers["Date"] = "Tue, 14 Nov 2023 22:13:20 GMT"
        headers["Last-Modified"] = "Tue, 14 Nov 2023 22:13:20 GMT"
        let fixture = CacheFixture(StubSession(.text("0123", headers: headers), .text("new")))
        _ = try await get(fixture, nil)
        let answer = try await get(fixture, "bytes=0-1", ["If-Range": "Tue, 14 Nov 2023 22:13:20 GMT"])
        #expect(answer.text == "new")
    }

    @Test("an If-Range without a Range goes to the server (§13.1.5)")
    func conditionAlone() async throws {
        let fixture = CacheFixture(StubSession(.text("0123", headers: fresh), .text("new")))
        _ = try await get(fixture, nil)
        #expect(try await get(fixture, nil, ["If-Range": "\"v1\""]).text == "new")
    }

    // RFC 9111 §4.3.1: "When generating a conditional request for validation, a cache … updates that request with one or more
    // precondition header fields"; RFC 9110 §13.2.2: If-None-Match precedes Range.
    @Test("a stale whole response is validated, and a 304 answers the range")
    func validated() async throws {
        let fixture = CacheFixture(
            StubSession(.text("0123", headers: fresh), .status(304, headers: ["ETag": "\"v1\"", "X-Kind": "new"])))
        _ = try await get(fixture, nil)
        fixture.date.advance(by: 60)
        let answer = try await get(fixture, "bytes=1-2")
        #expect(answer.statusCode == 206 && answer.text == "12" && answer.headers["Content-Range"] == "bytes 1-2/4")
        #expect(answer.cacheOutcome == .validated(.expired) && answer.headers["X-Kind"] == "new")
        let sent = fixture.session.requests[1].headers
        #expect(sent["If-None-Match"] == "\"v1\"" && sent["Range"] == "bytes=1-2")
        #expect(try await get(fixture, nil).text == "0123")
        #expect(fixture.session.requests.count == 2)
    }

    @Test("a 206 of another version replaces the stale whole, and a 200 too", arguments: [206, 200])
    func changed(status: Int) async throws {
        var new = fresh
        new["ETag"] = "\"v2\""
        if status == 206 { new["Content-Range"] = "bytes 1-2/5" }
        let body = status == 206 ? "bc" : "abcde"
        let fixture = CacheFixture(
            StubSession(
                .text("0123", headers: fresh), .text(body, statusCode: status, headers: new),
                .text("whole", headers: fresh)
            ))
        _ = try await get(fixture, nil)
        fixture.date.advance(by: 60)
        let answer = try await get(fixture, "bytes=1-2")
        #expect(answer.text == body && answer.statusCode == status && answer.cacheOutcome == .miss(.expired))
        let again = try await get(fixture, "bytes=1-2")
        #expect(again.text == "bc" && again.statusCode == 206 && again.cacheOutcome == .hit)
        #expect(try await get(fixture, nil).text == (status == 206 ? "whole" : "abcde"))
    }

    // RFC 9111 §3.4: "the new response … same strong validator … MAY combine"; the stored response is then fresh again.
    @Test("a 206 of the same version confirms the stale whole")
    func sameVersion() async throws {
        var part = fresh
        part["Content-Range"] = "bytes 1-2/4"
        part["X-Kind"] = "new"
        let fixture = CacheFixture(
            StubSession(.text("0123", headers: fresh), .text("12", statusCode: 206, headers: part)))
        _ = try await get(fixture, nil)
        fixture.date.advance(by: 60)
        #expect(try await get(fixture, "bytes=1-2").text == "12")
        let whole = try await get(fixture, nil)
        #expect(whole.text == "0123" && whole.statusCode == 200 && whole.headers["X-Kind"] == "new")
        #expect(whole.headers["Content-Range"] == nil && fixture.session.requests.count == 2)
    }

    // RFC 9110 §14.1.2 counts the bytes of the representation; a session decodes a Content-Encoding.
    @Test("a decoded body, an empty one and one of another length answer no range")
    func notSliceable() async throws {
        for stored in [
            MockResponse.text("0123", headers: fresh).gzipped(), .text("", headers: fresh),
            .text("0123", headers: fresh.merging(["Content-Length": "9"])),
        ] {
            let fixture = CacheFixture(StubSession(stored, .text("from the server", statusCode: 206, headers: fresh)))
            let whole = try await get(fixture, nil).text
            let answer = try await get(fixture, "bytes=0-1")
            #expect(answer.text == "from the server" && answer.cacheOutcome == .miss(.requested))
            #expect(fixture.session.requests[1].headers["If-None-Match"] == nil)
            #expect(try await get(fixture, nil).text == whole)
            #expect(fixture.session.requests.count == 2)
        }
    }

    // §14.2: Range applies "if the result in absence of the Range header field would be a 200 (OK)"
    @Test("a stored 404 answers a range as it is")
    func notFound() async throws {
        let fixture = CacheFixture(StubSession(.text("none", statusCode: 404, headers: fresh)))
        for _ in 1...2 {
            let answer = try await get(fixture, "bytes=0-1")
            #expect(answer.statusCode == 404 && answer.text == "none")
        }
        #expect(fixture.session.requests.count == 1)
    }

    @Test("an error about a range is not stored, and removes nothing", arguments: [416, 400, 405, 501])
    func errors(status: Int) async throws {
        let fixture = CacheFixture(
            StubSession(.text("0123", headers: fresh), .text("?", statusCode: status, headers: fresh), .text("new")))
        _ = try await get(fixture, nil)
        #expect(try await get(fixture, "bytes=1-2", ["Cache-Control": "no-cache"]).statusCode == status)
        #expect(try await get(fixture, "bytes=1-2").text == "12")
        #expect(try await get(fixture, nil).text == "0123")
    }

    // RFC 9111 §5.2.1: the request's directives hold for ranges too.
    @Test("directives, policies and failures hold for a range")
    func rules() async throws {
        let fixture = CacheFixture(
            StubSession(.text("0123", headers: fresh), .status(503), .status(304, headers: ["ETag": "\"v1\""])))
        let missing = await #expect(throws: NetworkError.self) {
            _ = try await get(fixture, "bytes=1-2", ["Cache-Control": "only-if-cached"])
        }
        #expect(missing?.code == .notCached)
        _ = try await get(fixture, nil)
        fixture.date.advance(by: 60)
        let old = try await get(fixture, "bytes=1-2", ["Cache-Control": "max-stale=9"])
        #expect(old.text == "12" && old.cacheOutcome == .stale(.requested))
        let failed = try await fixture.response("https://h/", .server, headers: ["Range": "bytes=-1"]) {
            $0.staleIfError = .seconds(60)
        }
        #expect(failed.text == "3" && failed.statusCode == 206 && failed.cacheOutcome == .stale(.serverFailed))
        let confirmed = try await get(fixture, "bytes=0-0", ["Cache-Control": "no-cache"])
        #expect(confirmed.text == "0" && confirmed.cacheOutcome == .validated(.expired))
    }

    @Test("Vary, identity and partition separate ranges too (RFC 9111 §4.1)")
    func separate() async throws {
        var headers = fresh
        headers["Vary"] = "X-Unit"
        let fixture = CacheFixture(StubSession { [headers] request in .text("other", headers: headers) }) { now in
            ResponseCache(identity: { $0.headers["X-User"] }, now: now)
        }
        _ = try await get(fixture, nil, ["X-Unit": "a", "X-User": "1"])
        #expect(try await get(fixture, "bytes=0-1", ["X-Unit": "a", "X-User": "1"]).text == "ot")
        for headers in [["X-Unit": "b", "X-User": "1"], ["X-Unit": "a", "X-User": "2"]] as [HTTPHeaders] {
            #expect(try await get(fixture, "bytes=0-1", headers).text == "other")
        }
        let elsewhere = try await fixture.response(
            "https://h/", .server, headers: ["X-Unit": "a", "X-User": "1", "Range": "bytes=0-1"]
        ) { $0.partition = "test" }
        #expect(elsewhere.text == "other" && fixture.session.requests.count == 4)
    }
}

extension CacheFixture {
    /// Returns the response to a GET whatever its status.
    func answer(_ headers: HTTPHeaders) async throws -> NetworkResponse {
        do {
            return try await response("https://h/", .server, headers: headers)
        } catch let error as NetworkError where error.code != .truncatedBody && error.statusCode != nil {
            return try #require(error.response)
        }
    }
}
