import SwitchboardHAR
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HARRecorderTests {
    @Test(
        "masks a whole value that begins with the mask",
        arguments: ["token=REDACTEDhunter2", "password: REDACTED hunter2", "{\"a\": \"token=REDACTEDhunter2\"}"])
    func maskAndMore(text: String) {
        let masked = ExchangeMasking(.standard).redaction.text(text)
        #expect(masked.contains("REDACTED"))
        #expect(!masked.contains("hunter2"))
    }

    @Test(
        "an address is read without brackets, and again the same",
        arguments: [("[]", nil), ("[[::1]]", "::1"), ("[::1]", "::1"), ("127.0.0.1", "127.0.0.1"), ("", nil)])
    func address(text: String, address: String?) throws {
        let archive = """
            {"log": {"version": "1.2", "creator": {"name": "a", "version": "1"}, "entries": [{
                "startedDateTime": "2026-01-01T00:00:00.020Z", "time": 1, "serverIPAddress": "\(text)",
                "request": {"method": "GET", "url": "https://a.example/", "httpVersion": "HTTP/1.1", "cookies": [],
                    "headers": [], "queryString": [], "headersSize": -1, "bodySize": 0},
                "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "cookies": [],
                    "headers": [], "content": {"size": 0, "mimeType": ""}, "redirectURL": "", "headersSize": -1,
                    "bodySize": 0},
                "cache": {}, "timings": {"send": 0, "wait": 1, "receive": 0}}]}}
            """
        let read = try JSONDecoder().decode(HAR.self, from: Data(archive.utf8))
        let again = try JSONDecoder().decode(HAR.self, from: read.data)
        #expect([read, again].map { $0.log.entries.first?.serverIPAddress } == [address, address])
    }

    private let url = URL(text: "https://api.example.com/a")

    private func router(_ session: any NetworkSession, _ recorder: HARRecorder, _ chain: [any Interceptor] = [])
        -> Router<URLEndPoint>
    {
        Router(
            session: session, interceptors: chain,
            options: RequestOptions { $0.monitors.append(recorder) })
    }

    /// Reads the entries with JSONSerialization.
    private func entries(_ recorder: HARRecorder) throws -> [[String: Any]] {
        let archive = try #require(try JSONSerialization.jsonObject(with: recorder.data) as? [String: Any])
        let log = try #require(archive["log"] as? [String: Any])
        #expect(log["version"] as? String == "1.2")
        return try #require(log["entries"] as? [[String: Any]])
    }

    private func part(_ entry: [String: Any], _ name: String) throws -> [String: Any] {
        try #require(entry[name] as? [String: Any])
    }

    @Test(
        "a secret named by another member or in markup is masked everywhere",
        arguments: [
            #"{"fields":[{"name":"password","value":"hunter2secret"}]}"#,
            #"[{"Values":["hunter2secret"],"Header":"X-Vault-Token"}]"#,
            #"{"html":"<input name='token' value='hunter2secret'>"}"#,
            #"{"xml":"<password>hunter2secret</password>"}"#,
            #"{"password":"hunter2secret","password":"another"}"#,
            #"{"password":["hunter2secret"],"password":7,"password":"another"}"#,
            #"{"password":"hunter2secr\u0065t","password":"another"}"#,
            #"{"name":"x","name":"password","value":"hunter2secret"}"#,
            #"{"id":"password","value":"hunter2secret","id":"x"}"#,
            #"{"html":"\u003cp\u003eYour token: hunter2secret\u003c/p\u003e"}"# + "\n{}",
            #"{"log":"token: \u0022hunter2secret\u0022 was sent"}"# + "\n{}",
            #"{"password":12345678}"# + "\n" + #"{"next":"?token=hunter2secret"}"#,
            #"data: {"password":12345678}"# + "\n\n" + #"data: {"next":"?token=hunter2secret"}"#,
            // The Kelvin sign equals a K, but the first name is not that of a secret.
            #"{"to\#u{212A}en":"x","toKen":"hunter2secret"}"#,
        ])
    func secretsInJSON(body: String) async throws {
        let recorder = HARRecorder()
        let router = router(StubSession(.json(body), .text("echo hunter2secret")), recorder)
        for _ in 0..<2 { _ = try await router.response(for: URLEndPoint(.get, url)) }
        #expect(recorder.count == 2)
        #expect(!String(decoding: try recorder.data, as: UTF8.self).contains("hunter2secret"))
    }

    @Test("a word or a number called value within a secret is masked everywhere")
    func valueOfSecret() async throws {
        let recorder = HARRecorder()
        let body = #"{"password":{"type":"word","value":"swordfish"},"pin":{"value":12345678}}"#
        let router = router(StubSession(.json(body), .text("a word: swordfish, 12345678")), recorder)
        for _ in 0..<2 { _ = try await router.response(for: URLEndPoint(.get, url)) }
        let archive = String(decoding: try recorder.data, as: UTF8.self)
        #expect(!archive.contains("swordfish") && !archive.contains("12345678"))
        #expect(archive.contains("a word: REDACTED, REDACTED"))
    }

    @Test(
        "a secret with escapes in a URL is masked everywhere",
        arguments: [
            #"{"next":"https:\/\/h\/?token=ab12\/hunter2x"}"#,
            #"{"next":"?token\u003dab12\u002fhunter2x\u0026a=b"}"#,
            #"{"next":"?token=ab12\/hunter2x"}"# + "\n{}",
            #"{"b":"{\"n\":\"?token=ab12\\\/hunter2x\"}"}"# + "\n{}", #"<a href="?token&#x3D;ab12&#47;hunter2x">"#,
            #"{"log":"{\u0022password\u0022:\u0022other\u0022}"}"# + "\n" + #"{"next":"?token=ab12\/hunter2x"}"#,
        ])
    func escapesOfJSON(body: String) async throws { try await checkSecret(of: body, echo: "echo ab12/hunter2x") }

    @Test(
        "a secret with escaped letters in a URL is masked everywhere",
        arguments: [
            #"{"next":"?token=ab12\u00e9hunter2x"}"#, #"{"next":"?token=ab12\u00e9hunter2x"}"# + "\n{}",
            #"<a href="?token=ab12&#233;hunter2x">"#,
        ])
    func escapedLetters(body: String) async throws { try await checkSecret(of: body, echo: "echo ab12éhunter2x") }

    private func checkSecret(of body: String, echo: String) async throws {
        let recorder = HARRecorder()
        let router = router(StubSession(.json(body), .text(echo)), recorder)
        for _ in 0..<2 { _ = try await router.response(for: URLEndPoint(.get, url)) }
        #expect(!String(decoding: try recorder.data, as: UTF8.self).contains("hunter2x"))
    }

    @Test("a number that counts tokens stays everywhere")
    func countOfTokens() async throws {
        let recorder = HARRecorder()
        let router = router(StubSession(.json(#"{"tokens":1234567,"limit":1234567}"#)), recorder)
        _ = try await router.response(for: URLEndPoint(.get, url))
        let content = try part(part(#require(entries(recorder).first), "response"), "content")
        #expect(content["text"] as? String == #"{"tokens":1234567,"limit":1234567}"#)
    }

    @Test(
        "a scheme before or next to a secret stays everywhere",
        arguments: [
            #"{"authorization":"Bearer ab\/cdefgh"}"# + "\n{}",
            #"{"token":{"token_type":"Bearer","access_token":"abcdefgh","more":["abcdefghijkl"]}}"#,
            #"data: {"auth":{"token_type":"Bearer","client_token":"abcdefgh","id":"abcdefghijkl"}}"# + "\n\n",
        ])
    func schemeOfSecret(body: String) async throws {
        let recorder = HARRecorder()
        let router = router(StubSession(.json(body), .text("as a Bearer token, abcdefgh, abcdefghijkl")), recorder)
        for _ in 0..<2 { _ = try await router.response(for: URLEndPoint(.get, url)) }
        let archive = String(decoding: try recorder.data, as: UTF8.self)
        #expect(archive.contains("as a Bearer token"))
        #expect(body.contains("authorization") || !archive.contains("abcdefgh"))
    }

    @Test("a body that is not recorded keeps its fields", arguments: [false, true])
    func fieldsOfUnrecordedBody(isCompressed: Bool) async throws {
        let recorder = HARRecorder()
        let form = MultipartBody(.field("a", "1"))
        let type = isCompressed ? "application/json; charset=utf-8" : form.additionalHeaders["Content-Type"]
        let body: any HTTPBody = isCompressed ? JSONBody(["a": 1]) : form
        let endPoint = URLEndPoint(
            .post, url, task: .requestBody(body), options: RequestOptions { $0.compressesBody = isCompressed })
        _ = try await router(StubSession(.text("")), recorder).response(for: endPoint)
        let request = try part(#require(entries(recorder).first), "request")
        let headers = try #require(request["headers"] as? [[String: String]])
        let fields = Dictionary(headers.map { ($0["name"] ?? "", $0["value"] ?? "") }) { first, _ in first }
        #expect(fields["Content-Type"] == type)
        #expect(fields["Content-Encoding"] == (isCompressed ? "gzip" : nil))
    }

    @Test("a negative number with a secret's name is a secret everywhere")
    func negativeTokens() async throws {
        let recorder = HARRecorder()
        let router = router(StubSession(.json(#"{"tokens":-1234567}"#), .text("it is -1234567")), recorder)
        for _ in 0..<2 { _ = try await router.response(for: URLEndPoint(.get, url)) }
        #expect(!String(decoding: try recorder.data, as: UTF8.self).contains("1234567"))
    }

    @Test("each retry, redirect and failed exchange is a separate entry")
    func exchanges() async throws {
        let recorder = HARRecorder()
        let session = StubSession(
            .failure(.connectionLost), .status(302, headers: ["Location": "/b?c=d#part"]), .text("here"))
        let router = router(session, recorder, [RetryPolicy(clock: TestClock(skips: true))])
        _ = try await router.response(for: URLEndPoint(.get, url))
        #expect(recorder.count == 3)
        let entries = try entries(recorder)
        let responses = try entries.map { try part($0, "response") }
        #expect(responses.map { $0["status"] as? Int } == [0, 302, 200])
        #expect(responses.map { $0["_error"] as? String } == ["connectionLost", nil, nil])
        #expect(responses[1]["redirectURL"] as? String == "/b?c=d#part")
        let content = try part(responses[2], "content")
        #expect(content["text"] as? String == "here")
        #expect(content["size"] as? Int == 4)
        let requests = try entries.map { try part($0, "request") }
        // HAR 1.2: "fragments are not included".
        #expect(
            requests.map { $0["url"] as? String }
                == [url, url, URL(text: "https://api.example.com/b?c=d")].map(\.absoluteString))
        #expect(requests.allSatisfy { $0["method"] as? String == "GET" && $0["bodySize"] as? Int == 0 })
    }

    @Test("keeps the last exchanges, and only the size of longer bodies")
    func bounds() async throws {
        let recorder = HARRecorder(maximumEntries: 3, bodyLimit: 10)
        let session = StubSession { request in
            .text(String(repeating: "x", count: Int(request.query ?? "") ?? 0))
        }
        let router = router(session, recorder)
        for count in [1, 2, 10, 11, 5] {
            let url = URL(text: "https://api.example.com/a").appending(queryItems: [])
            var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
            components?.query = String(count)
            let endPoint = URLEndPoint(
                .post, try #require(components?.url),
                task: .requestBody(DataBody(Data(repeating: 0x61, count: count))))
            _ = try await router.response(for: endPoint)
        }
        #expect(recorder.count == 3)
        let entries = try entries(recorder)
        let contents = try entries.map { try part(part($0, "response"), "content") }
        #expect(contents.map { $0["size"] as? Int } == [10, 11, 5])
        #expect(contents.map { ($0["text"] as? String)?.count } == [10, nil, 5])
        let requests = try entries.map { try part($0, "request") }
        #expect(requests.map { $0["bodySize"] as? Int } == [10, 11, 5])
        #expect(requests.map { (($0["postData"] as? [String: Any])?["text"] as? String)?.count } == [10, nil, 5])
        recorder.removeAll()
        #expect(recorder.count == 0)
        #expect(try self.entries(recorder).isEmpty)
    }

    @Test("bodies of streams and downloads are left out, not stated as empty")
    func elsewhere() async throws {
        let recorder = HARRecorder()
        let router = router(StubSession { _ in .text("here") }, recorder)
        for try await _ in router.bytes(for: URLEndPoint(.get, url)) {}
        try await withFolder { folder in
            _ = try await router.download(URLEndPoint(.get, url), to: folder.appendingPathComponent("a"))
            let responses = try entries(recorder).map { try part($0, "response") }
            #expect(responses.map { $0["bodySize"] as? Int } == [-1, -1])
            let contents = try responses.map { try part($0, "content") }
            #expect(contents.map { $0["size"] as? Int } == [-1, -1])
            #expect(contents.allSatisfy { $0["text"] == nil })
            let file = folder.appendingPathComponent("calls.har")
            try recorder.write(to: file)
            let cassette = try Cassette(file: file, mode: .replay)
            #expect(await failure { try await cassette.send(NetworkRequest(.get, url)) } == .cassetteFault)
        }
    }

    @Test("masks secrets by name, and wherever else they appear")
    func secrets() async throws {
        let recorder = HARRecorder()
        let session = StubSession(.json(#"{"echo":"hunter2hunter2"}"#, headers: ["Set-Cookie": "sid=c00kiec00kie"]))
        let endPoint = URLEndPoint(
            .post, URL(text: "https://api.example.com/hunter2hunter2?api_key=s3cr3ts3cr3t"),
            task: .requestBody(JSONBody(["password": "passpasspass"])),
            headers: ["Authorization": "Bearer hunter2hunter2"])
        _ = try await router(session, recorder).response(for: endPoint)
        let text = String(decoding: try recorder.data, as: UTF8.self)
        for secret in ["hunter2hunter2", "s3cr3ts3cr3t", "passpasspass", "c00kiec00kie"] {
            #expect(!text.contains(secret))
        }
        #expect(text.contains("REDACTED"))
    }

    @Test("masks a secret after a combining mark wherever it appears")
    func combiningMarks() async throws {
        let recorder = HARRecorder()
        let session = StubSession(.text("\u{301}hunter2hunter2 and \u{301}c00kiec00kie"))
        let endPoint = URLEndPoint(
            .get, url,
            headers: ["Authorization": "Bearer \u{301}hunter2hunter2", "Cookie": "a=1;\u{301}sid=\u{301}c00kiec00kie"])
        _ = try await router(session, recorder).response(for: endPoint)
        let text = String(decoding: try recorder.data, as: UTF8.self)
        #expect(text.contains("REDACTED"))
        for secret in ["unter2hunter2", "00kiec00kie"] { #expect(!text.contains(secret), "\(secret)") }
    }

    @Test("masks a secret in each Unicode form in which it was written")
    func unicodeForms() async throws {
        let recorder = HARRecorder()
        // The Angstrom sign is neither the composed nor the decomposed form of its letter.
        let (written, composed) = ("\u{212B}ngstrom99", "\u{C5}ngstrom99")
        let endPoint = URLEndPoint(
            .post, url, task: .requestBody(JSONBody(["password": written])),
            headers: ["Authorization": "Basic " + Data("u:\(composed)".utf8).base64EncodedString()])
        _ = try await router(StubSession(.text("hello \(written)")), recorder).response(for: endPoint)
        let text = String(decoding: try recorder.data, as: UTF8.self)
        #expect(text.contains("hello ") && !text.contains("ngstrom99"))
    }

    @Test("writes a file that cassettes play, or throws cannotWriteFile")
    func file() async throws {
        try await withFolder { folder in
            let recorder = HARRecorder()
            _ = try await router(StubSession(.text("here")), recorder).response(for: URLEndPoint(.get, url))
            let file = folder.appendingPathComponent("calls.har")
            try recorder.write(to: file)
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["calls.har"])
            let cassette = try Cassette(file: file, mode: .replay)
            #expect(try await cassette.send(NetworkRequest(.get, url)).text == "here")
            let cut = HARRecorder()
            let session = StubSession(.text("here").truncated(after: 2))
            _ = try? await router(session, cut).response(for: URLEndPoint(.get, url))
            #expect(cut.count == 1)
            try cut.write(to: file)
            let incomplete = try Cassette(file: file, mode: .replay)
            #expect(await failure { try await incomplete.send(NetworkRequest(.get, url)) } == .unmatchedRequest)
            let missing = folder.appendingPathComponent("no/such/folder.har")
            let error = #expect(throws: NetworkError.self) { try recorder.write(to: missing) }
            #expect(error?.code == .cannotWriteFile)
        }
    }
}
