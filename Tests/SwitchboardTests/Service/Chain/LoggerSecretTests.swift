import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// Plants a secret in each part of a request or a response, and searches the log for it.
@Suite(.timeLimit(.minutes(10)))
struct LoggerSecretTests {
    @Test(
        "secrets in headers, query, bodies and userinfo are never logged", .requirement("S3.14"),
        arguments: Planted.all)
    func requests(planted: Planted) async throws {
        let lines = try await log(planted.endPoint, .json("{}"))
        #expect(lines.contains("<redacted>"))
        #expect(!lines.contains("hunter2"))
        #expect(!lines.contains("aHVudGVyMg"))  // the same in Base64
    }

    @Test(
        "secrets in responses are never logged", .requirement("S3.14"),
        arguments: PlantedAnswer.all)
    func responses(planted: PlantedAnswer) async throws {
        let lines = try await log(URLEndPoint(.get, URL(text: "https://api.example.com/a")), planted.response)
        #expect(lines.contains("<redacted>"))
        #expect(!lines.contains("hunter2"))
    }

    @Test("secrets are never in a failure's log line or the error's texts", .requirement("S3.14"))
    func failures() async throws {
        let url = URL(text: "https://me:hunter2@api.example.com/a?api_key=hunter2")
        let lines = Deliveries<String>()
        let body = Data(#"{"message":"no","token":"hunter2"}"#.utf8)
        let session = StubSession(.failure(.timedOut), .json(body, statusCode: 400), .json(#"{"password":"hunter2"}"#))
        let router = Router<URLEndPoint>(
            session: session,
            interceptors: [NetworkLogger(level: .body, writesCurlCommand: true, output: { lines.add($0) })])
        for _ in 0..<3 {
            let error = await #expect(throws: NetworkError.self) {
                try await router.request(URLEndPoint(.get, url), as: [Int].self)
            }
            #expect(error?.description.contains("hunter2") == false)
            #expect(error?.errorDescription?.contains("hunter2") == false)
            #expect(error?.failureReason?.contains("hunter2") != true)
        }
        #expect(lines.all.count == 6)
        #expect(!lines.all.joined().contains("hunter2"))
    }

    @Test("custom names are redacted too, and redaction can be turned off", .requirement("S3.14"))
    func ownNames() async throws {
        let endPoint = URLEndPoint(.get, URL(text: "https://a.example.com/?pin=hunter2"), headers: ["X-Pin": "hunter2"])
        let own = Redaction.standard.adding(headerNames: ["x-pin"], parameterNames: ["PIN"])
        #expect(try await !log(endPoint, .text(""), own).contains("hunter2"))
        #expect(try await log(endPoint, .text(""), .none).contains("X-Pin: hunter2"))
    }

    @Test("as a monitor, a logger redacts its own names, and writes single lines")
    func monitor() async throws {
        struct Lines: LocalizedError { let errorDescription: String? = "ticket=hunter2\nnext" }
        struct Thrower: Interceptor {
            func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
                _ = try await next(request)
                request.report(.note("saw ticket=hunter2"))
                throw Lines()
            }
        }
        let lines = Deliveries<String>()
        let logger = NetworkLogger(redaction: .standard.adding(parameterNames: ["ticket"])) { lines.add($0) }
        let router = Router<URLEndPoint>(
            session: StubSession(.status(302, headers: ["Location": "/b?ticket=hunter2"]), .text("")),
            interceptors: [Thrower()], monitors: [logger])
        let endPoint = URLEndPoint(.get, URL(text: "https://a.example.com/?ticket=hunter2"))
        await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(lines.all.contains { $0.contains("redirected to https://a.example.com/b?ticket=<redacted>") })
        #expect(lines.all.last?.contains("failed: The request failed: Thrower threw") == true)
        #expect(lines.all.contains { $0.contains("saw ticket=<redacted>") })
        #expect(!lines.all.joined().contains("hunter2"))
        #expect(lines.all.allSatisfy { !$0.contains("\n") })
    }

    @Test("text that is not secret stays readable", .requirement("S3.14"))
    func readable() async throws {
        let task = HTTPTask.requestParameters(
            bodyParameters: ["user": "ann", "password": "hunter2"], urlParameters: ["page": 3])
        let endPoint = URLEndPoint(.post, URL(text: "https://a.example.com/login"), task: task)
        let lines = try await log(endPoint, .text("welcome"))
        #expect(lines.contains("https://a.example.com/login?page=3"))
        #expect(lines.contains(#"{"user":"ann","password":"<redacted>"}"#))
        #expect(lines.contains("welcome"))
    }

    private func log(_ endPoint: URLEndPoint, _ response: MockResponse, _ redaction: Redaction = .standard) async throws
        -> String
    {
        let lines = Deliveries<String>()
        let logger = NetworkLogger(
            level: .body, redaction: redaction, writesCurlCommand: true, output: { lines.add($0) })
        let router = Router<URLEndPoint>(
            session: StubSession(response), interceptors: [logger, RedirectInterceptor.none])
        _ = try await router.rawResponse(for: endPoint)
        return lines.all.joined(separator: "\n")
    }
}

extension LoggerSecretTests {
    struct Planted: Sendable, CustomTestStringConvertible {
        let name: String
        let endPoint: URLEndPoint
        var testDescription: String { name }

