import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ErrorMappingTests {
    private let endPoint = URLEndPoint(.get, URL(text: "https://api.example.com/a?page=1"))

    @Test(
        "each URLError becomes its code and stays attached as the cause", .requirement("S2.10", "S4.7"),
        arguments: URLErrors.table)
    func urlErrors(urlError: URLError.Code, code: NetworkError.Code) async throws {
        let router = Router<URLEndPoint>(session: AdHocSession { _ in throw URLError(urlError) })
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.code.isKind(of: code) == true)
        #expect(error?.urlErrorCode == urlError)
        #expect(error?.request?.url == endPoint.baseURL)
    }

    #if os(Linux)
    @Test(
        "libcurl's texts identify lost and refused connections on Linux",
        .requirement("S2.10"),
        arguments: [
            ("Send failure: Broken pipe", NetworkError.Code.connectionLost),
            ("Recv failure: Connection reset by peer", .connectionLost),
            ("Failed to connect to 127.0.0.1 port 9 after 2 ms: Couldn't connect to server", .cannotConnect),
        ])
    func libcurlWords(text: String, code: NetworkError.Code) async throws {
        let urlError = URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: text])
        let router = Router<URLEndPoint>(session: AdHocSession { _ in throw urlError })
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.code == code)
    }
    #endif

    @Test("offline, DNS and lost-connection codes are children of cannotConnect", .requirement("S2.10"))
    func specialCodes() {
        for code in [NetworkError.Code.noInternetConnection, .cannotFindHost, .connectionLost] {
            #expect(code.parent == .cannotConnect)
        }
    }

    @Test(
        "URLErrors for cancellation become CancellationError or canceled",
        .requirement("S2.10", "S4.7"),
        arguments: [URLError.Code.cancelled, .userCancelledAuthentication])
    func cancellations(urlError: URLError.Code) async throws {
        let router = Router<URLEndPoint>(session: AdHocSession { _ in throw URLError(urlError) })
        await #expect(throws: CancellationError.self) { try await router.response(for: endPoint) }
        let results = Deliveries<Result<String, NetworkError>>()
        router.request(endPoint, as: String.self) { results.add($0) }
        #expect(try await results.first().failureCode == .cancelled)
    }

    @Test("a DecodingError of a decoding closure has its key path in the reason")
    func keyPathOfClosure() async {
        let router = Router<URLEndPoint>(session: StubSession(.json(#"{"a":"text"}"#)))
        let error = await #expect(throws: NetworkError.self) {
            try await router.request(endPoint) { try JSONDecoder().decode([String: Int].self, from: $0.body) }
        }
        #expect(error?.code == .decodingFailed)
        #expect(error?.reason?.hasPrefix("a: expected Int, found ") == true)
        #expect(error?.underlying is DecodingError)
    }

    @Test("a CancellationError of a decoding closure is thrown unchanged")
    func cancellationOfClosure() async {
        let router = Router<URLEndPoint>(session: StubSession(.text("")))
        await #expect(throws: CancellationError.self) {
            try await router.request(endPoint) { _ -> Int in throw CancellationError() }
        }
    }

    @Test("an EncodingError in a body or an interceptor is an invalidRequest", .requirement("S2.10"))
    func encodingErrors() async throws {
        let session = StubSession { _ in .text("no") }
        let router = Router<URLEndPoint>(session: session)
        let body = JSONBody(["number": Double.infinity], encoder: JSONEncoder())
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.post, endPoint.baseURL, task: .requestBody(body)))
        }
        #expect(error?.code.isKind(of: .invalidRequest) == true)
        #expect(error?.underlying is EncodingError)
        #expect(session.requests.isEmpty)

        let signing = AdHocInterceptor { request, next in
            _ = try JSONEncoder().encode(["number": Double.nan])
            return try await next(request)
        }
        let signed = Router<URLEndPoint>(session: session, interceptors: [signing])
        let other = await #expect(throws: NetworkError.self) { try await signed.response(for: endPoint) }
        #expect(other?.code.isKind(of: .invalidRequest) == true)
        #expect(other?.underlying is EncodingError)
        #expect(session.requests.isEmpty)
    }

    @Test("a DecodingError anywhere in a call becomes cannotDecodeResponse", .requirement("S2.10", "S4.7"))
    func decodingErrors() async throws {
        let session = StubSession { _ in .json(#"{"a":"text"}"#) }
        let router = Router<URLEndPoint>(session: session)
        let error = await #expect(throws: NetworkError.self) {
            try await router.request(endPoint, as: [String: Int].self)
        }
        #expect(error?.code.isKind(of: .cannotDecodeResponse) == true)
        #expect(error?.underlying is DecodingError)
        #expect(error?.reason?.hasPrefix("a: expected Int") == true)

        let unwrapping = AdHocInterceptor { request, next in
            let response = try await next(request)
            _ = try JSONDecoder().decode([Int].self, from: response.body)
            return response
        }
        let unwrapped = Router<URLEndPoint>(session: session, interceptors: [unwrapping])
        let other = await #expect(throws: NetworkError.self) { try await unwrapped.response(for: endPoint) }
        #expect(other?.code.isKind(of: .cannotDecodeResponse) == true)
        #expect(other?.underlying is DecodingError)
        #expect(other?.reason?.hasPrefix("top level: expected an array") == true)

        let results = Deliveries<Result<[Int], NetworkError>>()
        let decode: @Sendable (NetworkResponse) throws -> [Int] = {
            try JSONDecoder().decode([Int].self, from: $0.body)
        }
        _ = router.prepare(endPoint).start(transform: { Transferred(try decode($0)) }) { results.add($0) }
        #expect(try await results.first().failureCode?.isKind(of: .cannotDecodeResponse) == true)
    }

    @Test("an error has its request and the partial response", .requirement("S2.10"))
    func partialResponse() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("0123456789", headers: ["X-Trace": "7"]).truncated(after: 4))
            let endPoint = URLEndPoint(.get, server.url.appendingPathComponent("cut"), headers: ["X-Mine": "1"])
            let router = Router<URLEndPoint>(session: DefaultSession.make())
            let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
            #expect(error?.code.isKind(of: .invalidResponse) == true)
            #expect(error?.request?.url == endPoint.baseURL)
            #expect(error?.request?.headers["X-Mine"] == "1")
            #expect(error?.response?.statusCode == 200)
            #expect(error?.response?.headers["X-Trace"] == "7")
            #expect(error?.response?.body == Data("0123".utf8))
            let seen = try await server.takeRequest()
            #expect(seen.path == "/cut")
        }
    }

    @Test("a response has its request, and so has a failure without a response", .requirement("S2.10", "S0.10"))
    func requestInBothCases() async throws {
        let session = StubSession(.text("fine"), .close)
        let router = Router<URLEndPoint>(session: session)
        let response = try await router.response(for: endPoint)
        #expect(response.request?.url == endPoint.baseURL)
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.request?.url == endPoint.baseURL)
        #expect(error?.response == nil)
        #expect(error?.statusCode == nil)
    }

    @Test("a transport failure says to check the network and keeps its cause", .requirement("S3.13"))
    func transportFailure() async throws {
        try await MockServer.run { server in
            server.enqueue(.close)
            let router = Router<URLEndPoint>(session: FoundationSession())
            let error = await #expect(throws: NetworkError.self) {
                try await router.response(for: URLEndPoint(.get, server.url))
            }
            #expect(error?.message == "Please check your network connection.")
            #expect(error?.underlying is URLError)
            _ = try await server.takeRequest()
        }
    }

    @Test("the message of a truncated response says that it ended early", .requirement("S3.13"))
    func truncatedMessage() async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("abcdef").truncated(after: 3) })
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.code == .truncatedBody)
        #expect(error?.message == "The response ended early")
    }
}

