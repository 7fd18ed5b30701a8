import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The file: writing it, and reading those of other programs.
@Suite(.timeLimit(.minutes(10)))
struct CassetteArchiveTests {
    private let request = NetworkRequest(
        .post, text: "https://h.example/a/b?x=1", headers: ["Accept": "*/*"], body: JSONBody(["n": 1]))

    @Test("an entry has every field that HAR 1.2 requires")
    func entryFormat() async throws {
        try await withFile { file in
            try await Cassette.recording([request], in: file) { _ in .json("[1]", statusCode: 201, headers: ["X": "y"])
            }
            let archive = try Archive(file)
            let root = try #require(
                try JSONSerialization.jsonObject(with: Data(archive.text.utf8)) as? [String: [String: Any]])
            #expect(root["log"]?["version"] as? String == "1.2")
            let fields = [
                "": ["cache", "request", "response", "startedDateTime", "time", "timings"],
                "request": [
                    "bodySize", "cookies", "headers", "headersSize", "httpVersion", "method", "postData", "queryString",
                    "url",
                ],
                "request.postData": ["mimeType", "text"],
                "response": [
                    "bodySize", "content", "cookies", "headers", "headersSize", "httpVersion", "redirectURL", "status",
                    "statusText",
                ],
                "response.content": ["mimeType", "size", "text"],
                "timings": ["blocked", "connect", "dns", "receive", "send", "ssl", "wait"],
            ]
            for (path, names) in fields {
                #expect((archive.value(path) as? [String: Any])?.keys.sorted() == names, "\(path)")
            }
            #expect(archive.text("response.statusText") == "Created")
            #expect(archive.text("request.postData.mimeType") == "application/json; charset=utf-8")
            let start = try #require(archive.text("startedDateTime"))
            #expect(start.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
            #expect(!archive.text.contains(#"\/"#))
            #expect(archive.text.hasSuffix("}\n"))
        }
    }

    @Test("a value with a line separator of Unicode is played as one value")
    func lineSeparator() async throws {
        try await withFile { file in
            try await Cassette.recording([request], in: file) { _ in .status(200, headers: ["X": "a\u{2028}b\u{85}c"]) }
            let response = try await Cassette.playing(file).send(request)
            #expect(response.headers.values(for: "X") == ["a\u{2028}b\u{85}c"])
        }
    }

    @Test("the session's timings are written and add up to the time")
    func timings() async throws {
        let session = AdHocSession { request in
            var response = NetworkResponse(statusCode: 200, url: request.url)
            response.metrics.start = Date(timeIntervalSince1970: 1_700_000_000.25)
            response.metrics.queue = .milliseconds(1)
            response.metrics.nameLookup = .milliseconds(2)
            response.metrics.connect = .milliseconds(3)
            response.metrics.secureConnect = .milliseconds(4)
            response.metrics.timeToFirstByte = .milliseconds(15)
            response.metrics.duration = .microseconds(20_500)
            response.metrics.remoteAddress = "[::1]:443"
            response.metrics.protocolVersion = "HTTP/2"
            return response
        }
        try await withFile { file in
            try await Cassette(file: file, mode: .rewrite, recording: session).run { _ = try await $0.send(request) }
            let archive = try Archive(file)
            #expect(archive.text("startedDateTime") == "2023-11-14T22:13:20.250Z")
            #expect(archive.text("serverIPAddress") == "::1")
            #expect(archive.text("response.httpVersion") == "HTTP/2")
            #expect(archive.value("time") as? Double == 20.5)
            let timings = archive.value("timings") as? [String: Double]
            #expect(
                timings == ["blocked": 1, "dns": 2, "connect": 7, "ssl": 4, "send": 0, "wait": 5, "receive": 5.5])
        }
    }

    @Test("recording more leaves the stored entries unchanged")
    func recordingMore() async throws {
        try await withFile { file in
            try await Cassette.recording([request], in: file)
            let before = try Archive(file).text
            try await Cassette.recording([NetworkRequest(text: "https://h.example/other")], in: file)
            let lines = Set(try Archive(file).text.components(separatedBy: "\n"))
            for line in before.components(separatedBy: "\n") {
                #expect(lines.contains(line) || lines.contains(line + ","), "\(line)")
            }
        }
    }

    @Test("an archive of a browser is played")
    func browserArchive() async throws {
        let file = Self.exported
        // The entries of an extension, of a data URL and of a blocked request are no faults.
        try await Cassette(file: file, mode: .replay, recording: NoNetwork()).run { cassette in
            let page = try await cassette.send(
                NetworkRequest(text: "https://movies.example/api/popular?page=1&api_key=anything"))
            #expect(page.text == #"{"page":1,"results":[]}"#)
            #expect(page.headers.values(for: "set-cookie") == ["a=1; Path=/", "b=2"])
            #expect(!page.headers.contains { $0.name.hasPrefix(":") })
            let form = NetworkRequest(
                .post, text: "https://movies.example/login", body: FormBody(["user": "a b", "password": "other"]))
            #expect(try await cassette.send(form).statusCode == 303)
            let image = try await cassette.send(NetworkRequest(text: "https://movies.example/dot.gif"))
            #expect(image.body.prefix(6) == Data("GIF89a".utf8))
            let latin = try await cassette.send(NetworkRequest(text: "https://movies.example/latin"))
            #expect(latin.text == "Größe")
            #expect(latin.body.count == 5)
            let moved = try await cassette.send(NetworkRequest(text: "https://movies.example/moved"))
            #expect(moved.statusCode == 301)
            #expect(moved.body.isEmpty)
            #expect(moved.headers["X-Empty"] == "")
            let error = await #expect(throws: NetworkError.self) {
                try await cassette.send(NetworkRequest(text: "https://movies.example/evicted"))
            }
            #expect(error?.code == .cassetteFault)
            #expect(error?.reason == "the cassette's entry for it has no content: export the archive with content")
        }
    }

    @Test(
        "a text of a browser's archive is played in the charset of its type",
        arguments: [
            ("text/plain", "text/plain; charset=ISO-8859-1", "Größe", 5),  // Chrome
            ("text/plain; charset=ISO-8859-1", "text/plain; charset=ISO-8859-1", "Größe", 5),
            ("text/plain; charset=utf-16", "text/plain; charset=utf-16", "Größen", 12),
            ("text/plain", "text/plain; charset=utf-8", "Größe", 7),
        ])
    func charset(mimeType: String, field: String, text: String, size: Int) async throws {
        let content = #"{"size":\#(size),"mimeType":"\#(mimeType)","text":"\#(text)"}"#
        let headers = #"[{"name":"content-type","value":"\#(field)"}]"#
        let archive = #"""
            {"log":{"entries":[{"request":{"method":"GET","url":"https://h.example/"},
            "response":{"status":200,"headers":\#(headers),"content":\#(content)}}]}}
            """#
        try await withFile { file in
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(archive.utf8).write(to: file)
            let response = try await Cassette.playing(file).send(NetworkRequest(text: "https://h.example/"))
            #expect(response.text == text)
            #expect(response.body.count == size)
        }
    }

    @Test("recording into a browser's archive masks secrets, drops other fields")
    func recordingIntoBrowserArchive() async throws {
        try await withFile { file in
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            let text = try String(contentsOf: Self.exported, encoding: .utf8)
                .replacingOccurrences(of: "2001:db8::1", with: "[2001:db8::1]")
            #expect(text.contains("not-a-real"))
            // Some programs write a byte-order mark first.
            try Data("\u{FEFF}\(text)".utf8).write(to: file)
            try await Cassette.recording([request], in: file)
            let archive = try Archive(file)
            #expect(archive.entries.count == 7)
            #expect(!archive.text.contains("not-a-real"))
            #expect(!archive.text.contains("_initiator"))
            #expect(archive.text("serverIPAddress") == "2001:db8::1")
            #expect(archive.text("request.url") == "https://movies.example/api/popular?api_key=REDACTED&page=1")
            #expect(archive.text("request.postData.text", of: 1) == "user=a%20b&password=REDACTED")
            #expect(archive.value("request.postData.params", of: 1) == nil)
            #expect(archive.text("response.content.text") == #"{"page":1,"results":[]}"#)
        }
    }

    private static let exported = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Cassettes/exported by a browser.har")

    @Test(
        "a damaged file is an error with the file and the location",
        arguments: [
            ("{", "not valid JSON: expected a name in quotes, found the end of the text at line 1, column 2"),
            ("[]", "top level: expected an object, found an array"),
            (#"{"log":{}}"#, "log.entries: expected a value, the key is missing"),
            (
                #"{"log":{"entries":[{"request":{}}]}}"#,
                "log.entries[0].request.method: expected a value, the key is missing"
            ),
            (
                #"{"log":{"entries":[{"request":{"method":"GET","url":"https://h/"},"response":{"status":"200"}}]}}"#,
                "log.entries[0].response.status: expected Int, found the string"
            ),
            (
                #"{"log":{"entries":[{"request":{"method":"GET","url":"https://h/"},"response":{"status":200,"content":{"text":"%","encoding":"base64"}}}]}}"#,
                "log.entries[0].response.content.text: it is not base64"
            ),
        ])
    func damagedFile(text: String, place: String) async throws {
        try await withFile { file in
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
            for mode in [Cassette.Mode.replay, .recordMissing] {
                let error = #expect(throws: NetworkError.self) { try Cassette.playing(file, mode: mode) }
                #expect(error?.code == .cassetteFault)
                #expect(
                    error?.reason?.hasPrefix("the cassette \(file.path) cannot be read: \(place)") == true,
                    "\(error?.reason ?? "")")
            }
        }
    }

    @Test("a file that cannot be written is an error")
    func unwritableFile() async throws {
        try await withFile { file in
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
            let error = await #expect(throws: NetworkError.self) {
                try await Cassette.recording([request], in: file, mode: .rewrite)
            }
            #expect(error?.code == .cassetteFault)
            #expect(error?.reason?.contains(file.path) == true)
        }
    }
}
