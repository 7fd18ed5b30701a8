import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

struct RetryAfterTests {
    // 1994-11-06 08:49:37 UTC, the date of the examples of RFC 9110 §5.6.7.
    private static let now = Date(timeIntervalSince1970: 784_111_777)

    @Test(
        "Retry-After is seconds or a date in a form of RFC 9110 §5.6.7", .requirement("S2.19"),
        arguments: [
            ("120", Duration.seconds(120)), ("0", .zero), ("Sun, 06 Nov 1994 08:50:07 GMT", .seconds(30)),
            ("Sunday, 06-Nov-94 08:50:07 GMT", .seconds(30)), ("Sun Nov  6 08:50:07 1994", .seconds(30)),
            ("Sun, 06 Nov 1994 08:49:00 GMT", .zero), ("soon", nil), ("", nil), ("-1", nil), ("1.5", nil), ("1e3", nil),
            ("99999999999999999999", .seconds(4_294_967_295)),
        ] as [(String, Duration?)])
    func retryAfter(value: String, wait: Duration?) {
        for status in [200, 301, 429, 503] {
            let response = NetworkResponse(statusCode: status, headers: ["Retry-After": value])
            #expect(response.retryAfter(now: Self.now) == wait)
        }
    }

    @Test("a date counts from the Date of the response")
    func serverDate() {
        var response = NetworkResponse(
            statusCode: 503,
            headers: ["Date": "Sun, 06 Nov 1994 08:50:37 GMT", "Retry-After": "Sun, 06 Nov 1994 08:50:47 GMT"])
        #expect(response.retryAfter(now: Self.now) == .seconds(10))
        response.headers["Age"] = "4"
        #expect(response.retryAfter(now: Self.now) == .seconds(6))
        response.headers["Date"] = "now"
        #expect(response.retryAfter(now: Self.now) == .seconds(70))
    }

    @Test(
        "RateLimit fields set a wait for 429 and 503 when nothing remains", .requirement("S2.19"),
        arguments: [
            // draft-ietf-httpapi-ratelimit-headers-03 §5.1 and -07 §3.3, -09 §4: seconds from now.
            (["RateLimit-Limit": "100", "RateLimit-Remaining": "0", "RateLimit-Reset": "50"], Duration.seconds(50)),
            (["RateLimit": "limit=100, remaining=0, reset=5"], .seconds(5)),
            (["RateLimit": "limit=100, remaining=3, reset=5"], nil),
            (["RateLimit": "\"default\";r=0;t=30"], .seconds(30)),
            (["RateLimit": "\"default\";r=50;t=30"], nil),
            (["RateLimit": "\"a\";r=0;t=10, \"b\";r=7;t=90, \"c\";r=0;t=20"], .seconds(20)),
            (["RateLimit-Remaining": "1", "RateLimit-Reset": "50"], nil),
            (["RateLimit-Reset": "50"], .seconds(50)), (["RateLimit-Reset": "1700000042"], .seconds(42)),
            (["RateLimit-Reset": "1700000042000"], .seconds(42)),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": "1.5"], .milliseconds(1_500)),
            // GitHub and X send seconds since 1970. Others send seconds from now, or milliseconds. Numbers below 10^9
            // count as seconds from now.
            (["x-rate-limit-remaining": "0", "x-rate-limit-reset": "1700000042"], .seconds(42)),
            (["X-RateLimit-Reset": "1700000042"], .seconds(42)), (["X-RateLimit-Reset": "30"], .seconds(30)),
            (["X-RateLimit-Reset": "1700000042000"], .seconds(42)), (["X-RateLimit-Reset": "1600000000"], .zero),
            (["X-RateLimit-Reset": "tomorrow"], nil), (["X-RateLimit-Reset": "-5"], nil),
            (["X-RateLimit-Reset": ""], nil),
            (["RateLimit-Reset": "0x10"], nil), (["RateLimit-Reset": "inf"], nil), (["RateLimit": "t"], nil),
            (["RateLimit-Reset": String(repeating: "9", count: 300)], .seconds(3_155_760_000)),
            // Retry-After is more exact and wins.
            (["RateLimit-Reset": "50", "Retry-After": "2"], .seconds(2)),
        ] as [([String: String], Duration?)])
    func rateLimit(headers: [String: String], wait: Duration?) {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        for status in [429, 503] {
            let response = NetworkResponse(statusCode: status, headers: HTTPHeaders(headers))
            #expect(response.retryAfter(now: now) == wait)
        }
        guard headers["Retry-After"] == nil else { return }
        #expect(NetworkResponse(statusCode: 200, headers: HTTPHeaders(headers)).retryAfter(now: now) == nil)
        #expect(NetworkResponse(statusCode: 500, headers: HTTPHeaders(headers)).retryAfter(now: now) == nil)
    }
}
