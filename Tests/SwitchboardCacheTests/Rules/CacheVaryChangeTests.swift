import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// RFC 9111 §4.3.4: a 304 with another `Vary`.
@Suite(.timeLimit(.minutes(10)))
struct CacheVaryChangeTests {
    // §4.3.4: "All the stored responses with one of those same strong validators are identified for update." The values
    // of a field that the new Vary names were not stored with the other variants.
    @Test("a 304 that adds to Vary removes the other variants of its tag", arguments: [false, true])
    func addedVary(isOnDisk: Bool) async throws {
        let answers = try await variants(of: ["Vary": "X-Unit, X-Color"], isOnDisk: isOnDisk)
        #expect(answers == ["a1", "a2 validated", "c hit"])
    }

    @Test("a 304 that removes from Vary freshens the other variants of its tag")
    func removedVary() async throws {
        let answers = try await variants(of: ["Vary": "X-Unit"], before: "X-Unit, X-Color")
        #expect(answers == ["a1", "b1 hit", "c hit"])
    }

    @Test("a 304 that removes from Vary replaces no more recent response", arguments: [false, true])
    func recentVariant(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let old: HTTPHeaders = ["Vary": "X-Unit, X-Color", "ETag": "\"s\"", "Cache-Control": "max-age=60"]
            let rules: HTTPHeaders = ["Vary": "X-Color", "Cache-Control": "max-age=60"]
            let session = StubSession(
                .text("old", headers: old), .text("old", headers: old),
                .text("new", headers: rules.merging(["Date": "Tue, 14 Nov 2023 22:13:20 GMT"])),
                .status(304, headers: rules.merging(["ETag": "\"s\"", "Date": "Tue, 14 Nov 2023 22:13:19 GMT"])))
            let fixture = try CacheFixture(session, in: isOnDisk ? folder : nil)
            func get(_ unit: String, _ color: String, noCache: Bool = false) async throws -> String {
                try await fixture.get("https://h/", .server, headers: ["X-Unit": unit, "X-Color": color]) {
                    $0.cacheDirectives.noCache = noCache
                }
            }
            #expect(try await [get("a", "red"), get("a", "blue"), get("b", "red")] == ["old", "old", "new"])
            #expect(try await get("a", "blue", noCache: true) == "old")
            #expect(try await [get("b", "red"), get("a", "red"), get("b", "blue")] == ["new", "new", "old"])
            #expect(session.requests.count == 4)
        }
    }

    @Test("variants that become one by a 304's Vary are the confirmed one", arguments: [false, true])
    func joinedVary(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            func variant(_ text: String) -> MockResponse {
                .text(text, headers: ["Vary": "X-Unit, X-Color", "ETag": "\"s\"", "Cache-Control": "max-age=60"])
            }
            let confirmation: HTTPHeaders = ["ETag": "\"s\"", "Vary": "X-Unit", "Cache-Control": "max-age=60"]
            let session = StubSession(variant("red"), variant("blue"), .status(304, headers: confirmation))
            let fixture = try CacheFixture(session, in: isOnDisk ? folder : nil)
            func get(_ color: String) async throws -> String {
                try await fixture.get("https://h/", .server, headers: ["X-Unit": "a", "X-Color": color])
            }
            for color in ["red", "blue"] { _ = try await get(color) }
            fixture.date.advance(by: 60)
            #expect(try await [get("red"), get("blue"), get("green")] == ["red", "red", "red"])
            #expect(await fixture.cache.usage.count == 1)
            #expect(session.requests.count == 3)
        }
    }

    // §4.3.5: the cache "SHOULD update or invalidate each of its stored GET responses that could have been chosen for that
    // request".
    @Test("a HEAD removes every matching GET of another version", arguments: [false, true])
    func headOfSeveral(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let session = StubSession { request in
                let unit = request.headers["X-Unit"] ?? ""
                let rules: HTTPHeaders = ["Cache-Control": "max-age=600", "ETag": "\"\(unit)\""]
                if request.method == .head { return .text("", headers: rules.merging(["ETag": "\"new\""])) }
                let vary: HTTPHeaders = unit == "1" ? ["Vary": "X-Unit", "Date": "Tue, 14 Nov 2023 22:13:10 GMT"] : [:]
                let other: HTTPHeaders = ["Vary": "X-Kind", "Date": "Tue, 14 Nov 2023 22:13:19 GMT"]
                return .text(
                    unit, statusCode: unit == "1" ? 200 : 203, headers: rules.merging(unit == "1" ? vary : other))
            }
            let fixture = try CacheFixture(session) {
                try isOnDisk
                    ? ResponseCache(folder: folder, memoryLimit: 0, identity: { _ in "me" }, now: $0)
                    : ResponseCache(identity: { _ in "me" }, now: $0)
            }
            func get(_ unit: String, _ kind: String, _ policy: URLRequest.CachePolicy) async throws -> NetworkResponse {
                try await fixture.response("https://h/", .server, headers: ["X-Unit": unit, "X-Kind": kind]) {
                    $0.cachePolicy = policy
                }
            }
            // The 200 is for unit 1 and any kind, the more recent 203 for kind 2 and any unit.
            _ = try await get("1", "1", .useProtocolCachePolicy)
            _ = try await get("2", "2", .useProtocolCachePolicy)
            #expect(await fixture.cache.usage.count == 2)
            _ = try await fixture.response(
                "https://h/", .server, method: .head,
                headers: ["X-Unit": "1", "X-Kind": "2", "Cache-Control": "no-cache"])
            #expect(await fixture.cache.usage.count == 1)
            #expect(try await get("3", "2", .returnCacheDataDontLoad).text == "2")
        }
    }

    @Test("a HEAD with another tag and Vary: * makes the stored GET stale", arguments: [nil, "me"])
    func head(name: String?) async throws {
        let stored: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "max-age=60"]
        let session = StubSession(
            .text("old", headers: stored), .status(200, headers: ["ETag": "\"2\"", "Vary": "*"]), .text("new"))
        let fixture = CacheFixture(session) { ResponseCache(identity: { _ in name }, now: $0) }
        _ = try await fixture.get("https://h/", .server)
        _ = try await fixture.response("https://h/", .server, method: .head) {
            $0.cachePolicy = .reloadIgnoringLocalCacheData
        }
        #expect(try await fixture.get("https://h/", .server) == "new")
    }

    /// Returns the answers for three variants after a 304 with these fields confirmed the first. The second has its tag,
    /// the third has another one and stays fresh.
    private func variants(of fields: HTTPHeaders, before vary: String = "X-Unit", isOnDisk: Bool = false) async throws
        -> [String]
    {
        try await withFolder { folder in
            func variant(_ text: String, _ tag: String, _ age: Int = 60) -> MockResponse {
                .text(text, headers: ["Vary": vary, "ETag": tag, "Cache-Control": "max-age=\(age)"])
            }
            let confirmation = HTTPHeaders(["ETag": "\"s\"", "X-New": "1"]).merging(fields)
            let session = StubSession(
                variant("a", "\"s\""), variant("b", "\"s\""), variant("c", "\"c\"", 600),
                .status(304, headers: confirmation), .status(304, headers: confirmation.merging(["X-New": "2"])))
            let fixture = try CacheFixture(session, in: isOnDisk ? folder : nil)
            for unit in ["a", "b", "c"] { _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": unit]) }
            fixture.date.advance(by: 60)
            var answers: [String] = []
            for unit in ["a", "b", "c"] {
                let response = try await fixture.response("https://h/", .server, headers: ["X-Unit": unit])
                let outcome = response.cacheOutcome == .hit ? " hit" : " validated"
                answers.append(response.text + (response.headers["X-New"] ?? "") + (unit == "a" ? "" : outcome))
            }
            return answers
        }
    }
}
