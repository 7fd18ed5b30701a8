import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// Requests that an independent server reads back.
@Suite(.needsHTTPBin, .inTurn, .serialized, .timeLimit(.minutes(10)))
struct HTTPBinRoundTripTests {
    /// Texts with every character that has a meaning in a query, a form or a URL.
    static let texts = [
        "hello world", "a+b", "a&b=c", "100%", "%41", "#frag", "/path/?q", "é ü ß", "日本語", "🌎👩‍👩‍👧", "\"quoted\"", "a;b,c",
        "[x]{y}",
        "line\nbreak\ttab", " lead and trail ", "~-._", "Optional", "\\back|pipe^`",
    ]

    func echo(
        _ kind: SessionKind, _ method: HTTPMethod, _ path: String, task: HTTPTask = .request, headers: HTTPHeaders = [:]
    ) async throws -> HTTPBin.Echo {
        try await Router<URLEndPoint>(session: kind.make()).request(
            URLEndPoint(method, HTTPBin.url(path), task: task, headers: headers), as: HTTPBin.Echo.self)
    }

    @Test(
        "query names and values are read back as given [httpbin]", .requirement("S0.3", "S3.4"),
        arguments: SessionKind.allCases, texts)
    func query(kind: SessionKind, text: String) async throws {
        let seen = try await echo(
            kind, .get, "/get", task: .requestParameters(urlParameters: ["value": text, text: "name"]))
        #expect(seen.args == ["value": .one(text), text: .one("name")])
    }

    @Test(
        "the URL's query stays, and parameters follow in order [httpbin]", .requirement("S0.4"),
        arguments: SessionKind.allCases)
    func queryIsKept(kind: SessionKind) async throws {
        let seen = try await echo(
            kind, .get, "/get?old=1&tag=x", task: .requestParameters(urlParameters: ["tag": "y", "tag": "z"]))
        #expect(seen.args == ["old": "1", "tag": ["x", "y", "z"]])
        #expect(seen.url.hasSuffix("/get?old=1&tag=x&tag=y&tag=z"))
    }

    @Test(
        "form names and values are read back as given [httpbin]", .requirement("S0.7", "S2.5"),
        arguments: SessionKind.allCases, texts)
    func form(kind: SessionKind, text: String) async throws {
        let seen = try await echo(kind, .post, "/post", task: .requestBody(FormBody(["value": text, text: "name"])))
        #expect(seen.form == ["value": .one(text), text: .one("name")])
        let plus = URLEncodedFormEncoder(spaceEncoding: .plusReplaced)
        let encoded = try await echo(kind, .put, "/put", task: .requestBody(FormBody(["value": text], encoder: plus)))
        #expect(encoded.form == ["value": .one(text)])
    }

