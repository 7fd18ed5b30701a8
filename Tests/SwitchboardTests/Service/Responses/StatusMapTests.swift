import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StatusMapTests {
    private let endPoint = URLEndPoint(.get, URL(text: "https://api.example.com/a"))

    @Test(
        "an error has plain words for its status", .requirement("S3.11"),
        arguments: [
            (400, "Bad request (400)"),
            (401, "Sign in first (401)"),
            (403, "Not allowed (403)"),
            (404, "Not found (404)"),
            (422, "The content is not valid (422)"),
            (429, "Too many requests (429)"),
            (499, "The request was refused (499)"),
            (500, "The server failed (500)"),
            (503, "The server is not available (503)"),
            (599, "The server failed (599)"),
            (600, "Unexpected status (600)"),
            (304, "Not changed (304)"),
        ])
    func words(status: Int, message: String) async throws {
        #expect(await failure(status: status, map: .standard)?.message == message)
    }

    // https://www.iana.org/assignments/http-status-codes, 2025; 418 is unused there.
    @Test("every registered error status has a distinct message", .requirement("S3.11"))
    func plainWords() async {
        let registered = Array(400...417) + [421, 422, 423, 424, 425, 426, 428, 429, 431, 451] + Array(500...508)
        var seen: Set<String> = []
        for status in registered + [510, 511] {
            let error = await failure(status: status, map: .standard)
            let message = error?.message ?? ""
            #expect(message.hasSuffix(" (\(status))") && message.first?.isUppercase == true, "\(message)")
            let words = String(message.dropLast(" (\(status))".count))
            #expect(seen.insert(words).inserted && words != "The request was refused", "\(message)")
            #expect(error?.description.hasPrefix("HTTP \(status): \(words) (GET https://") == true)
        }
    }

    @Test(
        "the message includes the wait from Retry-After", .requirement("S3.11"),
        arguments: [
            (429, "20", "Too many requests (429), try again in 20 s"), (429, "0", "Too many requests (429)"),
            (429, "120", "Too many requests (429), try again in 120 s"),
            (429, "121", "Too many requests (429), try again in 3 min"),
            (503, "7201", "The server is not available (503), try again in 3 h"),
            (503, "172801", "The server is not available (503), try again in 3 days"),
            (503, "Sun, 06 Nov 1994 08:49:37 GMT", "The server is not available (503)"),
            (429, "soon", "Too many requests (429)"),
        ])
    func waits(status: Int, value: String, message: String) async {
        let router = Router<URLEndPoint>(session: StubSession(.status(status, headers: ["Retry-After": value])))
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.message == message)
        let wait = message.split(separator: ",", maxSplits: 1).dropFirst().first.map { ",\($0)" } ?? ""
        #expect(error?.description.contains("\(wait) (GET https://") == true)
    }

    @Test("a map of the app selects the message", .requirement("S3.11"))
    func otherMessages() async {
        let own = await failure(status: 404, map: StatusMap(message: { "Outdated: \($0)." }))
        #expect(own?.message == "Outdated: 404.")
        #expect(own?.description.hasPrefix("HTTP 404: Outdated: 404. (GET") == true)
        var made = NetworkError(.notFound)
        #expect(made.message == "Not found")
        made.statusCode = 404
        #expect(made.message == "Not found (404)" && made.description == "HTTP 404: Not found")
    }

    @Test("each of 100...599 has its code, with payload, headers and URL", .requirement("S4.6"))
    func codes() async throws {
        let router = Router<URLEndPoint>(
            session: StubSession { request in
                .json(#"{"why":1}"#, statusCode: Int(request.headers["X-Status"] ?? "") ?? 0, headers: ["X-Trace": "7"])
            })
        for status in 100...599 where !(200...299).contains(status) {
            let expected: NetworkError.Code =
                switch status {
                case 400: .badRequest
                case 401: .unauthorized
                case 403: .forbidden
                case 404: .notFound
                case 402, 405...499: .error4xx
                case 500: .serverError
                case 501...599: .error5xx
                case 300...399: .redirection
                default: .unexpectedStatus
                }
            let asked = URLEndPoint(.get, endPoint.baseURL, headers: ["X-Status": "\(status)"])
            let error = await #expect(throws: NetworkError.self) { try await router.response(for: asked) }
            #expect(error?.code == expected, "\(status)")
            #expect(error?.statusCode == status)
            #expect(error?.headers?["X-Trace"] == "7")
            #expect(error?.url == asked.baseURL)
            #expect(error?.errorDescription?.isEmpty == false)
            let hasNoBody = status < 200 || status == 304
            #expect(error?.body == Data(hasNoBody ? "".utf8 : #"{"why":1}"#.utf8), "\(status)")
        }
    }

    @Test("each of 200...299 is a success", .requirement("S4.6"))
    func successes() async throws {
        let session = StubSession { request in .status(Int(request.headers["X-Status"] ?? "") ?? 0) }
        let router = Router<URLEndPoint>(session: session)
        for status in 200...299 {
            let asked = URLEndPoint(.get, endPoint.baseURL, headers: ["X-Status": "\(status)"])
            #expect(try await router.response(for: asked).statusCode == status)
        }
    }

    @Test("304 and others can be accepted as success by choice", .requirement("S4.6"))
    func accepted() async throws {
        let choices: [RequestOptions.AcceptedStatusCodes] = [
            .success(and: 304), .any, .range(200..<400), .init { $0 == 304 },
        ]
        for accepted in choices {
            let manager = NetworkManager(
                session: StubSession { _ in .status(304) },
                options: RequestOptions { $0.acceptedStatusCodes = accepted })
            #expect(try await manager.response(for: endPoint).statusCode == 304)
        }
    }

    @Test(
        "errorDescription is never empty and names no Foundation domain", .requirement("S4.6"),
        arguments: allCodes)
    func descriptions(code: NetworkError.Code) {
        let error = NetworkError(code)
        #expect(error.errorDescription?.isEmpty == false)
        #expect(error.localizedDescription == error.errorDescription)
        #expect(!error.message.isEmpty)
        #expect(!error.localizedDescription.contains("NetworkError error"))
    }

    @Test("equal failures are equal errors", .requirement("S4.6"))
    func equatable() async throws {
        let one = try #require(await failure(status: 404, map: .standard))
        let other = try #require(await failure(status: 404, map: .standard))
        let different = try #require(await failure(status: 403, map: .standard))
        #expect(one == other)
        #expect(one != different)
        #expect(NetworkError(.error4xx) == NetworkError(.error4xx))
        #expect(NetworkError(.error4xx, reason: "a") != NetworkError(.error4xx, reason: "b"))
    }

    private func failure(status: Int, map: StatusMap) async -> NetworkError? {
        let options = RequestOptions { $0.statusMap = map }
        let router = Router<URLEndPoint>(
            session: StubSession { _ in .status(status) }, options: options)
        return await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
    }

    static let allCodes: [NetworkError.Code] = [
        .invalidRequest, .missingURL, .parametersNil, .encodingFailed, .unreadableFile, .bodyNotAllowed, .unsupported,
        .unknownEnvironment, .notCached, .resetInProgress, .circuitOpen, .verificationFailed,
        .sessionInvalidated, .cancelled, .timedOut, .cannotConnect, .cannotFindHost, .noInternetConnection,
        .connectionLost,
        .insecureConnection, .cannotAuthenticate, .invalidResponse, .truncatedBody, .responseTooLarge, .headersTooLarge,
        .cannotDecodeResponse, .cannotWriteFile, .tooManyRedirects, .redirectRefused, .badRequest, .unauthorized,
        .forbidden,
        .notFound, .error4xx, .serverError, .error5xx, .redirection, .unexpectedStatus, .custom, .other, .noData,
        .decodingFailed,
        .unexpectedContentType, .unknown, NetworkError.Code(rawValue: "appsOwn"),
    ]
}
