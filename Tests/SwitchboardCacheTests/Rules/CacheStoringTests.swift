import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// RFC 9111 §3: the responses that a private cache stores.
@Suite(.timeLimit(.minutes(10)))
struct CacheStoringTests {
    // The fixture's clock begins at Tue, 14 Nov 2023 22:13:20 GMT.
    private static let old: HTTPHeaders = ["Last-Modified": "Fri, 03 Nov 2023 22:13:20 GMT"]

    /// Returns the number of exchanges of two equal calls.
    private func exchanges(_ status: Int, _ headers: HTTPHeaders, _ lifetime: ResponseCache.Lifetime = .server) async
        -> Int
    {
        let fixture = CacheFixture(headers: headers, status: status)
        for _ in 1...2 { _ = try? await fixture.get("https://h/", lifetime) }
        return fixture.session.requests.count
    }

    // RFC 9110 §15.1: "responses with status codes that are defined as heuristically cacheable (e.g., 200, 203, 204, 206,
    // 300, 301, 308, 404, 405, 410, 414, and 501 in this specification) can be reused by a cache with heuristic
    // expiration unless otherwise indicated"
    @Test(
        "heuristically cacheable statuses are stored",
        .rule(
            "RFC 9111 §3",
            "the response contains at least one of the following: … or a status code that is defined as "
                + "heuristically cacheable"),
        arguments: [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
    func heuristic(status: Int) async throws {
        #expect(await exchanges(status, Self.old) == 1)
    }

    // RFC 9110 §15.1: "all other status codes are not heuristically cacheable"
    @Test(
        "other statuses are not stored without explicit freshness",
        .rule(
            "RFC 9111 §3",
            "A cache MUST NOT store a response to a request unless: the response contains at least one of the "
                + "following"),
        arguments: [201, 202, 302, 307, 400, 403, 500, 599])
    func notHeuristic(status: Int) async throws {
        let fixture = CacheFixture(headers: Self.old, status: status)
        _ = try? await fixture.get("https://h/", .server)
        #expect(await fixture.cache.usage.count == 0)
    }

    @Test(
        "any final status with explicit freshness is stored",
        .rule(
            "RFC 9111 §3",
            "A cache MUST NOT store a response to a request unless: the no-store cache directive is not present in "
                + "the response"),
        .rule(
            "RFC 9111 §5.2.2.5",
            "a cache MUST NOT store any part of either the immediate request or the response and MUST NOT use the "
                + "response to satisfy any other request."),
        arguments: [200, 201, 202, 302, 303, 307, 400, 403, 404, 418, 499, 500, 502, 503, 504, 599])
    func explicit(status: Int) async throws {
        #expect(await exchanges(status, ["Cache-Control": "max-age=60"]) == 1)
        #expect(await exchanges(status, ["Expires": "Tue, 14 Nov 2023 22:14:20 GMT"]) == 1)
        #expect(await exchanges(status, ["Cache-Control": "max-age=60, no-store"]) == 2)
    }

    // RFC 6585 §3 to §6: "Responses with the 428 status code MUST NOT be stored by a cache.", also 429, 431 and 511. An
    // answer to credentials is not stored either: the next request may carry others.
    @Test("statuses about the client or its credentials are never stored", arguments: [401, 407, 428, 429, 431, 511])
    func unstorable(status: Int) async throws {
        #expect(await exchanges(status, ["Cache-Control": "max-age=60"]) == 2)
    }

    @Test("an app's own lifetime covers successes only, not errors", arguments: [301, 404, 500])
    func ownLifetime(status: Int) async throws {
        for lifetime in [ResponseCache.Lifetime.time(.seconds(60)), .unlimited] {
            #expect(await exchanges(status, [:], lifetime) == 2)
            #expect(await exchanges(status, ["Cache-Control": "max-age=60"], lifetime) == 1)
        }
    }

    // "if the response status code is 206 or 304, or the must-understand cache directive is present: the cache understands
    // the response status code"
    @Test("a 206 is never stored as a whole response")
    func partial() async throws {
        for lifetime in [ResponseCache.Lifetime.server, .unlimited] {
            #expect(await exchanges(206, ["Cache-Control": "max-age=60", "ETag": "\"1\""], lifetime) == 2)
        }
    }

    @Test(
        "must-understand decides by the status",
        .rule(
            "RFC 9111 §3",
            "the must-understand cache directive is present: the cache understands the response status code"),
        .rule(
            "RFC 9111 §5.2.2.3",
            "the cache SHOULD ignore the no-store directive if it understands and implements the status code's "
                + "caching requirements."),
        arguments: [
            (200, "must-understand, max-age=60", 1), (200, "must-understand, no-store, max-age=60", 1),
            (404, "no-store, must-understand, max-age=60", 1), (599, "must-understand, max-age=60", 2),
            (599, "must-understand, no-store, max-age=60", 2), (599, "max-age=60", 1),
        ])
    func mustUnderstand(status: Int, control: String, count: Int) async throws {
        #expect(await exchanges(status, ["Cache-Control": control]) == count)
    }

    @Test(
        "an app's own lifetime does not override must-understand",
        arguments: [(207, "must-understand", 2), (207, "max-age=60", 1), (201, "must-understand, no-store", 1)])
    func mustUnderstandWithOwnLifetime(status: Int, control: String, count: Int) async throws {
        let fixture = CacheFixture(StubSession { _ in .status(status, headers: ["Cache-Control": control]) })
        for _ in 0..<2 { _ = try await fixture.response("https://h/", .unlimited) }
        #expect(fixture.session.requests.count == count)
    }

    // §5.2.2.4: "a cache MAY use the response to satisfy a subsequent request, … if the listed header fields are excluded"
    @Test("fields that no-cache names are left out, and the response is a hit")
    func noCacheFields() async throws {
        let fixture = CacheFixture(headers: [
            "Cache-Control": "max-age=60, no-cache=\"X-Secret, x-other\"", "X-Secret": "1", "X-Other": "2",
            "X-Kept": "3",
        ])
        let first = try await fixture.response("https://h/", .server)
        #expect(first.headers["X-Secret"] == "1")
        let hit = try await fixture.response("https://h/", .server)
        #expect(hit.cacheAge != nil && hit.headers["X-Kept"] == "3")
        #expect(hit.headers["X-Secret"] == nil && hit.headers["X-Other"] == nil)
    }

    // §5.2.2.7: "the private response directive indicates that a shared cache MUST NOT store the response"
    @Test("private, with and without fields, restricts a private cache in nothing")
    func privateFields() async throws {
        for control in ["private, max-age=60", "private=\"X-Mine\", max-age=60"] {
            let fixture = CacheFixture(headers: ["Cache-Control": control, "X-Mine": "1"])
            _ = try await fixture.get("https://h/", .server)
            let hit = try await fixture.response("https://h/", .server)
            #expect(hit.cacheAge != nil && hit.headers["X-Mine"] == "1")
        }
    }

    // §3.5: "A shared cache MUST NOT use a cached response to a request with an Authorization header field" otherwise.
    @Test("a response to a request with Authorization is stored for its user")
    func authorization() async throws {
        let fixture = CacheFixture(headers: ["Cache-Control": "max-age=60"])
        var texts: [String] = []
        for user in ["anna", "anna", "ben", "anna"] {
            texts.append(try await fixture.get("https://h/", .server, headers: ["Authorization": "Bearer \(user)"]))
        }
        #expect(texts == ["1", "1", "2", "1"])
    }

    @Test(
        "an interim status is not stored",
        .rule(
            "RFC 9111 §3", "A cache MUST NOT store a response to a request unless: the response status code is final"),
        arguments: [100, 103, 199])
    func interim(status: Int) async throws {
        for lifetime in [ResponseCache.Lifetime.server, .unlimited] {
            #expect(await exchanges(status, ["Cache-Control": "public, max-age=60", "ETag": "\"1\""], lifetime) == 2)
        }
    }

    @Test(
        "only GET and HEAD are stored and answered; the others are sent",
        .rule(
            "RFC 9111 §3",
            "A cache MUST NOT store a response to a request unless: the request method is understood by the cache"),
        .rule("RFC 9111 §4", "A cache MUST write through requests with methods that are unsafe to the origin server"),
        .rule(
            "RFC 9111 §4",
            "the request method associated with the stored response allows it to be used for the presented request"),
        arguments: [
            HTTPMethod.post, .put, .patch, .delete, .options, .trace, HTTPMethod("QUERY"),
        ])
    func methods(method: HTTPMethod) async throws {
        for lifetime in [ResponseCache.Lifetime.server, .unlimited] {
            let fixture = CacheFixture(headers: ["Cache-Control": "public, max-age=60"])
            _ = try await fixture.get("https://h/", lifetime)
            for text in ["2", "3"] {
                let response = try await fixture.response("https://h/", lifetime, method: method)
                #expect(response.text == text && response.cacheAge == nil)
            }
            let isSafe = [.options, .trace].contains(method)
            #expect(try await fixture.get("https://h/", lifetime) == (isSafe ? "1" : "4"))
        }
    }

    @Test(
        "no-store leaves no byte on disk",
        .rule(
            "RFC 9111 §5.2.1.5",
            "the cache MUST NOT intentionally store the information in non-volatile storage and MUST make a best-effort "
                + "attempt to remove the information from volatile storage"),
        .rule(
            "RFC 9111 §5.2.2.5",
            "the cache MUST NOT intentionally store the information in non-volatile storage and MUST make a best-effort "
                + "attempt to remove the information from volatile storage"))
    func noStoreOnDisk() async throws {
        try await withFolder { folder in
            for (isAsked, lifetime) in [(false, ResponseCache.Lifetime.server), (true, .server), (false, .unlimited)] {
                let headers: HTTPHeaders = ["Cache-Control": isAsked ? "max-age=60" : "no-store, max-age=60"]
                let fixture = try CacheFixture(headers: headers) { try ResponseCache(folder: folder, now: $0) }
                _ = try await fixture.get(
                    "https://h/", lifetime, headers: isAsked ? ["Cache-Control": "no-store"] : [:])
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
                let usage = await fixture.cache.usage
                #expect(usage.count == 0 && usage.memory == 0 && usage.disk == 0)
            }
        }
    }
}
