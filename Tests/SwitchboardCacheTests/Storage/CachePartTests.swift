import Foundation
import Switchboard
@testable import SwitchboardCache
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// RFC 9111 §3.3 and §3.4, RFC 9110 §15.3.7: stored parts, and their completion.
@Suite(.timeLimit(.minutes(10)))
struct CachePartTests {
    private static let text = "0123456789"
    private let fresh: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"v1\""]

    private func part(
        _ range: ClosedRange<Int>, of size: String = "10", _ headers: HTTPHeaders = [:], text: String = text
    ) -> MockResponse {
        let body = String(text.dropFirst(range.lowerBound).prefix(range.count))
        let fields: HTTPHeaders = ["Content-Range": "bytes \(range.lowerBound)-\(range.upperBound)/\(size)"]
        return .text(body, statusCode: 206, headers: fresh.merging(fields).merging(headers))
    }

    private func whole(_ text: String = text) -> MockResponse { .text(text, headers: fresh) }

    private func get(_ fixture: CacheFixture, _ range: String? = nil, _ more: HTTPHeaders = [:]) async throws
        -> NetworkResponse
    {
        var headers = more
        headers["Range"] = range
        return try await fixture.answer(headers)
    }

    private func sent(_ fixture: CacheFixture) -> [String] {
        fixture.session.requests.map {
            [$0.headers["Range"], $0.headers["If-Range"]].compactMap { $0 }.joined(separator: " ")
        }
    }

    // MARK: Parts

    @Test(
        "a stored part answers the ranges within it, and no others",
        .rule(
            "RFC 9111 §3.3",
            "A cache MUST NOT use an incomplete response to answer requests unless the response has been made "
                + "complete, or the request is partial and specifies a range wholly within the incomplete response."),
        .rule("RFC 9110 §15.3.7.3", "the client MUST process the set of continuous ranges as one of the following"),
        arguments: [false, true])
    func within(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let session = StubSession(part(4...8), part(3...8), part(5...9))
            let fixture = try CacheFixture(session) { now in
                isOnDisk ? try ResponseCache(folder: folder, memoryLimit: 0, now: now) : ResponseCache(now: now)
            }
            #expect(try await get(fixture, "bytes=4-8").cacheOutcome == .miss(.notStored))
            fixture.date.advance(by: 3)
            for (range, text) in [("bytes=4-8", "45678"), ("bytes=5-6", "56"), ("bytes=8-8", "8")] {
                let answer = try await get(fixture, range)
                #expect(answer.statusCode == 206 && answer.text == text && answer.cacheOutcome == .hit)
                let content = "bytes \(range.dropFirst(6))/10"
                #expect(answer.headers["Content-Range"] == content && answer.headers["Age"] == "3")
                #expect(answer.headers["Content-Length"] == "\(text.utf8.count)")
            }
            for (range, text) in [("bytes=3-8", "345678"), ("bytes=5-", "56789")] {
                let answer = try await get(fixture, range)
                #expect(answer.text == text && answer.cacheOutcome == .miss(.incomplete))
            }
            #expect(try await get(fixture, "bytes=-7").text == "3456789")
            #expect(sent(fixture) == ["bytes=4-8", "bytes=3-8", "bytes=5-"])
        }
    }

    @Test("tags of different bytes are different, even for equal characters")
    func bytesOfTags() async throws {
        let (one, other) = ("\"\u{e9}\"", "\"e\u{301}\"")
        let fixture = CacheFixture(
            StubSession(
                part(0...4, of: "10", ["ETag": one]), part(5...9, of: "10", ["ETag": other]), whole("abcdefghij")))
        _ = try await get(fixture, "bytes=0-4")
        _ = try await get(fixture, "bytes=5-9")
        let answer = try await get(fixture, "bytes=5-7", ["If-Range": one])
        #expect(answer.statusCode == 200 && answer.text == "abcdefghij")
        #expect(fixture.session.requests.count == 3)
    }

    @Test("a part of a whole of unknown size answers ranges with a last byte")
    func unknownSize() async throws {
        let fixture = CacheFixture(StubSession(part(2...5, of: "*"), part(4...9), part(6...9)))
        _ = try await get(fixture, "bytes=2-5")
        let answer = try await get(fixture, "bytes=3-5")
        #expect(answer.text == "345" && answer.headers["Content-Range"] == "bytes 3-5/*")
        #expect(try await get(fixture, "bytes=4-").text == "456789")
        // The size is known now.
        #expect(try await get(fixture, "bytes=-2").text == "89")
        #expect(fixture.session.requests.count == 2)
    }

    @Test("a part whose validator has more than 4 KiB is not stored", arguments: [4_096, 4_097])
    func longValidator(count: Int) async throws {
        let tag: HTTPHeaders = ["ETag": "\"\(String(repeating: "e", count: count - 2))\""]
        let fixture = CacheFixture(StubSession(part(0...4, tag), count == 4_096 ? part(5...9, tag) : whole()))
        _ = try await get(fixture, "bytes=0-4")
        #expect(try await get(fixture).text == Self.text)
        #expect((fixture.session.requests.last?.headers["If-Range"] == nil) == (count == 4_097))
    }

    // RFC 9111 §3.4: "If the new response contains a strong validator … combine"; RFC 9110 §15.3.7.3: "A client that has
    // received multiple partial responses to GET requests on a target resource MAY combine those responses into a larger
    // continuous range if they share the same strong validator."
    @Test(
        "parts with one strong validator become a whole",
        .rule(
            "RFC 9111 §3.4",
            "a cache MUST update the stored response header fields using the header fields provided in the new "
                + "response"),
        .rule(
            "RFC 9110 §15.3.7.3",
            "the client MUST process the combined response as if it were a complete 200 (OK) response, including a "
                + "Content-Length header field that reflects the complete length."),
        .rule(
            "RFC 9110 §15.3.7.3",
            "except that the client MUST use other header fields provided in the new response, aside from "
                + "Content-Range, to replace all instances of the corresponding header fields"),
        arguments: [
            [0...4, 5...9], [5...9, 0...4], [0...5, 3...9], [4...6, 2...3, 0...1, 7...9], [2...3, 6...7, 0...9],
        ] as [[ClosedRange<Int>]], [false, true])
    func combined(parts: [ClosedRange<Int>], isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let fixture = try CacheFixture(StubSession()) { now in
                isOnDisk ? try ResponseCache(folder: folder, memoryLimit: 0, now: now) : ResponseCache(now: now)
            }
            for (index, bytes) in parts.enumerated() {
                fixture.session.enqueue(part(bytes, ["X-Number": "\(index)"]))
                _ = try await get(fixture, "bytes=\(bytes.lowerBound)-\(bytes.upperBound)")
            }
            let count = fixture.session.requests.count
            let answer = try await get(fixture)
            #expect(answer.statusCode == 200 && answer.text == Self.text && answer.cacheOutcome == .hit)
            #expect(answer.headers["Content-Length"] == "10" && answer.headers["Content-Range"] == nil)
            // §3.4: the fields of the new response update those of the stored one.
            #expect(answer.headers["X-Number"] == "\(count - 1)")
            #expect(await fixture.cache.usage.count == 1 && fixture.session.requests.count == count)
        }
    }

    @Test(
        "of two parts with a gap between them, the larger one is stored",
        arguments: [[0...2, 4...5], [4...5, 0...2]] as [[ClosedRange<Int>]])
    func gap(parts: [ClosedRange<Int>]) async throws {
        let fixture = CacheFixture(StubSession(part(parts[0]), part(parts[1]), part(3...9)))
        for bytes in parts { _ = try await get(fixture, "bytes=\(bytes.lowerBound)-\(bytes.upperBound)") }
        #expect(try await get(fixture, "bytes=0-2").cacheOutcome == .hit)
        #expect(try await get(fixture).text == Self.text)
        #expect(sent(fixture).last == "bytes=3- \"v1\"")
    }

    // RFC 9111 §3.4: another validator; RFC 9110 §8.8.1: a weak validator identifies no bytes.
    @Test(
        "a part without a strong validator is not stored",
        .rule(
            "RFC 9110 §13.1.5",
            "A client MUST NOT generate an If-Range header field containing an entity tag that is marked as weak."))
    func weak() async throws {
        let date = "Tue, 14 Nov 2023 22:13:20 GMT"
        for headers in [
            ["ETag": "W/\"v1\""], ["ETag": "v1"], ["ETag": "", "Last-Modified": date],
            ["ETag": nil, "Last-Modified": date, "Date": date], ["ETag": nil],
        ] as [[String: String?]] {
            var response = part(4...8)
            for (name, value) in headers { response.headers[name] = value }
            let fixture = CacheFixture(StubSession(response, response))
            for _ in 1...2 { #expect(try await get(fixture, "bytes=4-8").text == "45678") }
            #expect(fixture.session.requests.count == 2, "\(headers)")
            #expect(await fixture.cache.usage.count == 0)
        }
    }

    @Test(
        "a part with a strong Last-Modified is stored and completed",
        .rule(
            "RFC 9110 §13.1.5",
            "A client MUST NOT generate an If-Range header field containing an HTTP-date unless the client has no "
                + "entity tag for the corresponding representation and the date is a strong validator"))
    func dated() async throws {
        let dates: HTTPHeaders = [
            "Last-Modified": "Tue, 14 Nov 2023 22:13:19 GMT", "Date": "Tue, 14 Nov 2023 22:13:20 GMT",
        ]
        var (first, second) = (part(0...3, dates), part(4...9, dates))
        (first.headers["ETag"], second.headers["ETag"]) = (nil, nil)
        let fixture = CacheFixture(StubSession(first, second))
        #expect(try await get(fixture, "bytes=0-3").text == "0123")
        #expect(try await get(fixture).text == Self.text)
        #expect(sent(fixture) == ["bytes=0-3", "bytes=4- Tue, 14 Nov 2023 22:13:19 GMT"])
    }

    @Test("a part of another version replaces the stored part")
    func otherVersion() async throws {
        let fixture = CacheFixture(
            StubSession(part(0...4), part(5...9, ["ETag": "\"v2\""], text: "abcdefghij"), part(0...4)))
        _ = try await get(fixture, "bytes=0-4")
        _ = try await get(fixture, "bytes=5-9")
        #expect(try await get(fixture, "bytes=5-9").text == "fghij")
        #expect(try await get(fixture, "bytes=0-4").cacheOutcome == .miss(.incomplete))
    }

    @Test("a stale part is validated, and a 304 makes it fresh again")
    func stale() async throws {
        let fixture = CacheFixture(StubSession(part(0...4), .status(304, headers: fresh)))
        _ = try await get(fixture, "bytes=0-4")
        fixture.date.advance(by: 60)
        let answer = try await get(fixture, "bytes=1-2")
        #expect(answer.text == "12" && answer.cacheOutcome == .validated(.expired))
        #expect(fixture.session.requests[1].headers["If-None-Match"] == "\"v1\"")
        #expect(fixture.session.requests[1].headers["Range"] == "bytes=1-2")
        #expect(try await get(fixture, "bytes=0-4").text == "01234")
        #expect(fixture.session.requests.count == 2)
    }

    @Test(
        "no-store, a wrong length or range, or a coding stores no part",
        .rule(
            "RFC 9111 §3.3",
            "a cache MUST NOT store incomplete or partial-content responses if … it does not understand the range "
                + "units used in those fields."),
        .rule(
            "RFC 9110 §14.4",
            "If a 206 (Partial Content) response contains a Content-Range header field with a range unit that the "
                + "recipient does not understand, the recipient MUST NOT attempt to recombine it"),
        .rule(
            "RFC 9110 §15.3.7",
            "A client MUST inspect a 206 response's Content-Type and Content-Range field(s) to determine what parts "
                + "are enclosed and whether additional requests are needed."))
    func notStored() async throws {
        let cases: [(MockResponse, String)] = [
            (part(4...8, ["Cache-Control": "no-store"]), "bytes=4-8"),
            (part(4...8, ["Content-Length": "4"]), "bytes=4-8"),
            (part(4...8, ["Content-Range": "bytes 4-9/10"]), "bytes=4-9"),
            (part(4...8, ["Content-Range": "bytes 4-8/8"]), "bytes=4-8"), (part(4...8), "bytes=3-8"),
            (part(4...8), "bytes=4-7"), (part(4...8), "bytes=-5"), (part(4...8, of: "*"), "bytes=-5"),
            (part(4...8, ["Content-Range": ""]), "bytes=4-8"),
            (part(4...8, ["Content-Range": "bytes */10"]), "bytes=4-8"),
            (part(4...8, ["Content-Range": "lines 4-8/10"]), "bytes=4-8"),
            (part(4...8, ["Content-Range": "bytes 4-99999999999999999999/*"]), "bytes=4-"),
            (part(4...8, ["Content-Range": "bytes 4-9223372036854775806/9223372036854775807"]), "bytes=4-"),
            (part(4...8, ["Content-Range": "bytes 9223372036854775802-9223372036854775806/*"]), "bytes=4-8"),
            (part(4...8, ["Content-Encoding": "rot13"]), "bytes=4-8"), (part(4...8, ["Vary": "*"]), "bytes=4-8"),
        ]
        for (response, range) in cases {
            let fixture = CacheFixture(StubSession(response, whole()))
            let answer = try await get(fixture, range)
            #expect(answer.text == "45678" && answer.statusCode == 206)
            #expect(await fixture.cache.usage.count == 0, "\(response.headers) \(range)")
            #expect(try await get(fixture).text == Self.text)
            #expect(sent(fixture) == [range, ""])
        }
        let unasked = CacheFixture(StubSession(part(0...4), whole()))
        #expect(try await get(unasked).statusCode == 206)
        #expect(try await get(unasked).text == Self.text)
    }

    // MARK: Completion

    // RFC 9111 §3.3: "A cache MAY complete a stored incomplete response by making a subsequent range request … and combining
    // the successful response with the stored response"; §4.3.1: "an If-Range"
    @Test(
        "a GET completes the stored part with one range",
        .rule(
            "RFC 9110 §13.1.5",
            "A client MUST NOT generate an If-Range header field in a request that does not contain a Range header "
                + "field."),
        arguments: [
            ([0...3], "bytes=4-", 4...9), ([6...9], "bytes=0-5", 0...5), ([2...3, 6...9], "bytes=0-5", 0...5),
        ] as [([ClosedRange<Int>], String, ClosedRange<Int>)])
    func completed(parts: [ClosedRange<Int>], range: String, answer: ClosedRange<Int>) async throws {
        let fixture = CacheFixture(StubSession())
        for bytes in parts {
            fixture.session.enqueue(part(bytes))
            _ = try await get(fixture, "bytes=\(bytes.lowerBound)-\(bytes.upperBound)")
        }
        fixture.session.enqueue(part(answer, ["X-New": "1"]))
        fixture.date.advance(by: 90)
        let whole = try await get(fixture)
        #expect(whole.statusCode == 200 && whole.text == Self.text && whole.headers["Content-Length"] == "10")
        #expect(whole.headers["Content-Range"] == nil && whole.headers["X-New"] == "1")
        #expect(whole.cacheOutcome == .validated(.incomplete))
        #expect(sent(fixture).last == "\(range) \"v1\"")
        let count = fixture.session.requests.count
        #expect(try await get(fixture).cacheOutcome == .hit)
        #expect(fixture.session.requests.count == count)
    }

    @Test("an inner part of a whole of unknown size is not completed")
    func notCompletable() async throws {
        for first in [part(2...5, of: "*"), part(2...5)] {
            let fixture = CacheFixture(StubSession(first, whole()))
            _ = try await get(fixture, "bytes=2-5")
            #expect(try await get(fixture).text == Self.text)
            #expect(sent(fixture) == ["bytes=2-5", ""])
        }
    }

    @Test("a 200 to the completion replaces the part")
    func replaced() async throws {
        let fixture = CacheFixture(
            StubSession(part(0...3), .text("new", headers: ["ETag": "\"v2\"", "Cache-Control": "max-age=60"])))
        _ = try await get(fixture, "bytes=0-3")
        let answer = try await get(fixture)
        #expect(answer.text == "new" && answer.cacheOutcome == .miss(.incomplete))
        #expect(try await get(fixture, "bytes=0-1").text == "ne")
        #expect(fixture.session.requests.count == 2)
    }

    @Test(
        "a bad 206 or a refusal of the range leads to one plain request",
        .rule(
            "RFC 9110 §14.4",
            "The recipient of an invalid Content-Range MUST NOT attempt to recombine the received content with a "
                + "stored representation."))
    func fallback() async throws {
        let other = "ABCDEFGHIJ"
        let bad: [MockResponse] = [
            part(4...9, ["ETag": "\"v2\""], text: other), part(4...9, ["ETag": "W/\"v1\""]), part(3...9), part(5...9),
            part(4...8), part(4...9, of: "11"), part(4...9, ["Content-Length": "7"]),
            part(4...9, ["Content-Range": "bytes 4-8/10"]), part(4...9, ["Content-Range": "bytes 4-10/11"]),
            part(4...9, ["Content-Range": "bytes 4-99999999999999999999/10"]), part(4...9, ["Content-Range": ""]),
            part(4...9, ["Content-Range": "bytes 4-9/9223372036854775807"]), part(0...9), part(4...9).gzipped(),
            part(4...9, ["Cache-Control": "no-store"]), .status(416, headers: ["Content-Range": "bytes */4"]),
            .status(304, headers: fresh), .status(412), .status(400), .status(500),
        ]
        for response in bad {
            let fixture = CacheFixture(StubSession(part(0...3), response, whole("true")))
            _ = try await get(fixture, "bytes=0-3")
            let answer = try await get(fixture)
            #expect(answer.statusCode == 200 && answer.text == "true", "\(response.statusCode) \([response.headers])")
            #expect(sent(fixture) == ["bytes=0-3", "bytes=4- \"v1\"", ""])
            #expect(try await get(fixture).text == "true")
        }
    }

    @Test("a part of unknown size completes a known one, and not an unknown one", arguments: ["10", "*"])
    func unknownEnd(size: String) async throws {
        let fixture = CacheFixture(StubSession(part(0...3, of: size), part(4...9, of: "*"), whole()))
        _ = try await get(fixture, "bytes=0-3")
        let answer = try await get(fixture)
        #expect(answer.statusCode == 200 && answer.text == Self.text)
        #expect(fixture.session.requests.count == (size == "*" ? 3 : 2))
    }

    @Test("a part whose bytes contradict the stored ones replaces them")
    func contradiction() async throws {
        let fixture = CacheFixture(StubSession(part(0...3), part(2...5, text: "ABCDEFGHIJ"), whole("true")))
        _ = try await get(fixture, "bytes=0-3")
        _ = try await get(fixture, "bytes=2-5")
        #expect(try await get(fixture, "bytes=2-5").text == "CDEF")
        #expect(try await get(fixture).text == "true")
        #expect(sent(fixture) == ["bytes=0-3", "bytes=2-5", ""])
    }

    @Test("other answers to the completion are the answer", arguments: [404, 503, 429])
    func otherAnswers(status: Int) async throws {
        let fixture = CacheFixture(StubSession(part(0...3), .status(status), part(4...9), whole()))
        _ = try await get(fixture, "bytes=0-3")
        #expect(try await get(fixture).statusCode == status)
        // A failure that may pass keeps the part.
        #expect(try await get(fixture).text == Self.text || status == 404)
    }

    @Test("a stream of the whole requests the bytes after the first ones", arguments: [0, 1])
    func streamed(first: Int) async throws {
        let fixture = CacheFixture(StubSession(part(first...3), first == 0 ? part(4...9) : whole()))
        _ = try await get(fixture, "bytes=\(first)-3")
        let response = try await fixture.response("https://h/", .server) { $0.streamsResponse = true }
        var body = Data()
        for try await chunk in response.bytes { body += chunk }
        #expect(body == Data(Self.text.utf8))
        #expect(sent(fixture) == (first == 0 ? ["bytes=0-3", "bytes=4- \"v1\""] : ["bytes=1-3", ""]))
        #expect(try await get(fixture).cacheOutcome == .hit)
    }

    @Test("no-store, a reload and only-if-cached complete nothing")
    func unwanted() async throws {
        let fixture = CacheFixture(StubSession(part(0...3), whole("once"), whole("new")))
        _ = try await get(fixture, "bytes=0-3")
        let missing = await #expect(throws: NetworkError.self) {
            _ = try await get(fixture, nil, ["Cache-Control": "only-if-cached"])
        }
        #expect(missing?.code == .notCached)
        #expect(try await get(fixture, nil, ["Cache-Control": "no-store"]).text == "once")
        let options = RequestOptions { $0.cachePolicy = .reloadIgnoringLocalCacheData }
        let url = try #require(URL(string: "https://h/"))
        let reloaded = try await fixture.router.response(for: URLEndPoint(.get, url, options: options))
        #expect(reloaded.text == "new" && sent(fixture) == ["bytes=0-3", "", ""])
    }

    // MARK: Cut-off bodies

    // RFC 9111 §3.3: "A cache MAY store a … response that is incomplete … If … the response's … [message] … incomplete"
    @Test("the received bytes of a truncated body are stored and completed", arguments: [false, true])
    func cut(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let cut = whole().with("Content-Length", "10").truncated(after: 3)
            let session = StubSession(cut, part(3...9).truncated(after: 2), part(5...9))
            let fixture = try CacheFixture(session) { now in
                isOnDisk ? try ResponseCache(folder: folder, memoryLimit: 0, now: now) : ResponseCache(now: now)
            }
            for _ in 1...2 {
                let error = await #expect(throws: NetworkError.self) { _ = try await get(fixture) }
                #expect(error?.code == .truncatedBody)
            }
            #expect(try await get(fixture, "bytes=1-4").text == "1234")
            let answer = try await get(fixture)
            #expect(answer.text == Self.text && answer.statusCode == 200)
            #expect(sent(fixture) == ["", "bytes=3- \"v1\"", "bytes=5- \"v1\""])
        }
    }

    @Test("a chunked body that was cut off is completed, its size unknown before")
    func cutChunked() async throws {
        let fixture = CacheFixture(StubSession(whole().chunked(2).truncated(after: 6), part(6...9)))
        await #expect(throws: NetworkError.self) { _ = try await get(fixture) }
        #expect(try await get(fixture).text == Self.text)
        #expect(sent(fixture) == ["", "bytes=6- \"v1\""])
    }

    @Test("nothing is stored of a truncated body that cannot be completed")
    func cutUnusable() async throws {
        let cases: [MockResponse] = [
            .text(Self.text), .text(Self.text, headers: ["ETag": "W/\"v1\""]), whole().with("Accept-Ranges", "none"),
            whole().with("Cache-Control", "no-store"), whole().gzipped(),
            .text(Self.text, statusCode: 203, headers: fresh),
            whole().with("Content-Length", "3"), whole().with("Content-Length", "2"),
            whole().with("Content-Length", "x"),
        ]
        for response in cases {
            let fixture = CacheFixture(StubSession(response.truncated(after: 3), whole("new")))
            await #expect(throws: NetworkError.self) { _ = try await get(fixture) }
            #expect(await fixture.cache.usage.count == 0, "\(response.headers)")
            #expect(try await get(fixture).text == "new")
            #expect(sent(fixture) == ["", ""])
        }
    }

    @Test("a truncated body does not replace a stored whole")
    func cutStale() async throws {
        let fixture = CacheFixture(
            StubSession(whole("old"), .text("newer", headers: ["ETag": "\"v2\""]).truncated(after: 2)))
        _ = try await get(fixture)
        fixture.date.advance(by: 90)
        let answer = try await fixture.response("https://h/", .server) { $0.staleIfError = .seconds(60) }
        #expect(answer.text == "old")
        #expect(try await get(fixture, nil, ["Cache-Control": "max-stale"]).text == "old")
    }

    // MARK: Whose parts

    @Test("parts are separate by URL, Vary, identity and partition")
    func separate() async throws {
        let response = part(0...4, ["Vary": "X-Unit"])
        let fixture = CacheFixture(StubSession { _ in response }) { now in
            ResponseCache(identity: { $0.headers["X-User"] }, now: now)
        }
        _ = try await get(fixture, "bytes=0-4", ["X-Unit": "a", "X-User": "1"])
        _ = try await get(fixture, "bytes=0-4", ["X-Unit": "a", "X-User": "1"])
        #expect(fixture.session.requests.count == 1)
        for headers in [["X-Unit": "b", "X-User": "1"], ["X-Unit": "a", "X-User": "2"]] as [HTTPHeaders] {
            _ = try await get(fixture, "bytes=0-4", headers)
        }
        _ = try await fixture.response("https://h/", .server, headers: ["X-User": "1", "Range": "bytes=0-4"]) {
            $0.partition = "test"
        }
        #expect(fixture.session.requests.count == 4)
    }

    @Test("a part from another URL is not stored")
    func redirected() async throws {
        let session = AdHocSession { [response = part(0...4)] request in
            var answer = NetworkResponse(
                statusCode: 206, headers: response.headers, body: response.body, url: URL(string: "https://h/other"))
            answer.request = request
            return answer
        }
        let cache = ResponseCache()
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [cache])
        let url = try #require(URL(string: "https://h/"))
        let options = RequestOptions { $0.cacheLifetime = .unlimited }
        _ = try await router.response(for: URLEndPoint(.get, url, headers: ["Range": "bytes=0-4"], options: options))
        #expect(await cache.usage.count == 0)
    }

    @Test("a range that an interceptor after the cache changed is not stored")
    func changedBehind() async throws {
        let session = StubSession(part(0...4), part(0...4), whole())
        let cache = ResponseCache()
        let change = CacheStep.changing { $0.headers.set("Range", "bytes=0-4") }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [cache, change])
        let url = try #require(URL(string: "https://h/"))
        for range in [nil, "bytes=2-4"] {
            var headers = HTTPHeaders()
            headers["Range"] = range
            _ = try await router.response(for: URLEndPoint(.get, url, headers: headers))
            #expect(await cache.usage.count == 0)
        }
    }

    @Test("a completion that an interceptor changed is not combined")
    func changedCompletion() async throws {
        let session = StubSession(part(0...3), part(4...9), whole("true"))
        let cache = ResponseCache()
        let change = CacheStep.changing { if $0.headers.contains("If-Range") { $0.headers.set("X-User", "1") } }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [cache, change])
        let url = try #require(URL(string: "https://h/"))
        _ = try await router.response(for: URLEndPoint(.get, url, headers: ["Range": "bytes=0-3"]))
        #expect(try await router.response(for: URLEndPoint(.get, url)).text == "true")
    }

    // RFC 9110 §15.3.7: a 206 to an If-Range need not repeat the fields that the client has.
    @Test("a completion without Vary keeps the variant")
    func keptVary() async throws {
        let fixture = CacheFixture(StubSession(part(0...3, ["Vary": "X-Unit"]), part(4...9))) { now in
            ResponseCache(identity: { _ in "me" }, now: now)
        }
        _ = try await get(fixture, "bytes=0-3", ["X-Unit": "a"])
        for _ in 1...2 { #expect(try await get(fixture, nil, ["X-Unit": "a"]).text == Self.text) }
        #expect(fixture.session.requests.count == 2)
    }

    // RFC 9111 §4.3.1: a 304 that selects a part, or another variant for a range, would answer nothing.
    @Test(
        "tags of parts and of other variants are not sent",
        .rule(
            "RFC 9111 §4.3.2",
            "the cache MUST NOT include its entity tag in the union unless the request is for a range that would be "
                + "fully satisfied by that partial stored response."))
    func tags() async throws {
        for (first, range) in [(part(0...3), nil), (whole(), "bytes=0-1")] as [(MockResponse, String?)] {
            let stored = first.with("Vary", "X-Unit")
            let fixture = CacheFixture(StubSession(stored, stored)) { now in
                ResponseCache(identity: { _ in "me" }, now: now)
            }
            _ = try await get(fixture, first.statusCode == 206 ? "bytes=0-3" : nil, ["X-Unit": "a"])
            _ = try await get(fixture, range, ["X-Unit": "b"])
            #expect(fixture.session.requests[1].headers["If-None-Match"] == nil)
        }
    }

    // RFC 9111 §4.3.5: a HEAD whose validators differ makes the stored response invalid.
    @Test("a HEAD removes a part of another version, and freshens its own", arguments: ["v1", "v2"])
    func head(tag: String) async throws {
        let head = MockResponse.status(
            200, headers: ["ETag": "\"\(tag)\"", "Cache-Control": "max-age=60", "Content-Length": "10"])
        let fixture = CacheFixture(StubSession(part(0...4), head, whole("new")))
        _ = try await get(fixture, "bytes=0-4")
        fixture.date.advance(by: 30)
        let answer = try await fixture.response("https://h/", .server, method: .head)
        #expect(answer.statusCode == 200 && answer.body.isEmpty)
        fixture.date.advance(by: 45)
        #expect(try await get(fixture, "bytes=0-3").text == (tag == "v1" ? "0123" : "new"))
        #expect(fixture.session.requests.count == (tag == "v1" ? 2 : 3))
    }

    @Test("parts that arrive at the same time, in any order, are all stored")
    func concurrent() async throws {
        let gates = ["bytes=0-4": Gate(), "bytes=5-9": Gate()]
        let responses = ["bytes=0-4": part(0...4), "bytes=5-9": part(5...9)]
        let begun = Deliveries<Void>()
        let session = StubSession { request in
            let range = request.headers["Range"] ?? ""
            begun.add(())
            try await gates[range]?.wait()
            return responses[range] ?? .status(500)
        }
        let fixture = CacheFixture(session)
        async let first = get(fixture, "bytes=0-4")
        _ = try await begun.wait(for: 1)
        async let second = get(fixture, "bytes=5-9")
        _ = try await begun.wait(for: 2)
        gates["bytes=5-9"]?.open()
        #expect(try await second.text == "56789")
        gates["bytes=0-4"]?.open()
        #expect(try await first.text == "01234")
        let answer = try await get(fixture)
        #expect(answer.text == Self.text && answer.cacheOutcome == .hit)
    }

    @Test("a damaged position in a file is a miss")
    func damaged() async throws {
        try await withFolder { folder in
            let fixture = try CacheFixture(StubSession(part(4...8), part(4...8))) { now in
                try ResponseCache(folder: folder, memoryLimit: 0, now: now)
            }
            _ = try await get(fixture, "bytes=4-8")
            // The end of the position is the last number before the trailer.
            let name = try #require(names(in: folder).first)
            let size = try Data(contentsOf: folder.appendingPathComponent(name)).count
            try damageStoredFile(in: folder, at: UInt64(size - CacheHead.trailerSize - 8))
            let other = try CacheFixture(fixture.session) { _ in
                try ResponseCache(folder: folder, memoryLimit: 0, now: { [date = fixture.date] in date.now })
            }
            #expect(try await get(other, "bytes=4-8").cacheOutcome == .miss(.notStored))
        }
    }

    @Test(
        "numbers of a file that describe no part are refused",
        arguments: [
            [], [10], [10, 0], [10, 0, 5, 5, 7], [10, 0, 5, 3, 8], [4, 0, 5], [-2, 0, 5], [10, -1, 4], [10, 5, 5],
            [10, 0, .max, .max, 5], [-1, 0, 4], [-1, 1, .max], [-1, 0, 2, 4, 7],
        ])
    func numbers(numbers: [Int]) {
        #expect(CachePart(numbers: numbers, bodyLength: 5) == nil)
        #expect(CachePart(numbers: [-1, 4, 9], bodyLength: 5)?.range == 4..<9)
    }
}
