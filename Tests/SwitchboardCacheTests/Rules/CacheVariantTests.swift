import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@testable import SwitchboardCache

/// RFC 9111 §4.1: several responses per URL, chosen by the request fields that `Vary` names.
@Suite(.timeLimit(.minutes(10)))
struct CacheVariantTests {
    /// Returns a fixture whose requests all belong to one identity, so that only `Vary` separates responses.
    private func fixture(_ headers: HTTPHeaders = [:]) -> CacheFixture {
        CacheFixture(headers: headers.merging(["Cache-Control": "max-age=600"])) {
            ResponseCache(identity: { _ in "me" }, now: $0)
        }
    }

    @Test("entity tags are sent while the list has at most 4,096 bytes")
    func sendableTags() {
        // Each has 510 bytes, and needs a comma and a space.
        let tags = (0..<10).map { "\"\($0)\(String(repeating: "e", count: 507))\"" }
        #expect(CacheVariant.sendable(tags, after: nil) == Array(tags[..<8]))
        #expect(CacheVariant.sendable(tags, after: "\"\"") == Array(tags[..<7]))
    }

    @Test(
        "variants of one URL are stored side by side",
        .rule(
            "RFC 9111 §4.1",
            "the cache MUST NOT use that stored response without revalidation unless all the presented request "
                + "header fields nominated by that Vary field value match"),
        .rule(
            "RFC 9110 §12.5.5",
            "they MUST NOT use this response to satisfy a later request unless the later request has the same "
                + "values for the listed header fields as the original request"))
    func sideBySide() async throws {
        let fixture = fixture(["Vary": "Accept-Language, X-Unit"])
        var texts: [String] = []
        for language in ["de", "fr", "de", "fr"] {
            texts.append(try await fixture.get("https://h/", .server, headers: ["Accept-Language": language]))
        }
        texts.append(try await fixture.get("https://h/", .server, headers: ["Accept-Language": "de", "X-Unit": "m"]))
        texts.append(try await fixture.get("https://h/", .server, headers: ["Accept-Language": "de"]))
        #expect(texts == ["1", "2", "1", "2", "3", "1"])
        #expect(await fixture.cache.usage.count == 3)
    }

    // "If (after any normalization that might take place) a header field is absent from a request, it can only match
    // another request if it is also absent there."
    @Test(
        "a field that Vary names and a request lacks matches only its absence",
        .rule("RFC 9111 §4", "request header fields nominated by the stored response (if any) match those presented"))
    func absence() async throws {
        let fixture = fixture(["Vary": "X-Unit"])
        #expect(try await fixture.get("https://h/", .server) == "1")
        #expect(try await fixture.get("https://h/", .server, headers: ["X-Unit": ""]) == "2")
        #expect(try await fixture.get("https://h/", .server, headers: ["X-Other": "m"]) == "1")
    }

    // "A stored response with a Vary header field value containing a member "*" always fails to match."
    @Test(
        "a response with Vary: * answers no other request",
        .rule(
            "RFC 9111 §4.1",
            "the cache MUST NOT use that stored response without revalidation unless all the presented request "
                + "header fields nominated by that Vary field value match"),
        arguments: ["*", "Accept, *", "*, *"])
    func star(vary: String) async throws {
        let fixture = fixture(["Vary": vary])
        #expect(try await fixture.get("https://h/", .server) == "1")
        #expect(try await fixture.get("https://h/", .server) == "2")
    }

    // §4.1 allows "adding or removing whitespace, where allowed in the header field's syntax", "combining multiple header
    // field lines with the same field name" and other changes that are "known to have identical semantics".
    @Test(
        "list fields that mean the same match",
        arguments: [
            (["Accept-Language": "en, de"], ["Accept-Language": "EN ,de"], true),
            (["Accept-Language": "en, de"], ["Accept-Language": "en", "accept-language": "de"], true),
            (["Accept-Language": "fr;q=0.5, en"], ["Accept-Language": "en;q=1.0,fr; q=0.50"], true),
            (["Accept-Encoding": "gzip, br"], ["Accept-Encoding": "br,gzip"], true),
            (["Accept": "text/html, Text/plain"], ["Accept": "text/html,text/plain"], true),
            (["Accept-Language": "en, de"], ["Accept-Language": "de, en"], false),
            (["Accept-Language": "en"], ["Accept-Language": "en;q=0.5"], false),
            (["Accept": "text/a;v=A"], ["Accept": "text/a;v=a"], false),
            (["X-Unit": "a, b"], ["X-Unit": "A, b"], false),
            (["X-Unit": "a,b"], ["X-Unit": "a, b"], false),
        ] as [(HTTPHeaders, HTTPHeaders, Bool)])
    func normalized(one: HTTPHeaders, other: HTTPHeaders, isSame: Bool) async throws {
        let vary: HTTPHeaders = ["Vary": "accept-language, Accept-Encoding, Accept, X-Unit"]
        for fixture in [fixture(vary), CacheFixture(headers: vary.merging(["Cache-Control": "max-age=600"]))] {
            _ = try await fixture.get("https://h/", .server, headers: one)
            #expect(try await fixture.get("https://h/", .server, headers: other) == (isSame ? "1" : "2"))
        }
    }

