import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// RFC 9111 §4.3 and RFC 5861 §4: validation, and failures during it.
@Suite(.timeLimit(.minutes(10)))
struct CacheValidationTests {
    private func fixture(_ session: StubSession) -> CacheFixture {
        CacheFixture(session) { ResponseCache(identity: { _ in "me" }, now: $0) }
    }

    private func variant(_ text: String, _ tag: String?) -> MockResponse {
        var headers: HTTPHeaders = ["Vary": "X-Unit", "Cache-Control": "max-age=60"]
        headers["ETag"] = tag
        return .text(text, headers: headers)
    }

    // §4.1: "If no stored response matches, … the request is forwarded to the origin server, potentially with preconditions
    // added to describe what responses the cache has already stored"
    @Test(
        "the tags of all variants are sent, and a 304 selects one (§4.3.4)",
        .rule(
            "RFC 9111 §4.3.1",
            "MUST send the relevant entity tags (using If-Match, If-None-Match, or If-Range) if the entity tags "
                + "were provided in the stored response(s) being validated."),
        .rule(
            "RFC 9110 §13.1.2",
            "the client SHOULD generate an If-None-Match header field containing a list of those entity tags when "
                + "making a GET request"))
    func allTags() async throws {
        let fixture = fixture(
            StubSession(
                variant("a", "\"a\""), variant("b", "W/\"b\""), variant("c", nil), variant("d", "no tag"),
                .status(304, headers: ["ETag": "\"b\"", "X-New": "1"]), variant("a2", "\"a2\"")))
        for unit in ["a", "b", "c", "d"] {
            _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": unit])
        }
        let new = try await fixture.response("https://h/", .server, headers: ["X-Unit": "e"])
        let asked = fixture.session.requests.last?.headers["If-None-Match"]
        #expect(asked?.split(separator: ", ").sorted() == ["\"a\"", "W/\"b\""])
        #expect(new.text == "b" && new.headers["X-New"] == "1" && new.cacheOutcome == .validated(.otherVariant))
        // It is a separate variant now, and the selected one is as it was.
        #expect(try await fixture.get("https://h/", .server, headers: ["X-Unit": "e"]) == "b")
        let other = try await fixture.response("https://h/", .server, headers: ["X-Unit": "b"])
        #expect(other.text == "b" && other.headers["X-New"] == nil)
        fixture.date.advance(by: 60)
        #expect(try await fixture.get("https://h/", .server, headers: ["X-Unit": "a"]) == "a2")
        #expect(fixture.session.requests.last?.headers["If-None-Match"]?.hasPrefix("\"a\", ") == true)
    }

    @Test("the tags that are used most recently are sent, up to 4 KiB in all", arguments: [false, true])
    func longTags(isOnDisk: Bool) async throws {
        @Sendable func tag(_ unit: String) -> String { "\"\(unit)\(String(repeating: "e", count: 1_500))\"" }
        let session = StubSession { request in
            let unit = request.headers["X-Unit"] ?? ""
            let tag = unit == "long" ? "\"\(String(repeating: "e", count: 4_095))\"" : tag(unit)
            return .text(unit, headers: ["Vary": "X-Unit", "Cache-Control": "max-age=60", "ETag": tag])
        }
        try await withFolder { folder in
            let fixture = try CacheFixture(session, in: isOnDisk ? folder : nil)
            for unit in ["a", "b", "c", "a", "long", "d"] {
                _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": unit])
            }
            // "a" was used last, and a tag that is too long is not sent.
            #expect(session.requests.last?.headers["If-None-Match"] == "\(tag("a")), \(tag("c"))")
            fixture.date.advance(by: 60)
            _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": "b"])
            #expect(session.requests.last?.headers["If-None-Match"] == "\(tag("b")), \(tag("d"))")
        }
    }