    @Test(
        "a multipart form of fields, files and streams is read equal [httpbin]",
        .requirement("S0.16", "S2.8", "S3.3"),
        arguments: SessionKind.allCases)
    func multipart(kind: SessionKind) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("notes.txt")
            let large = String(repeating: "0123456789abcde\n", count: 40_000)
            try Data(large.utf8).write(to: file)
            let stream = StreamBody(contentType: "text/plain") {
                try DataBody(Data("made while it is sent".utf8)).makeStream()
            }
            for length in [true, false] {
                let last: MultipartBody.Part =
                    length ? .field("last", "end") : .body("last", stream, fileName: "stream.txt")
                let form = MultipartBody(
                    .field("title", "é \"q\" & + = 🎬"), .field("tag", "a"), .field("tag", "b"),
                    .data("empty", Data(), fileName: "empty.txt"), .file("notes", file), last)
                #expect((form.length == nil) == !length)
                let seen = try await echo(kind, .post, "/post", task: .upload(form))
                var fields: [String: HTTPBin.OneOrMore] = ["title": "é \"q\" & + = 🎬", "tag": ["a", "b"]]
                var files: [String: HTTPBin.OneOrMore] = ["empty": "", "notes": .one(large)]
                if length { fields["last"] = "end" } else { files["last"] = "made while it is sent" }
                #expect(seen.form == fields)
                #expect(seen.files == files)
            }
        }
    }

    @Test(
        "a JSON object with every kind of value is read equal [httpbin]",
        .requirement("S0.6", "S3.5"),
        arguments: SessionKind.allCases)
    func json(kind: SessionKind) async throws {
        let value: Parameters = [
            "text": "é \"q\" \\ \n", "int": 42, "big": 9_007_199_254_740_991, "double": 1.5, "yes": true, "no": false,
            "null": nil as String?, "list": [1, 2, 3], "object": ["a": ["b": "c"]],
        ]
        let expected = HTTPBin.JSON.object([
            "text": .string("é \"q\" \\ \n"), "int": .number(42), "big": .number(9_007_199_254_740_991),
            "double": .number(1.5),
            "yes": .bool(true), "no": .bool(false), "null": .null,
            "list": .array([.number(1), .number(2), .number(3)]),
            "object": .object(["a": .object(["b": .string("c")])]),
        ])
        for task in [HTTPTask.requestParameters(bodyParameters: value), .requestBody(JSONBody(value))] {
            let seen = try await echo(kind, .post, "/post", task: task)
            #expect(seen.json == expected)
            #expect(seen.headers["Content-Type"]?.hasPrefix("application/json") == true)
        }
    }

    @Test(
        "an Encodable array and a scalar are JSON bodies too [httpbin]", .requirement("S4.4"),
        arguments: SessionKind.allCases)
    func jsonOfEncodables(kind: SessionKind) async throws {
        #expect(
            try await echo(kind, .post, "/post", task: .requestBody(JSONBody([1, 2]))).json
                == .array([.number(1), .number(2)]))
        #expect(try await echo(kind, .post, "/post", task: .requestBody(JSONBody("text"))).json == .string("text"))
    }

    @Test(
        "body and URL parameters arrive together, with a body type [httpbin]", .requirement("S3.6"),
        arguments: SessionKind.allCases)
    func bodyAndQuery(kind: SessionKind) async throws {
        let task = HTTPTask.requestParameters(
            bodyParameters: ["a": "1 2"], bodyEncoding: .formEncoding, urlParameters: ["b": "3 4"])
        let seen = try await echo(kind, .post, "/post", task: task)
        #expect(seen.form == ["a": "1 2"])
        #expect(seen.args == ["b": "3 4"])
        #expect(seen.headers["Content-Type"] == "application/x-www-form-urlencoded; charset=utf-8")
    }

    @Test(
        "a raw body and its method arrive [httpbin]", .requirement("S0.1", "S0.8"), arguments: SessionKind.allCases,
        ["POST", "PUT", "PATCH", "DELETE"])
    func rawBody(kind: SessionKind, method: String) async throws {
        let task = HTTPTask.requestBody(DataBody(Data("raw ü bytes".utf8), contentType: "text/plain; charset=utf-8"))
        let seen = try await echo(kind, HTTPMethod(rawValue: method), "/anything", task: task)
        #expect(seen.method == method)
        #expect(seen.data == "raw ü bytes")
        #expect(seen.headers["Content-Type"] == "text/plain; charset=utf-8")
    }

    @Test(
        "endpoint and additional headers arrive; additional ones win [httpbin]",
        .requirement("S3.7"),
        arguments: SessionKind.allCases)
    func headers(kind: SessionKind) async throws {
        let task = HTTPTask.requestParametersAndHeaders(additionHeaders: ["X-Both": "task", "X-Task": "t"])
        let seen = try await echo(kind, .get, "/anything", task: task, headers: ["X-Both": "end", "X-End": "e"])
        #expect(seen.headers["X-Both"] == "task")
        #expect(seen.headers["X-Task"] == "t")
        #expect(seen.headers["X-End"] == "e")
    }
}