/// Each URLError and its expected code.
private enum URLErrors {
    static let table: [(URLError.Code, NetworkError.Code)] =
        pairs(.invalidRequest, [.badURL, .unsupportedURL, .requestBodyStreamExhausted])
        + pairs(
            .cannotConnect,
            [
                .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .networkConnectionLost, .httpTooManyRedirects,
                .redirectToNonExistentLocation, .notConnectedToInternet, .internationalRoamingOff, .callIsActive,
                .dataNotAllowed,
                .resourceUnavailable,
            ])
        + pairs(
            .insecureConnection,
            [
                .secureConnectionFailed, .appTransportSecurityRequiresSecureConnection, .serverCertificateHasBadDate,
                .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
                .clientCertificateRejected, .clientCertificateRequired,
            ])
        + pairs(.cannotAuthenticate, [.userAuthenticationRequired])
        + pairs(.timedOut, [.timedOut])
        + pairs(
            .invalidResponse, [.badServerResponse, .cannotParseResponse, .zeroByteResource])
        + pairs(.responseTooLarge, [.dataLengthExceedsMaximum])
        + pairs(.cannotDecodeResponse, [.cannotDecodeRawData, .cannotDecodeContentData])
        + pairs(.unknown, [.unknown, .cannotOpenFile, .fileDoesNotExist, .cannotMoveFile])

    private static func pairs(_ code: NetworkError.Code, _ errors: [URLError.Code]) -> [(
        URLError.Code, NetworkError.Code
    )] {
        errors.map { ($0, code) }
    }
}