    @Test(
        "a validator of more than 4 KiB is not sent",
        arguments: [
            (4_097, 29, nil, nil), (4_096, 4_097, "tag", nil), (4_096, 29, "tag", "date"), (nil, 4_097, nil, nil),
        ]
            as [(Int?, Int, String?, String?)])
    func longValidator(tag: Int?, date: Int, sentTag: String?, sentDate: String?) async throws {
        let changed = "Tue, 14 Nov 2000 22:13:20 GMT" + String(repeating: "x", count: date - 29)
        var headers: HTTPHeaders = ["Cache-Control": "max-age=60", "Last-Modified": changed]
        headers["ETag"] = tag.map { "\"\(String(repeating: "e", count: $0 - 2))\"" }
        let fixture = CacheFixture(headers: headers)
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 60)
        #expect(try await fixture.get("https://h/", .server) == "2")
        let sent = fixture.session.requests.last?.headers
        #expect(sent?["If-None-Match"] == (sentTag == nil ? nil : headers["ETag"]))
        #expect(sent?["If-Modified-Since"] == (sentDate == nil ? nil : changed))
    }

    // §4.3.4: "If the new response does not include any form of validator … and there is only one stored response"
    @Test("a 304 without a tag selects nothing among several tags")
    func noTag() async throws {
        let fixture = fixture(
            StubSession(variant("a", "\"a\""), variant("b", "\"b\""), .status(304), variant("a2", "\"a2\"")))
        for unit in ["a", "b"] { _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": unit]) }
        fixture.date.advance(by: 60)
        #expect(try await fixture.get("https://h/", .server, headers: ["X-Unit": "a"]) == "a2")
        #expect(fixture.session.requests.last?.headers["If-None-Match"] == nil)
    }

    // §4.3.4: "each of those strong validators identifies a selected representation for update. All the stored responses
    // with one of those same strong validators are identified for update."
    @Test(
        "a 304 with a strong tag freshens all variants that have it",
        .rule(
            "RFC 9111 §4.3.4",
            "For each stored response identified, the cache MUST update its header fields with the header fields "
                + "provided in the 304 (Not Modified) response."),
        arguments: [false, true])
    func strongTag(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let session = StubSession(
                variant("a", "\"s\""), variant("b", "\"s\""), variant("c", "W/\"s\""),
                .status(304, headers: ["ETag": "\"s\"", "X-New": "1"]), variant("c2", nil))
            let fixture = try CacheFixture(session, in: isOnDisk ? folder : nil)
            for unit in ["a", "b", "c"] { _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": unit]) }
            fixture.date.advance(by: 60)
            var answers: [String] = []
            for unit in ["a", "b", "c"] {
                let response = try await fixture.response("https://h/", .server, headers: ["X-Unit": unit])
                answers.append(response.text + (response.headers["X-New"] ?? ""))
            }
            #expect(answers == ["a1", "b1", "c2"])
        }
    }

    // RFC 9110 §8.8.3.2 compares tags "character-by-character", and an `obs-text` character is one byte.
    @Test("a 304 freshens no variant with other bytes in its strong tag", arguments: [false, true])
    func otherBytesOfTag(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let session = StubSession(
                variant("a", "\"\u{E9}\""), variant("b", "\"e\u{301}\""),
                .status(304, headers: ["ETag": "\"\u{E9}\""]), variant("b2", nil))
            let fixture = try CacheFixture(session, in: isOnDisk ? folder : nil)
            for unit in ["a", "b"] { _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": unit]) }
            fixture.date.advance(by: 60)
            for (unit, text) in [("a", "a"), ("b", "b2")] {
                #expect(try await fixture.get("https://h/", .server, headers: ["X-Unit": unit]) == text)
            }
        }
    }

    @Test("a 304 with a weak tag freshens only the requested variant")
    func weakTag() async throws {
        let fixture = fixture(
            StubSession(
                variant("a", "W/\"w\""), variant("b", "W/\"w\""), .status(304, headers: ["ETag": "W/\"w\""]),
                variant("b2", nil)))
        for unit in ["a", "b"] { _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": unit]) }
        fixture.date.advance(by: 60)
        for (unit, text) in [("a", "a"), ("b", "b2")] {
            #expect(try await fixture.get("https://h/", .server, headers: ["X-Unit": unit]) == text)
        }
    }

    // §4.3.4: "if the new response contains … a weak validator, then the stored responses with the same … validator"
    @Test("a 304 that names another time of change causes a full reload")
    func otherChange() async throws {
        let changed = "Tue, 14 Nov 2023 22:13:20 GMT"
        let fixture = CacheFixture(
            StubSession(
                .text("old", headers: ["Last-Modified": changed]),
                .status(304, headers: ["Last-Modified": "Tue, 14 Nov 2023 22:13:21 GMT"]), .text("new")))
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 60)
        #expect(try await fixture.get("https://h/", .server) == "new")
        #expect(fixture.session.requests[1].headers["If-Modified-Since"] == changed)
    }

    // §4.3.4: "If the new response does not include any form of validator … and there is only one stored response, and
    // that stored response also lacks a validator, then that stored response is identified for update."
    @Test("a 304 without a tag is about the variant whose tag was sent")
    func otherTag() async throws {
        let session = StubSession(
            variant("a", "\"s\""),
            .text("none", statusCode: 404, headers: ["Vary": "X-Unit", "Cache-Control": "max-age=60"]),
            .status(304))
        let fixture = CacheFixture(session) { ResponseCache(identity: { _ in "me" }, now: $0) }
        _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": "a"])
        _ = try? await fixture.get("https://h/", .server, headers: ["X-Unit": "b"])
        fixture.date.advance(by: 60)
        let response = try await fixture.response("https://h/", .server, headers: ["X-Unit": "b"])
        #expect(session.requests.last?.headers["If-None-Match"] == "\"s\"")
        #expect(response.statusCode == 200 && response.text == "a")
    }

    @Test(
        "a 304 without Date arrives when the clock says",
        .rule(
            "RFC 9110 §6.6.1",
            "A recipient with a clock that receives a response message without a Date header field MUST record the "
                + "time it was received"))
    func undated() async throws {
        let fixture = CacheFixture(
            StubSession(
                .text(
                    "old",
                    headers: [
                        "ETag": "\"1\"", "Date": "Tue, 14 Nov 2023 22:13:20 GMT",
                        "Expires": "Tue, 14 Nov 2023 22:14:20 GMT",
                    ]), .status(304, headers: ["ETag": "\"1\""]), .text("new")))
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 60)
        #expect(try await fixture.get("https://h/", .server) == "old")
        // The response expired at its Expires, a minute after its first Date.
        #expect(try await fixture.get("https://h/", .server) == "new")
    }

    @Test(
        "a 304 updates the fields, except those about the body and no-cache's",
        .rule(
            "RFC 9111 §3.2",
            "the cache MUST add each header field in the provided response to the stored response, replacing field "
                + "values that are already present, with the following exceptions"),
        .rule(
            "RFC 9111 §3.2",
            "but SHOULD limit such omission to those fields necessary to assure integrity of the stored response."))
    func updates() async throws {
        let control = "max-age=60, no-cache=\"X-Secret\""
        let fixture = CacheFixture(
            StubSession(
                .text(
                    "old", headers: ["ETag": "\"1\"", "Content-Type": "text/a", "X-Old": "1", "Cache-Control": control]),
                .status(
                    304,
                    headers: [
                        "Content-Length": "9", "Content-Type": "text/b", "Content-Encoding": "x", "Content-Range": "y",
                        "X-New": "2", "X-Old": "3", "X-Secret": "4", "ETag": "\"1\"", "Set-Cookie": "a=b",
                    ])))
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 60)
        for cookie in ["a=b", nil] {
            let response = try await fixture.response("https://h/", .server)
            #expect(response.text == "old" && response.headers["Content-Type"] == "text/a")
            #expect(response.headers["Content-Length"] != "9" && response.headers["Content-Encoding"] == nil)
            #expect(response.headers["Content-Range"] == nil && response.headers["Set-Cookie"] == cookie)
            #expect(response.headers["X-New"] == "2" && response.headers["X-Old"] == "3")
            #expect(response.headers["X-Secret"] == nil)
        }
        #expect(fixture.session.requests.count == 2)
    }

    // §2: "a cache can use a stored response to a GET to satisfy a HEAD"; RFC 9110 §9.3.2.
    @Test(
        "a HEAD is answered from a stored GET, without its body",
        .rule(
            "RFC 9111 §4",
            "the request method associated with the stored response allows it to be used for the presented request"))
    func head() async throws {
        let fixture = CacheFixture(headers: ["Cache-Control": "max-age=60", "X-Kept": "1"])
        #expect(try await fixture.response("https://h/", .server, method: .head).cacheAge == nil)
        _ = try await fixture.get("https://h/", .server)
        let head = try await fixture.response("https://h/", .server, method: .head)
        #expect(head.cacheAge != nil && head.body.isEmpty && head.headers["X-Kept"] == "1")
        #expect(fixture.session.requests.map(\.method) == [.head, .get])
        #expect(try await fixture.get("https://h/", .server) == "2")
    }

    @Test(
        "a HEAD freshens the stored GET, or makes it stale",
        .rule(
            "RFC 9111 §4.3.5",
            "the cache SHOULD update or invalidate each of its stored GET responses that could have been chosen for "
                + "that request."),
        .rule(
            "RFC 9111 §4.3.5",
            "if the stored response and HEAD response have matching values … the cache SHOULD update the stored "
                + "response …; otherwise, the cache SHOULD consider the stored response to be stale."),
        .rule(
            "RFC 9111 §4.3.5",
            "the cache MUST use the header fields provided in the HEAD response to update the stored response."),
        arguments: [
            (["ETag": "\"1\""], 200, true), (["Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT"], 200, true),
            (["Content-Length": "3"], 200, true), ([:], 200, true), (["ETag": "\"2\""], 200, false),
            (["ETag": "\"1\"", "Content-Length": "4"], 200, false),
            (["Last-Modified": "Tue, 14 Nov 2023 22:13:21 GMT"], 200, false), (["ETag": "\"2\""], 404, nil),
        ] as [(HTTPHeaders, Int, Bool?)])
    func headFreshens(headers: HTTPHeaders, status: Int, isFresh: Bool?) async throws {
        let stored: HTTPHeaders = [
            "ETag": "\"1\"", "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT", "Cache-Control": "max-age=60",
        ]
        let session = StubSession(
            .text("old", headers: stored),
            .status(status, headers: headers.merging(["Cache-Control": "max-age=600", "X-New": "1"])), .text("new"))
        let fixture = CacheFixture(session)
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 60)
        _ = try? await fixture.response("https://h/", .server, method: .head)
        let next = try await fixture.response("https://h/", .server)
        #expect(next.text == (isFresh == true ? "old" : "new"))
        #expect((next.headers["X-New"] == "1") == (isFresh == true))
        // A HEAD with an error leaves the stored response, which is validated.
        if isFresh != true { #expect((session.requests.last?.headers["If-None-Match"] == nil) == (isFresh == false)) }
    }

    // nginx marks the tag of a body that it compresses as weak, and compresses none for a HEAD.
    @Test("a HEAD freshens the stored GET also if only one of their tags is weak")
    func weakTagOfHead() async throws {
        let fields: HTTPHeaders = ["Cache-Control": "max-age=60"]
        let fixture = CacheFixture(
            StubSession(
                .text("old", headers: fields.merging(["ETag": "W/\"1\""])),
                .status(200, headers: fields.merging(["ETag": "\"1\""]))))
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 61)
        _ = try await fixture.response("https://h/", .server, method: .head)
        #expect(try await fixture.response("https://h/", .server).cacheOutcome == .hit)
    }

    // RFC 5861 §4: "it indicates that a cached stale response MAY be used to satisfy the request, regardless of other
    // freshness information … as a request directive"
    @Test(
        "a request's stale-if-error allows a stale answer to a failure",
        arguments: [(500, 60, true), (503, 60, true), (503, 61, false), (501, 1, false), (404, 1, false)],
        [HTTPMethod.get, .head])
    func requestStaleIfError(_ answer: (status: Int, age: TimeInterval, isUsed: Bool), method: HTTPMethod) async throws
    {
        let fixture = CacheFixture(
            StubSession(
                .text("old", headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""]), .status(answer.status)))
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 60 + answer.age)
        let response = try? await fixture.response(
            "https://h/", .server, method: method, headers: ["Cache-Control": "stale-if-error=60"])
        #expect((response?.statusCode == 200) == answer.isUsed)
        #expect((response?.text == "old") == (answer.isUsed && method == .get))
        #expect((response?.cacheOutcome == .stale(.serverFailed)) == answer.isUsed)
    }

    @Test("a stored error answers later calls, but not the retry of its own")
    func retry() async throws {
        let fresh: HTTPHeaders = ["Cache-Control": "max-age=86400"]
        let session = StubSession(
            .text("down", statusCode: 503, headers: fresh), .text("still", statusCode: 503, headers: fresh), .text("up")
        )
        let router = Router<URLEndPoint>(
            session: session, interceptors: [RetryPolicy(maximumAttempts: 2, strategy: .immediate)],
            exchangeInterceptors: [ResponseCache()])
        let endPoint = URLEndPoint(.get, URL(text: "https://h/"))
        for _ in 1...2 {
            _ = try? await router.response(for: endPoint)
            #expect(session.requests.count == 2)
        }
    }

    @Test("a stored error of any status answers no retry of its call", arguments: [404, 408, 503], [false, true])
    func retries(status: Int, isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let session = StubSession(
                .text("down", statusCode: status, headers: ["Cache-Control": "max-age=86400"]), .text("up"))
            var policy = RetryPolicy(maximumAttempts: 2, strategy: .immediate)
            policy.statusCodes.insert(404)
            let cache = isOnDisk ? try ResponseCache(folder: folder, memoryLimit: 0) : ResponseCache()
            let router = Router<URLEndPoint>(session: session, interceptors: [policy], exchangeInterceptors: [cache])
            let response = try await router.response(for: URLEndPoint(.get, URL(text: "https://h/")))
            #expect(response.text == "up")
        }
    }

    // RFC 9110 §15.4: "A client SHOULD detect and intervene in cyclical redirections".
    @Test("a stored redirect that leads back to its URL is loaded again", arguments: [false, true])
    func movedBack(wasLoop: Bool) async throws {
        let change = Deliveries<Void>()
        let session = StubSession { request in
            let hasMoved = !change.all.isEmpty
            let target = request.path == "/a" ? (hasMoved ? nil : "/b") : wasLoop || hasMoved ? "/a" : nil
            guard let target else { return .text(request.path) }
            return .status(301, headers: ["Location": target, "Cache-Control": "max-age=86400"])
        }
        let fixture = CacheFixture(session)
        let first = try? await fixture.get("https://h/a", .server)
        #expect(first == (wasLoop ? nil : "/b"))
        change.add(())
        // Its stored redirect still leads to /b.
        for url in ["https://h/a", "https://h/a", "https://h/b"] {
            #expect(try await fixture.get(url, .server) == "/a")
        }
    }

    @Test("a stored redirect answers each call of a chain once")
    func storedChain() async throws {
        let session = StubSession { request in
            let targets = ["/a": "/b", "/b": "/c"]
            guard let target = targets[request.path] else {
                return .text("c", headers: ["Cache-Control": "max-age=60"])
            }
            return .status(301, headers: ["Location": target, "Cache-Control": "max-age=86400"])
        }
        let fixture = CacheFixture(session)
        for _ in 1...3 { #expect(try await fixture.get("https://h/a", .server) == "c") }
        #expect(session.requests.count == 3)
    }

    @Test("a stored error does not stand in for a new one")
    func storedError() async throws {
        let fixture = CacheFixture(
            StubSession(
                .text("down", statusCode: 503, headers: ["Cache-Control": "max-age=60"]), .text("x", statusCode: 500)))
        _ = try? await fixture.get("https://h/", .server)
        fixture.date.advance(by: 61)
        let error = await #expect(throws: NetworkError.self) {
            try await fixture.get("https://h/", .server) { $0.staleIfError = .seconds(600) }
        }
        #expect(error?.statusCode == 500)
    }

    @Test(
        "conditions of the app reach the server unchanged",
        .rule(
            "RFC 9111 §4.3.2", "A cache MUST NOT evaluate conditional header fields that only apply to an origin server"
        ),
        arguments: ["If-Match", "If-Unmodified-Since"])
    func ownConditions(name: String) async throws {
        let value = name == "If-Match" ? "\"2\"" : "Tue, 14 Nov 2000 22:13:20 GMT"
        let headers: HTTPHeaders = [
            "Cache-Control": "max-age=60", "ETag": "\"1\"", "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT",
        ]
        for isStored in [true, false] {
            let fixture = fixture(
                StubSession { request in
                    request.headers[name] == nil ? .text("1", headers: headers) : .status(412)
                })
            if isStored { _ = try await fixture.get("https://h/", .server) }
            let error = await #expect(throws: NetworkError.self) {
                try await fixture.get("https://h/", .server, headers: [name: value])
            }
            #expect(error?.statusCode == 412)
            let sent = fixture.session.requests.last?.headers.filter { $0.name.hasPrefix("If-") }
            #expect(sent?.map(\.name) == [name] && sent?.map(\.value) == [value])
        }
    }

    @Test(
        "a stale answer shows its age and its outcome",
        .rule("RFC 5861 §4", "stale cached responses that are used SHOULD still be visibly stale when sent"),
        .rule(
            "RFC 9111 §4.2.4",
            "A cache MUST NOT generate a stale response unless it is disconnected or doing so is explicitly permitted by "
                + "the client or origin server"),
        arguments: [("max-age=60, stale-if-error=60", true), ("max-age=60", false)])
    func visiblyStale(control: String, isAllowed: Bool) async throws {
        let fixture = CacheFixture(StubSession(.text("1", headers: ["Cache-Control": control]), .status(503)))
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 90)
        let response = try? await fixture.response("https://h/", .server)
        #expect((response?.headers["Age"] == "90") == isAllowed)
        #expect((response?.cacheOutcome == .stale(.serverFailed)) == isAllowed)
    }

    @Test("a 304 with must-understand and no-store keeps the stored response")
    func mustUnderstand() async throws {
        let headers: HTTPHeaders = ["Cache-Control": "must-understand, no-store, max-age=60", "ETag": "\"1\""]
        let fixture = CacheFixture(
            StubSession { request in
                request.headers["If-None-Match"] == nil ? .text("a", headers: headers) : .status(304, headers: headers)
            })
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 61)
        #expect(try await fixture.response("https://h/", .server).cacheOutcome == .validated(.expired))
        #expect(try await fixture.response("https://h/", .server).cacheOutcome == .hit)
    }

    @Test("a HEAD that was redirected does not make the stored response fresh")
    func redirectedHead() async throws {
        let session = StubSession { request in
            switch (request.method, request.path) {
            case (.head, "/a"): .redirect(to: "https://h/b")
            case (.head, _): .status(200, headers: ["Cache-Control": "max-age=600"])
            default: .text("a", headers: ["Cache-Control": "max-age=60"])
            }
        }
        let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
        let cache = ResponseCache(identity: { _ in "me" }) { date.now }
        let router = Router<URLEndPoint>(session: session, interceptors: [cache])
        let url = URL(text: "https://h/a")
        _ = try await router.response(for: URLEndPoint(.get, url))
        _ = try await router.response(for: URLEndPoint(.head, url, headers: ["Cache-Control": "no-cache"]))
        date.advance(by: 61)
        let later = try await router.response(for: URLEndPoint(.get, url))
        #expect(later.cacheOutcome != .hit && session.requests.last?.method == .get)
    }

    @Test("a HEAD whose query a later interceptor changes removes no response")
    func changedQueryOfHead() async throws {
        let count = Deliveries<Void>()
        let counted = CacheStep.changing { request in
            count.add(())
            request.url = URL(string: "https://h/a?count=\(count.all.count)")
        }
        let session = StubSession { _ in .text("a", headers: ["Cache-Control": "max-age=60"]) }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [ResponseCache(identity: { _ in "me" })], exchangeInterceptors: [counted])
        let url = URL(text: "https://h/a")
        let get = URLEndPoint(.get, url, options: RequestOptions { $0.cacheLifetime = .unlimited })
        _ = try await router.response(for: get)
        _ = try await router.response(for: URLEndPoint(.head, url, headers: ["Cache-Control": "no-cache"]))
        #expect(try await router.response(for: get).cacheOutcome == .hit)
        #expect(session.requests.map(\.method) == [.get, .head])
    }

    @Test("a 304 selects no variant to which a redirect led")
    func redirectedVariant() async throws {
        let headers: HTTPHeaders = ["Vary": "X-Unit", "ETag": "\"1\""]
        let session = StubSession { request in
            switch (request.path, request.headers["X-Unit"]) {
            case ("/a", "b"): .redirect(to: "https://h/b")
            case ("/a", _) where request.headers["If-None-Match"] != nil: .status(304, headers: headers)
            default: .text(request.path, headers: headers)
            }
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [ResponseCache(identity: { _ in "me" })])
        let options = RequestOptions { $0.cacheLifetime = .time(.seconds(60)) }
        var texts: [String] = []
        for unit in ["b", "a"] {
            let endPoint = URLEndPoint(.get, URL(text: "https://h/a"), headers: ["X-Unit": unit], options: options)
            texts.append(try await router.response(for: endPoint).text)
        }
        #expect(texts == ["/b", "/a"])
    }
}
