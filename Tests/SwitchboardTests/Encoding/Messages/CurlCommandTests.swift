import Foundation
import SwitchboardTestSupport
import Switchboard
import Testing

struct CurlCommandTests {
    /// Returns the arguments that a POSIX shell would pass to `curl`.
    private func arguments(_ command: String) throws -> [String] {
        let words = ["-c", "curl() { printf '%s\\0' \"$@\"; }\n" + command]
        let (output, exit) = try Program.run("/bin/sh", words)
        try #require(exit == 0)
        return output.split(separator: 0, omittingEmptySubsequences: false).dropLast().map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test("a URL that begins with a hyphen is no option of curl", arguments: ["-o/tmp/a", "-K.curlrc"])
    func hyphen(text: String) throws {
        let request = NetworkRequest(.get, URL(string: text))
        #expect(try arguments(request.curlCommand) == ["--url", text])
    }

    @Test(
        "the shell passes each argument to curl unchanged",
        arguments: [
            "plain", "it's", "'", "''", "a\"b", "$HOME `id` $(id)", "back\\slash", "line\nbreak\n", "!!", "é🌎",
            "*?[a-z]", "a;b|c&d>e", "-X", "@file", "%s\\0",
        ])
    func quoting(text: String) throws {
        let request = NetworkRequest(
            .post, URL(text: "https://h.example/it's?a=1&b=%27"),
            headers: ["X-Text": text.replacingOccurrences(of: "\n", with: " ")],
            body: DataBody(Data(text.utf8), contentType: "text/plain"))
        let value = text.replacingOccurrences(of: "\n", with: " ").trimmingCharacters(in: .whitespaces)
        #expect(
            try arguments(request.curlCommand(redaction: .none)) == [
                "-X", "POST", "https://h.example/it's?a=1&b=%27", "-H", "X-Text: " + value, "-H",
                "Content-Type: text/plain",
                "--data-raw", text,
            ])
    }

