import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(3)))
struct StatusMapTests {
    private let endPoint = URLEndPoint(.get, URL(text: "https://api.example.com/a"))

    @Test("S3.11 the seven messages are available, word for word")
    func messages() {
        #expect(
            ResponseMessage.allCases.map(\.rawValue) == [
                "success", "You need to be authenticated first.", "Bad request", "The url you requested is outdated.",
                "Network request failed.", "Response returned with no data to decode.",
                "We could not decode the response.",
            ])
    }

    @Test(
        "S3.11 the corrected map, 100...600: 400 bad request, 401/403/407 authentication, 404/410 outdated, else failed"
    )
    func standardMap() {
        for status in 100...600 {
            let expected: ResponseMessage =
                switch status {
                case 200...299: .success
                case 400: .badRequest
                case 401, 403, 407: .authenticationError
                case 404, 410: .outdated
                default: .failed
                }
            #expect(StatusMap.standard.message(for: status) == expected, "\(status)")
        }
    }

    @Test(
        "S3.11 the article's map, 100...600: 401...500 authentication, 501...599 bad request, 600 outdated, else failed"
    )
    func articleMap() {
        for status in 100...600 {
            let expected: ResponseMessage =
                switch status {
                case 200...299: .success
                case 401...500: .authenticationError
                case 501...599: .badRequest
                case 600: .outdated
                default: .failed
                }
            #expect(StatusMap.article.message(for: status) == expected, "\(status)")
        }
    }

    @Test("S3.11 5xx are server errors, whichever map chose the words", arguments: [500, 501, 503, 599])
    func serverErrors(status: Int) async throws {
        for map in [StatusMap.standard, .article] {
            let error = await failure(status: status, map: map)
            #expect(error?.code == (status == 500 ? .serverError : .error5xx))
        }
    }

    @Test(
        "S3.11 a router's errors speak in the words of the map selected",
        arguments: [
            (400, "Bad request", "Network request failed."),
            (401, "You need to be authenticated first.", "You need to be authenticated first."),
            (404, "The url you requested is outdated.", "You need to be authenticated first."),
            (422, "Network request failed.", "You need to be authenticated first."),
            (500, "Network request failed.", "You need to be authenticated first."),
            (503, "Network request failed.", "Bad request"),
            (600, "Network request failed.", "The url you requested is outdated."),
            (304, "Network request failed.", "Network request failed."),
        ])
    func selected(status: Int, standard: String, article: String) async throws {
        #expect(await failure(status: status, map: .standard)?.message == standard)
        #expect(await failure(status: status, map: .article)?.message == article)
    }

    @Test(
        "S4.6 codes for 100...599 exactly as the table has them, 3xx a code of their own, payload, headers and URL attached"
    )
    func codes() async throws {
        let router = Router<URLEndPoint>(
            session: StubSession { request in
                .json(#"{"why":1}"#, status: Int(request.headers["X-Status"] ?? "") ?? 0, headers: ["X-Trace": "7"])
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
            #expect(error?.status == status)
            #expect(error?.headers?["X-Trace"] == "7")
            #expect(error?.url == asked.baseURL)
            #expect(error?.errorDescription?.isEmpty == false)
            let hasNoBody = status < 200 || status == 304
            #expect(error?.body == Data(hasNoBody ? "".utf8 : #"{"why":1}"#.utf8), "\(status)")
        }
    }

    @Test("S4.6 each of 200...299 is a success")
    func successes() async throws {
        let session = StubSession { request in .status(Int(request.headers["X-Status"] ?? "") ?? 0) }
        let router = Router<URLEndPoint>(session: session)
        for status in 200...299 {
            let asked = URLEndPoint(.get, endPoint.baseURL, headers: ["X-Status": "\(status)"])
            #expect(try await router.response(for: asked).statusCode == status)
        }
    }

    @Test("S4.6 304 and others can be accepted as success by choice")
    func accepted() async throws {
        let handlings = [
            ResponseHandling(acceptedStatuses: .success(and: 304)), ResponseHandling(acceptedStatuses: .any),
            ResponseHandling(acceptedStatuses: .range(200..<400)),
            ResponseHandling(acceptedStatuses: AcceptedStatuses { $0 == 304 }),
        ]
        for handling in handlings {
            let manager = NetworkManager(session: StubSession { _ in .status(304) }, responseHandling: handling)
            #expect(try await manager.response(for: endPoint).statusCode == 304)
        }
    }

    @Test(
        "S4.6 errorDescription is not empty for any code, and says nothing about Foundation's domains",
        arguments: allCodes)
    func descriptions(code: NetworkError.Code) {
        let error = NetworkError(code)
        #expect(error.errorDescription?.isEmpty == false)
        #expect(error.localizedDescription == error.errorDescription)
        #expect(!error.message.isEmpty)
        #expect(!error.localizedDescription.contains("NetworkError error"))
    }

    @Test("S4.6 errors are Equatable by what happened")
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
        let options = RequestOptions { $0.responseHandling = ResponseHandling(statusMap: map) }
        let router = Router<URLEndPoint>(
            session: StubSession { _ in .status(status) }, builder: RequestBuilder(options: options))
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