        private static let url = URL(text: "https://api.example.com/a?page=1")

        static let all: [Planted] =
            ["Authorization", "authorization", "Proxy-Authorization", "Cookie", "X-API-Key", "X-Auth-Token"].map {
                name in
                Planted(name: "header \(name)", endPoint: URLEndPoint(.get, url, headers: [name: "Bearer hunter2"]))
            }
            + [
                Planted(
                    name: "Basic header",
                    endPoint: URLEndPoint(.get, url, headers: ["Authorization": "Basic bWU6aHVudGVyMg=="])),
                Planted(
                    name: "Referer",
                    endPoint: URLEndPoint(.get, url, headers: ["Referer": "https://b.example.com/?token=hunter2"])),
            ]
            + ["api_key", "API_KEY", "access_token", "password", "client_secret", "user[password]"].map { name in
                Planted(
                    name: "query \(name)",
                    endPoint: URLEndPoint(.get, url, task: .requestParameters(urlParameters: [name: "hunter2"])))
            }
            + [
                Planted(
                    name: "escaped query name",
                    endPoint: URLEndPoint(.get, URL(text: "https://api.example.com/?api%5Fkey=hunter2"))),
                Planted(
                    name: "form", endPoint: post(["user": "ann", "password": "hunter2"], .formEncoding)),
                Planted(name: "JSON", endPoint: post(["user": "ann", "password": "hunter2"], .jsonEncoding)),
                Planted(name: "nested JSON", endPoint: post(["a": [["token": "hunter2"]]], .jsonEncoding)),
                Planted(
                    name: "JSON object as secret",
                    endPoint: post(["secret": ["x": ["hunter2", "hunter2"]]], .jsonEncoding)),
                Planted(
                    name: "userinfo", endPoint: URLEndPoint(.get, URL(text: "https://me:hunter2@api.example.com/"))),
                Planted(
                    name: "userinfo without name",
                    endPoint: URLEndPoint(.get, URL(text: "https://hunter2@api.example.com/"))),
            ]

        private static func post(_ parameters: Parameters, _ encoding: ParameterEncoding) -> URLEndPoint {
            URLEndPoint(.post, url, task: .requestParameters(bodyParameters: parameters, bodyEncoding: encoding))
        }
    }

    struct PlantedAnswer: Sendable, CustomTestStringConvertible {
        let name: String
        let response: MockResponse
        var testDescription: String { name }

        static let all = [
            PlantedAnswer(name: "Set-Cookie", response: .text("", headers: ["Set-Cookie": "id=hunter2; Path=/"])),
            PlantedAnswer(name: "JSON", response: .json(#"{"user":"ann","access_token":"hunter2","id":1}"#)),
            PlantedAnswer(name: "pretty JSON", response: .json("{\n  \"token\" : [\n    \"hunter2\"\n  ]\n}")),
            PlantedAnswer(name: "cut JSON", response: .json(#"{"user":"ann","refresh_token":"hunter2"#)),
            PlantedAnswer(name: "form", response: .text("user=ann&access_token=hunter2")),
            PlantedAnswer(
                name: "Location query",
                response: .status(302, headers: ["Location": "https://b.example.com/?code=hunter2&x=1"])),
            PlantedAnswer(
                name: "Location fragment",
                response: .status(302, headers: ["Location": "https://b.example.com/?x=1#access_token=hunter2"])),
        ]
    }
}