    @Test(
        "a quote with a combining mark cannot start a command",
        arguments: [
            "'\u{301}; printf pwned; '\u{301}", "'\u{308}$(printf pwned)'\u{308}", "'\u{200D}`printf pwned`'\u{FE0F}",
            "'\u{E0100}; exit 7; '", "~", "~root",
        ])
    func combiningMarks(text: String) throws {
        let url = URL(text: "https://h.example/")
        let request = NetworkRequest(
            HTTPMethod(rawValue: text), url, headers: ["X-Text": text], body: DataBody(Data(text.utf8)))
        let words = try arguments(request.curlCommand(redaction: .none))
        let expected = [
            "-X", text, url.absoluteString, "-H", "X-Text: " + text, "-H", "Content-Type:", "--data-raw", text,
        ]
        #expect(words.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
        var foreign = URLRequest(url: url)
        foreign.httpMethod = "POST"
        foreign.httpBody = Data(text.utf8)
        #expect(try arguments(foreign.curlCommand(redaction: .none)).last.map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test("a file is sent by its path, and a form by its fields and files")
    func filesAndForms() throws {
        let url = URL(text: "https://h.example/")
        let file = URL(fileURLWithPath: "/tmp/a b\".txt")
        let upload = NetworkRequest(.put, url, headers: ["Content-Type": "text/plain"], body: FileBody(file))
        #expect(
            try arguments(upload.curlCommand) == [
                "-X", "PUT", url.absoluteString, "-H", "Content-Type: text/plain", "--data-binary", "@/tmp/a b\".txt",
            ])
        let form = MultipartBody([
            .field("title", "@not;a=file"), .field("password", "s3cret"),
            .file("poster", file, fileName: "p\"1\".txt"),
            .data("note", Data("{}".utf8), contentType: "application/json"), .body("text", FileBody(file)),
        ])
        var request = NetworkRequest(.post, url, body: form)
        request.headers = form.additionalHeaders
        // The quotation marks of a path or a name are escaped with a backslash, as the manual of curl says of --form.
        #expect(
            try arguments(request.curlCommand) == [
                "-X", "POST", url.absoluteString, "--form-string", "title=@not;a=file", "--form-string",
                "password=<redacted>", "--form",
                #"poster=@"/tmp/a b\".txt";type=text/plain;filename="p\"1\".txt""#, "--form",
                #"note="{}";type=application/json"#, "--form",
                // A field without a file name: `<` in the manual.
                #"text=<"/tmp/a b\".txt";type=text/plain"#,
            ])
    }

    @Test("bytes that are no text reach curl through Base64")
    func binary() throws {
        let bytes = Data([0, 0xFF, 0x27, 0x0A])
        let request = NetworkRequest(.post, URL(text: "https://h.example/"), body: DataBody(bytes))
        let script = "curl() { cat; }\n" + request.curlCommand
        let (output, exit) = try Program.run("/bin/sh", ["-c", script])
        #expect(exit == 0 && Data(output) == bytes)
        let large = NetworkRequest(
            .post, URL(text: "https://h.example/"), body: DataBody(Data(repeating: 0, count: 20_000)))
        #expect(large.curlCommand.hasSuffix(" --data-binary @BODY  # BODY: a file of 20000 bytes"))
    }

    @Test("no name or type makes curl read a file, and no bytes hide a secret")
    func foreignBytes() throws {
        let url = URL(text: "https://h.example/")
        let file = URL(fileURLWithPath: "/tmp/a.txt")
        let forms: [MultipartBody.Part] = [
            .data("a=@/etc/hostname;x", Data("v".utf8), fileName: "f.txt"), .field("a=b", "v"),
            .field("a=\u{338}b", "v"),
            .data("a", Data("v".utf8), contentType: "text/plain;headers=@/etc/hostname"),
            .data("a", Data("v".utf8), contentType: "text/plain; charset=a,b"),
            .file("a", file, contentType: "text/plain,/etc/hostname"),
        ]
        for part in forms {
            let command = NetworkRequest(.post, url, body: MultipartBody([part])).curlCommand
            #expect(!command.contains("--form") && command.contains("  # BODY: a file of "), "\(command)")
        }
        // An argument of a command cannot have a NUL.
        let field = MultipartBody([.field("a", "v\0w")])
        #expect(!NetworkRequest(.post, url, body: field).curlCommand.contains("--form"))
        let secrets = [
            try #require("user=a&password=hunter2".data(using: .utf16BigEndian)),
            Data("user=a&password=hunter2&city=M\u{FC}".unicodeScalars.map { UInt8($0.value) }),
            Data("{\"password\":\"hunter2\"}\0".utf8),
            Data("Content-Disposition: form-data; name=\"password\"\r\n\r\nhunter2".utf8) + Data([0xFF]),
        ]
        for secret in secrets {
            let command = NetworkRequest(.post, url, body: DataBody(secret)).curlCommand
            #expect(!command.contains("base64"), "\(command)")
        }
        let header = NetworkRequest(.get, url, headers: ["@/etc/hostname": "x"])
        #expect(try arguments(header.curlCommand) == [url.absoluteString])
    }

    @Test("GET is the default, HEAD is --head, and other methods are named")
    func methods() throws {
        let url = URL(text: "https://h.example/")
        #expect(try arguments(NetworkRequest(.get, url).curlCommand) == ["https://h.example/"])
        #expect(try arguments(NetworkRequest(.head, url).curlCommand) == ["--head", "https://h.example/"])
        #expect(try arguments(NetworkRequest("M-SEARCH", url).curlCommand) == ["-X", "M-SEARCH", "https://h.example/"])
        #expect(try arguments(NetworkRequest("a'b c", url).curlCommand) == ["-X", "a'b c", "https://h.example/"])
    }

    @Test("an empty header value is written with a semicolon for curl")
    func emptyValue() throws {
        let request = NetworkRequest(
            .get, URL(text: "https://h.example/"), headers: ["X-Empty": "", "X-Two": "a", "X-Two": "b"])
        #expect(
            try arguments(request.curlCommand) == [
                "https://h.example/", "-H", "X-Empty;", "-H", "X-Two: a", "-H", "X-Two: b",
            ])
    }

    @Test("secrets are redacted, and the command stays valid for the shell")
    func secrets() throws {
        let request = NetworkRequest(
            .post, URL(text: "https://ann:s3cret@h.example/?api_key=s3cret&page=1"),
            headers: ["Authorization": "Bearer s3cret", "Cookie": "sid=s3cret", "Accept": "a/b"],
            body: JSONBody(["user": "ann", "password": "s3cret"] as Parameters))
        #expect(!request.curlCommand.contains("s3cret"))
        let words = try arguments(request.curlCommand)
        #expect(words.contains("Authorization: <redacted>") && words.contains("Accept: a/b"))
        #expect(words.contains("https://<redacted>@h.example/?api_key=<redacted>&page=1"))
        #expect(words.last == #"{"user":"ann","password":"<redacted>"}"#)
        #expect(request.curlCommand(redaction: .none).components(separatedBy: "s3cret").count == 6)
    }

    @Test("a body stream of a URLRequest is a file without a type of curl")
    func streamOfURLRequest() throws {
        var request = URLRequest(url: URL(text: "https://h.example/"))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data("a".utf8))
        #expect(request.curlCommand.hasSuffix("  # BODY: a file of unknown length"))
        #expect(
            try arguments(request.curlCommand) == [
                "-X", "POST", "https://h.example/", "-H", "Content-Type:", "--data-binary", "@BODY",
            ])
    }

    @Test("brackets and braces of a mask make no list of URLs", arguments: ["[hidden]", "{hidden}"])
    func brackets(mask: String) throws {
        var redaction = Redaction.standard
        redaction.mask = mask
        let request = NetworkRequest(.get, URL(text: "https://h.example/?token=a"))
        #expect(
            try arguments(request.curlCommand(redaction: redaction)) == [
                "--globoff", "https://h.example/?token=\(mask)",
            ])
    }

    @Test(
        "curl keeps segments of dots",
        arguments: [
            ("https://h.example/a/../b", true), ("https://h.example/a/%2e%2E/b", true), ("https://h.example/.", true),
            ("https://h.example/a.b/.c/...", false), ("https://h.example/?a=/../b", false),
        ])
    func dots(text: String, keepsDots: Bool) throws {
        let request = NetworkRequest(.get, URL(string: text))
        #expect(try arguments(request.curlCommand) == (keepsDots ? ["--path-as-is"] : []) + [text])
    }

    @Test("the length of a body that the command changes is left out")
    func contentLength() throws {
        let url = URL(text: "https://h.example/")
        let body = DataBody(Data(#"{"password":"hunter2"}"#.utf8))
        let request = NetworkRequest(.post, url, headers: ["Content-Length": "22"], body: body)
        #expect(
            try arguments(request.curlCommand) == [
                "-X", "POST", url.absoluteString, "-H", "Content-Type:", "--data-raw", #"{"password":"<redacted>"}"#,
            ])
        let empty = NetworkRequest(.post, url, headers: ["Content-Length": "0"])
        #expect(
            try arguments(empty.curlCommand) == ["-X", "POST", url.absoluteString, "-H", "Content-Length: 0"])
    }

    @Test("a streamed body is a file that a comment after the command describes")
    func streamedBody() throws {
        let body = StreamBody(length: 2) { HTTPBodyStream { nil } }
        let request = NetworkRequest(.put, URL(text: "https://h.example/"), body: body)
        #expect(request.curlCommand.hasSuffix("  # BODY: a file of 2 bytes"))
        let expected = [
            "-X", "PUT", "https://h.example/", "-H", "Content-Type: application/octet-stream", "--data-binary", "@BODY",
        ]
        #expect(try arguments(request.curlCommand) == expected)
    }

    @Test("a form with a binary part reaches curl through Base64, without secrets")
    func binaryForm() throws {
        let url = URL(text: "https://h.example/")
        let form = MultipartBody([.field("title", "H"), .data("note", Data([0, 1, 2, 255]), fileName: "n.bin")])
        let request = NetworkRequest(.post, url, headers: form.additionalHeaders, body: form)
        let (output, exit) = try Program.run("/bin/sh", ["-c", "curl() { cat; }\n" + request.curlCommand])
        #expect(exit == 0)
        #expect(try Data(output) == form.encode())
        #expect(
            try arguments(request.curlCommand).contains("Content-Type: multipart/form-data; boundary=\(form.boundary)"))
        for secret in [MultipartBody.Part.field("password", "hunter2"), .field("note", "password=hunter2")] {
            let command = NetworkRequest(.post, url, body: MultipartBody([secret] + form.parts)).curlCommand
            #expect(!command.contains("base64") && command.contains("  # BODY: a file of "))
        }
    }
}
