import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@testable import SwitchboardInspector

/// No text of the page contains a secret.
@Suite(.timeLimit(.minutes(10)))
struct TextMaskingTests {
    private let secrets = [
        "bearer-9f8e7d6c", "query-key-112233", "hunter2-pass", "signed-unusual-445566", "cookie-value-778899",
        "leaked-token-abcdef", "user-pass-0077",
    ]

    /// Makes calls whose requests and responses contain the secrets, some of them in places without a name.
    private func makeCalls(_ monitors: [any EventMonitor]) async throws {
        let session = StubSession { request in
            if request.url?.path.hasPrefix("/refused") == true {
                throw NetworkError(
                    .custom, reason: "token=leaked-token-abcdef was refused: bearer-9f8e7d6c, leaked-token-abcdef")
            }
            var answer = MockResponse.json(
                #"{"access_token":"leaked-token-abcdef","echo":"bearer-9f8e7d6c and signed-unusual-445566"}"#,
                headers: ["Set-Cookie": "sid=cookie-value-778899; Path=/", "X-Echo": "signed-unusual-445566"])
            answer.trailers = ["X-Sum": "leaked-token-abcdef"]
            return answer
        }
        let origins: CredentialOrigins = ["https://api.example.com"]
        let router = Router<URLEndPoint>(
            session: session,
            interceptors: [
                BearerAuth("bearer-9f8e7d6c", origins: origins),
                APIKeyAuth("signed-unusual-445566", in: .header("X-Film"), origins: origins),
            ], monitors: monitors)
        let form = URLEndPoint(
            .post, URL(text: "https://user:user-pass-0077@api.example.com/login?api_key=query-key-112233&page=2"),
            task: .requestBody(JSONBody(["password": "hunter2-pass", "note": "hunter2-pass"])))
        _ = try? await router.response(for: form)
        _ = try await router.data(from: URL(text: "https://api.example.com/users/leaked-token-abcdef?to=hunter2-pass"))
        _ = try? await router.data(from: URL(text: "https://api.example.com/refused/cookie-value-778899"))
    }

    @Test("no text of a call contains a secret")
    func page() async throws {
        let inspector = try NetworkInspector(CallLimits())
        try await makeCalls([inspector])
        let page = try Page(inspector)
        let details = try (1...3).map { try page.get("/calls/\($0)").body }
        let stream = try page.openStream()
        let events = (1...3).map { _ in stream.read(through: "\n\n") }
        for text in details + events + [try page.get("/har").body] {
            for secret in secrets { #expect(!text.contains(secret), "\(secret) in \(text)") }
            #expect(text.contains("REDACTED"))
        }
        let first = try page.detail(1)
        #expect(first.text("url")?.hasSuffix("/login?api_key=REDACTED&page=2") == true)
        let body = try first.list("exchanges")[0].object("request").object("body")
        let sent = try JSONSerialization.jsonObject(with: Data((body.text("text") ?? "").utf8)) as? [String: String]
        #expect(sent == ["note": "REDACTED", "password": "REDACTED"])
        #expect(try page.detail(3).text("error") == nil)
        #expect(try page.detail(3).object("error").text("summary")?.contains("was refused") == true)
        withExtendedLifetime(inspector) {}
    }

    @Test("the archive has the requests and responses that a HARRecorder records")
    func sameAsRecorder() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let recorder = HARRecorder()
        try await makeCalls([inspector, recorder])
        let archive = try Page(inspector).get("/har")
        let own = try entries(Data(archive.body.utf8))
        #expect(try own == entries(recorder.data))
        #expect(own.count == 6)
        withExtendedLifetime(inspector) {}
    }

    /// Returns the requests and responses of an archive.
    private func entries(_ archive: Data) throws -> [NSDictionary] {
        let object = try #require(try JSONSerialization.jsonObject(with: archive) as? [String: Any])
        return try object.object("log").list("entries").flatMap { entry in
            [try entry.object("request") as NSDictionary, try entry.object("response") as NSDictionary]
        }
    }