    // URLSession adds the device's languages after the cache.
    @Test("without Accept-Language, a response is stored for the device's languages")
    func languages() {
        let url = URL(text: "https://h/")
        let names = ["accept-language"]
        let plain = NetworkRequest(.get, url)
        let english = NetworkRequest(.get, url, headers: ["Accept-Language": "en"])
        let texts = [
            CacheVariant.text(names, of: plain, languages: ["de-DE", "en"]),
            CacheVariant.text(names, of: plain, languages: ["en"]), CacheVariant.text(names, of: plain, languages: []),
            CacheVariant.text(names, of: english, languages: ["en"]),
        ]
        #expect(Set(texts).count == 4)
        #expect(texts[0] == CacheVariant.text(names, of: plain, languages: ["de-DE", "en"]))
        #expect(CacheVariant.reduced(texts[0], to: names) == texts[0])
        #expect(CacheVariant.text(["x-unit"], of: plain, languages: ["de"]) == "x-unit")
    }

    @Test("a value that begins with a combining mark is kept when Vary has fewer names")
    func markInReducedVariant() {
        #expect(CacheVariant.reduced("x-a: \u{302}v\nx-b: 1", to: ["x-a"]) == "x-a: \u{302}v")
    }

    @Test("a file contains no value of a request field, whatever its name", arguments: ["X-Unit", "SHA256"])
    func noValueOnDisk(name: String) async throws {
        try await withFolder { folder in
            let session = StubSession { _ in .text("x", headers: ["Vary": name, "Cache-Control": "max-age=600"]) }
            let fixture = try CacheFixture(session, in: folder)
            for value in ["value-one", "value-two"] {
                _ = try await fixture.get("https://h/", .server, headers: ["SHA256": value, "X-Unit": value])
            }
            #expect(await fixture.cache.usage.count == 2)
            for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
                let bytes = try Data(contentsOf: file)
                #expect(bytes.range(of: Data("value-".utf8)) == nil)
            }
        }
    }

    @Test("on disk, a response without Vary replaces all variants", arguments: [false, true])
    func withoutVary(isInMemoryToo: Bool) async throws {
        try await withFolder { folder in
            let session = StubSession { request in
                let isVariant = request.headers["X-Unit"] == "m"
                let date = "Tue, 14 Nov 2023 22:13:\(isVariant ? 19 : 10) GMT"
                let fields: HTTPHeaders = ["Date": date, "Cache-Control": "max-age=600"]
                return .text(
                    isVariant ? "variant" : "plain", headers: fields.merging(isVariant ? ["Vary": "X-Unit"] : [:]))
            }
            let fixture = try CacheFixture(session) {
                try ResponseCache(
                    folder: folder, memoryLimit: isInMemoryToo ? 1 << 20 : 0, identity: { _ in "me" }, now: $0)
            }
            for unit in ["m", "k"] { _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": unit]) }
            #expect(await fixture.cache.usage.count == 1)
            #expect(try await fixture.get("https://h/", .server, headers: ["X-Unit": "m"]) == "plain")
            #expect(session.requests.count == 2)
        }
    }

    @Test(
        "of two matching responses the one with the later Date answers",
        .rule(
            "RFC 9111 §4",
            "When more than one suitable response is stored, a cache MUST use the most recent one (as determined by "
                + "the Date header field)."),
        arguments: [false, true], [false, true])
    func mostRecent(isOnDisk: Bool, isReversed: Bool) async throws {
        try await withFolder { folder in
            @Sendable func response(_ name: String, _ second: Int) -> MockResponse {
                .text(
                    name == "A" ? "later" : "earlier",
                    headers: [
                        "Vary": name, "Date": "Tue, 14 Nov 2023 22:13:\(second) GMT", "Cache-Control": "max-age=600",
                    ])
            }
            let session = StubSession { $0.headers["A"] == "1" ? response("A", 19) : response("B", 10) }
            let fixture = try CacheFixture(session, in: isOnDisk ? folder : nil)
            for number in isReversed ? ["2", "1"] : ["1", "2"] {
                _ = try await fixture.get("https://h/", .server, headers: ["A": number, "B": number])
            }
            #expect(try await fixture.get("https://h/", .server, headers: ["A": "1", "B": "2"]) == "later")
            #expect(try await fixture.get("https://h/", .server, headers: ["A": "3", "B": "2"]) == "earlier")
            #expect(session.requests.count == 2)
        }
    }

    @Test("a new response replaces those that match its request", arguments: [false, true])
    func replaced(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let fresh: HTTPHeaders = ["Cache-Control": "max-age=600"]
            let session = StubSession(
                .text("1", headers: fresh), .text("2", headers: fresh.merging(["Vary": "X-Unit"])), .text("3"))
            let fixture = try CacheFixture(session, in: isOnDisk ? folder : nil)
            _ = try await fixture.get("https://h/", .server)
            _ = try await fixture.get("https://h/", .server) { $0.cachePolicy = .reloadIgnoringLocalCacheData }
            #expect(try await fixture.get("https://h/", .server, headers: ["X-Unit": "m"]) == "3")
        }
    }

    @Test("a URL keeps 16 variants, the most recently used ones", arguments: [false, true])
    func bounded(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let headers: HTTPHeaders = ["Vary": "X-Unit", "Cache-Control": "max-age=600"]
            let fixture = try CacheFixture(.counting(headers, 200), in: isOnDisk ? folder : nil)
            for unit in 0..<17 {
                _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": "\(unit)"])
                #expect(try await fixture.get("https://h/", .server, headers: ["X-Unit": "0"]) == "1")
            }
            #expect(await fixture.cache.usage.count == 16)
            #expect(try await fixture.get("https://h/", .server, headers: ["X-Unit": "2"]) == "3")
            #expect(try await fixture.get("https://h/", .server, headers: ["X-Unit": "1"]) == "18")
        }
    }

    @Test("another cache finds each variant on disk, and no value of a request")
    func onDisk() async throws {
        try await withFolder { folder in
            let headers: HTTPHeaders = ["Vary": "Accept-Language", "Cache-Control": "max-age=600"]
            let first = try CacheFixture(headers: headers) {
                try ResponseCache(folder: folder, identity: { _ in "me" }, now: $0)
            }
            for language in ["de", "planted"] {
                _ = try await first.get("https://h/", .server, headers: ["Accept-Language": language])
            }
            let second = try CacheFixture(StubSession()) {
                try ResponseCache(folder: folder, identity: { _ in "me" }, now: $0)
            }
            #expect(try await second.get("https://h/", .server, headers: ["Accept-Language": "planted"]) == "2")
            #expect(try await second.get("https://h/", .server, headers: ["Accept-Language": "DE"]) == "1")
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                let data = try Data(contentsOf: folder.appendingPathComponent(name))
                #expect(!String(decoding: data, as: UTF8.self).contains("planted"))
            }
        }
    }

    @Test("a variant that is no longer cacheable leaves the others stored")
    func oneRemoved() async throws {
        let vary: HTTPHeaders = ["Vary": "X-Unit", "Cache-Control": "max-age=600"]
        let fixture = CacheFixture(
            StubSession(
                .text("a", headers: vary), .text("b", headers: vary),
                .text("b2", headers: ["Cache-Control": "no-store"]), .text("b3", headers: vary))
        ) { ResponseCache(identity: { _ in "me" }, now: $0) }
        _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": "a"])
        _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": "b"])
        _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": "b"]) {
            $0.cachePolicy = .reloadIgnoringLocalCacheData
        }
        #expect(try await fixture.get("https://h/", .server, headers: ["X-Unit": "a"]) == "a")
        #expect(try await fixture.get("https://h/", .server, headers: ["X-Unit": "b"]) == "b3")
    }

    @Test("identities, partitions and fields are compared byte by byte")
    func bytes() async throws {
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        #expect(composed == decomposed)
        let fixture = CacheFixture(headers: [:]) { ResponseCache(identity: { $0.headers["X-Account"] }, now: $0) }
        #expect(try await fixture.get(headers: ["X-Account": composed]) == "1")
        #expect(try await fixture.get(headers: ["X-Account": decomposed]) == "2")
        #expect(try await fixture.get { $0.partition = composed } == "3")
        #expect(try await fixture.get { $0.partition = decomposed } == "4")
        let varying = self.fixture(["Vary": "X-Name"])
        #expect(try await varying.get("https://h/", .server, headers: ["X-Name": composed]) == "1")
        #expect(try await varying.get("https://h/", .server, headers: ["X-Name": decomposed]) == "2")
        // A change in one partition leaves the other alone.
        _ = try await fixture.response(method: .post) { $0.partition = composed }
        #expect(try await fixture.get { $0.partition = decomposed } == "4")
    }

    @Test("a Vary of more names or bytes than a cache compares is not stored", arguments: [64, 65, 25_000])
    func long(count: Int) async throws {
        let vary = (0..<count).map { "X-\($0)" }.joined(separator: ",")
        let fixture = fixture(["Vary": vary])
        for _ in 1...3 { _ = try await fixture.get("https://h/", .server) }
        #expect(fixture.session.requests.count == (count > 64 ? 3 : 1))
    }
}