    @Test("a running exchange is masked too")
    func running() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let (started, gate) = (Gate(), Gate())
        let session = StubSession { _ in
            started.open()
            try await gate.wait()
            return .text("")
        }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [BearerAuth("bearer-9f8e7d6c", origins: ["https://api.example.com"])],
            monitors: [inspector])
        async let data = router.data(from: URL(text: "https://api.example.com/bearer-9f8e7d6c?token=query-key-112233"))
        try await started.wait()
        let page = try Page(inspector)
        let detail = try page.get("/calls/1")
        for secret in secrets { #expect(!detail.body.contains(secret)) }
        let exchange = try #require(try detail.object().list("exchanges").first)
        #expect(exchange.text("outcome") == nil && exchange.number("duration") == nil)
        #expect(try detail.object().text("state") == "running")
        gate.open()
        _ = try await data
        #expect(try page.detail(1).text("state") == "finished")
    }

    /// An endpoint whose own description contains a secret.
    private enum DescribedEndPoint: EndPointType, CustomStringConvertible, CustomReflectable {
        case film(key: String)

        var baseURL: URL { URL(text: "https://api.example.com") }
        var path: String { "film" }
        var httpMethod: HTTPMethod { .get }
        var task: HTTPTask { .request }
        var headers: HTTPHeaders? { ["Authorization": "Bearer leaked-token-abcdef"] }
        var description: String { "film(token=leaked-token-abcdef)" }
        var customMirror: Mirror { Mirror(self, children: [], displayStyle: .enum) }
    }

    @Test("endpoint, protocol, address and outcome are masked")
    func facts() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let session = AdHocSession { request in
            guard request.url?.path == "/film" else {
                throw NetworkError(NetworkError.Code(rawValue: "token=leaked-token-abcdef"))
            }
            var response = NetworkResponse(statusCode: 200)
            response.request = request
            response.metrics.protocolVersion = "leaked-token-abcdef"
            response.metrics.remoteAddress = "leaked-token-abcdef:80"
            return response
        }
        _ = try await Router<DescribedEndPoint>(session: session, monitors: [inspector])
            .response(for: .film(key: "leaked-token-abcdef"))
        let router = Router<URLEndPoint>(session: session, monitors: [inspector])
        _ = try? await router.data(from: URL(text: "https://api.example.com/other"))
        let page = try Page(inspector)
        for id in 1...2 {
            let text = try page.get("/calls/\(id)").body
            #expect(!text.contains("leaked-token-abcdef"), "\(text)")
        }
        let detail = try page.detail(1)
        #expect(detail.text("endpoint")?.contains("REDACTED") == true)
        #expect(try detail.list("exchanges")[0].text("remote")?.hasPrefix("REDACTED:") == true)
        #expect(try page.detail(2).list("exchanges")[0].text("outcome")?.contains("REDACTED") == true)
        #expect(try !page.get("/har").body.contains("leaked-token-abcdef"))
        withExtendedLifetime(inspector) {}
    }

    /// Returns what the page, its event stream and the archive say about the first calls, after a last call whose
    /// request names `leaked-token-abcdef` as a secret.
    private func texts(
        _ endPoints: [URLEndPoint], answers: MockResponse..., isStreamFirst: Bool = false
    ) async throws -> [String] {
        let inspector = try NetworkInspector(CallLimits())
        let session = StubSession()
        for answer in answers + [.text("")] { session.enqueue(answer) }
        let router = Router<URLEndPoint>(session: session, monitors: [inspector])
        let login = URLEndPoint(
            .post, URL(text: "https://api.example.com/login"),
            task: .requestBody(JSONBody(["password": "leaked-token-abcdef"])))
        for endPoint in endPoints + [login] { _ = try? await router.response(for: endPoint) }
        let page = try Page(inspector)
        var texts: [String] = []
        func readStream() throws {
            let stream = try page.openStream()
            for _ in 0...endPoints.count { texts.append(stream.read(through: "\n\n")) }
        }
        if isStreamFirst { try readStream() }
        texts += try (1...endPoints.count).map { try page.get("/calls/\($0)").body } + [page.get("/har").body]
        if !isStreamFirst { try readStream() }
        return texts
    }

    @Test("a page that is opened late lists no secret of a much later call")
    func latePage() async throws {
        let url = URL(text: "https://api.example.com/users/leaked-token-abcdef")
        let texts = try await texts(
            [URLEndPoint(.get, url)] + (0..<200).map { _ in URLEndPoint(.get, URL(text: "https://api.example.com/")) },
            answers: .text("").repeated(201), isStreamFirst: true)
        for text in texts { #expect(!text.contains("leaked-token-abcdef")) }
        #expect(texts.count { $0.contains("/users/REDACTED") } >= 2)
    }

    @Test(
        "a secret without a name is masked in UTF-16 and UTF-32",
        arguments: [
            (String.Encoding.utf16LittleEndian, "echo "), (.utf16BigEndian, "echo "), (.utf32LittleEndian, "echo "),
            (.utf16LittleEndian, "\u{FEFF}"), (.utf16BigEndian, "\u{FEFF}"),
        ])
    func wideText(encoding: String.Encoding, start: String) async throws {
        let body = try #require("\(start)leaked-token-abcdef.".data(using: encoding))
        let texts = try await texts(
            [URLEndPoint(.get, URL(text: "https://api.example.com/"))],
            answers: .data(body, headers: ["Content-Type": "text/plain"]))
        let secret = try #require("leaked-token-abcdef".data(using: encoding))
        let archive = try #require(texts.first { $0.contains("startedDateTime") })
        let bodies = try JSONDecoder().decode(HAR.self, from: Data(archive.utf8)).log.entries.map(
            \.response.content.data)
        #expect(bodies.first?.isEmpty == false)
        for body in bodies { #expect(body.range(of: secret) == nil, "\(body.base64EncodedString())") }
    }

    @Test("a compressed body of a request is not stored")
    func compressedBody() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("") }, monitors: [inspector])
        let body = GzipBody(JSONBody(["password": "hunter2-pass"]))
        _ = try await router.response(
            for: URLEndPoint(.post, URL(text: "https://api.example.com/"), task: .requestBody(body)))
        let detail = try Page(inspector).detail(1)
        let sent = try detail.list("exchanges")[0].object("request").object("body")
        #expect(sent.text("text") == nil && sent.text("base64") == nil)
        #expect(sent.text("omitted") == "a stream, a file or compressed" && sent.number("size") ?? 0 > 0)
        #expect(detail.text("curl")?.contains("@BODY") == true)
    }

    @Test("the command for a body that is not stored adds no type to it")
    func largeBody() async throws {
        let inspector = try NetworkInspector(CallLimits(bodySize: 4))
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("") }, monitors: [inspector])
        let body = DataBody(Data("hello".utf8))
        _ = try await router.response(
            for: URLEndPoint(.post, URL(text: "https://api.example.com/"), task: .requestBody(body)))
        let command = try Page(inspector).detail(1).text("curl")
        #expect(command?.hasSuffix("-H 'Content-Type:' --data-binary @BODY  # BODY: a file of 5 bytes") == true)
    }

    @Test("a secret that a message or an event names is masked in other calls")
    func secretOfMessage() async throws {
        let inspector = try NetworkInspector(CallLimits())
        let session = StubSession { request in
            let recorder = inspector.messageRecorder(of: request.id)
            if request.url?.path == "/live" {
                recorder?(CallMessage(.text, isSent: false, Data(#"{"token":"leaked-token-abcdef"}"#.utf8)))
            }
            return .text("echo leaked-token-abcdef")
        }
        let router = Router<URLEndPoint>(session: session, monitors: [inspector])
        for path in ["leaked-token-abcdef", "live", "leaked-token-abcdef"] {
            _ = try await router.data(from: try #require(URL(string: "https://api.example.com/\(path)")))
        }
        let page = try Page(inspector)
        let stream = try page.openStream()
        let events = (1...3).map { _ in stream.read(through: "\n\n") }
        for text in try events + (1...3).map({ try page.get("/calls/\($0)").body }) + [page.get("/har").body] {
            #expect(!text.contains("leaked-token-abcdef"), "\(text)")
        }
        withExtendedLifetime(inspector) {}
    }

    @Test("a message that the limit cuts within a character is masked", arguments: [0, 1])
    func cutMessage(shift: Int) async throws {
        let inspector = try NetworkInspector(CallLimits())
        let long = String(repeating: "x", count: shift) + String(repeating: "é", count: 40_000)
        let message = Data(#"{"access_token":"leaked-token-abcdef","x":"\#(long)"}"#.utf8)
        let session = StubSession { request in
            inspector.messageRecorder(of: request.id)?(CallMessage(.text, isSent: true, message))
            return .text("")
        }
        let router = Router<URLEndPoint>(session: session, monitors: [inspector])
        _ = try await router.data(from: URL(text: "https://api.example.com/"))
        let text = try Page(inspector).detail(1).list("messages").first?.text("text")
        #expect(text?.hasPrefix(#"{"access_token":"REDACTED","x":""#) == true)
    }

    @Test("the names of an app's redaction are masked, by a mask valid in URLs")
    func ownRedaction() async throws {
        var redaction = Redaction.standard.adding(headerNames: ["X-Film"], parameterNames: ["film"])
        redaction.mask = "<hidden>"
        let inspector = try NetworkInspector(CallLimits(redaction: redaction))
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("film-name-1234") }, monitors: [inspector])
        _ = try await router.response(
            for: URLEndPoint(
                .get, URL(text: "https://api.example.com/?film=film-name-1234"), headers: ["X-Film": "other-5678"]))
        let text = try Page(inspector).get("/calls/1").body
        #expect(!text.contains("film-name-1234") && !text.contains("other-5678"))
        #expect(text.contains("film=REDACTED"))
    }
}
