import Foundation
import SwitchboardTestSupport
import Testing

@testable import Switchboard

struct NetworkErrorTests {
    private func caught(_ error: any Error) -> String {
        do {
            throw error
        } catch NetworkError.timedOut {
            return "timedOut"
        } catch NetworkError.cannotConnect {
            return "cannotConnect"
        } catch NetworkError.invalidRequest {
            return "invalidRequest"
        } catch let error as NetworkError where error.statusCode == 422 {
            return "422"
        } catch {
            return "other"
        }
    }

    @Test("catch by code works, and a parent code catches its children")
    func catching() {
        #expect(caught(NetworkError(.timedOut)) == "timedOut")
        #expect(caught(NetworkError(.cannotConnect)) == "cannotConnect")
        for code in [
            NetworkError.cannotFindHost, .noInternetConnection, .connectionLost,
        ] {
            #expect(caught(NetworkError(code)) == "cannotConnect")
        }
        for code in [NetworkError.missingURL, .parametersNil, .encodingFailed, .bodyNotAllowed, .unknownEnvironment] {
            #expect(caught(NetworkError(code)) == "invalidRequest")
        }
        var unprocessable = NetworkError(.error4xx)
        unprocessable.statusCode = 422
        #expect(caught(unprocessable) == "422")
        #expect(caught(NetworkError(.unknown)) == "other" && caught(URLError(.timedOut)) == "other")
        #expect(caught(CancellationError()) == "other")
    }

    @Test("a code is of its ancestors' kinds; a parent is not of its child's kind")
    func kinds() {
        #expect(NetworkError.Code.unexpectedContentType.isKind(of: .cannotDecodeResponse))
        #expect(NetworkError.Code.unexpectedContentType.isKind(of: .decodingFailed))
        #expect(NetworkError.Code.unreadableFile.isKind(of: .invalidRequest))
        #expect(NetworkError.Code.timedOut.isKind(of: .timedOut))
        for code in [NetworkError.Code.badRequest, .unauthorized, .forbidden, .notFound] {
            #expect(code.isKind(of: .error4xx) && !NetworkError.Code.error4xx.isKind(of: code))
        }
        #expect(NetworkError.Code.serverError.isKind(of: .error5xx))
        #expect(!NetworkError.Code.cannotConnect.isKind(of: .cannotFindHost))
        #expect(!NetworkError.Code.cancelled.isKind(of: .cannotConnect))
        #expect(NetworkError.Code.timedOut.parent == nil && NetworkError.Code.truncatedBody.parent == .invalidResponse)
    }

    @Test("an app's own error has its own text for a person, without secrets")
    func ownTexts() {
        struct Refusal: LocalizedError {
            var errorDescription: String? { "Name is taken, password=hunter2" }
        }
        #expect(NetworkError(.custom, reason: "Name is taken").localizedDescription == "Name is taken")
        let error = NetworkError(.unknown, underlying: Refusal())
        #expect(error.localizedDescription == "Name is taken, password=<redacted>")
        #expect(NetworkError(.unknown, reason: "internal").localizedDescription == "Something went wrong")
    }

    @Test("the set of codes is open: an app's custom code is caught by its name")
    func openCodes() {
        let own = NetworkError.Code(rawValue: "quotaExceeded")
        let error = NetworkError(own, reason: "5 of 5 used")
        #expect(error.code == own && error.code.isKind(of: own) && error.code.parent == nil)
        #expect(error.description == "quotaExceeded: 5 of 5 used")
        #expect(own ~= (error as any Error) && !(own ~= (NetworkError(.unknown) as any Error)))
    }

    /// All codes of the package, by their names in `NetworkError`.
    private static let codes: [NetworkError.Code] = [
        .invalidRequest, .missingURL, .parametersNil, .encodingFailed, .unreadableFile, .bodyNotAllowed, .unsupported,
        .unknownEnvironment, .notCached, .resetInProgress, .circuitOpen, .verificationFailed,
        .sessionInvalidated, .cancelled, .timedOut, .cannotConnect, .cannotFindHost, .noInternetConnection,
        .connectionLost,
        .insecureConnection, .cannotAuthenticate, .invalidResponse, .truncatedBody, .responseTooLarge, .headersTooLarge,
        .cannotDecodeResponse, .cannotWriteFile, .tooManyRedirects, .redirectRefused, .badRequest, .unauthorized,
        .forbidden, .notFound,
        .error4xx, .serverError, .error5xx, .redirection, .unexpectedStatus, .custom, .other, .noData, .decodingFailed,
        .unexpectedContentType, .unknown,
    ]

    @Test("each listed code has texts of several words", arguments: codes)
    func texts(code: NetworkError.Code) {
        let error: any Error = NetworkError(code)
        #expect(error.localizedDescription.contains(" "))
        #expect((error as? NetworkError)?.message.contains(" ") == true)
        #expect(code.description == code.rawValue)
    }

    @Test("a published text is exact; a reason, if any, follows a colon", .requirement("S0.11", "S3.5"))
    func publishedTexts() {
        let texts = [NetworkError.Code.invalidRequest, .missingURL, .parametersNil, .encodingFailed].map {
            (NetworkError($0) as any Error).localizedDescription
        }
        #expect(
            texts == [
                "Unable to create the request", "URL is nil.", "Parameters were nil.",
                "Parameter encoding failed.",
            ])
        #expect(
            NetworkError(.invalidRequest, reason: "why").localizedDescription == "Unable to create the request: why")
        #expect(NetworkError(.encodingFailed, reason: "why").localizedDescription == "Parameter encoding failed. Why")
        #expect(
            NetworkError(.encodingFailed, reason: "user.id: why").localizedDescription
                == "Parameter encoding failed. user.id: why")
        #expect(NetworkError(.invalidRequest, reason: "why").message == "Unable to create the request")
        #expect(NetworkError(.invalidRequest, reason: "why").failureReason == "why")
    }

    @Test("no text of an error shows a secret of its request, response or cause")
    func noSecrets() throws {
        struct Leaky: LocalizedError { var errorDescription: String? { "GET https://h/?token=s3cret failed" } }
        var error = NetworkError(.unauthorized, underlying: Leaky())
        error.url = URL(text: "https://ann:s3cret@h.example/p?api_key=s3cret&page=1")
        error.method = .get
        error.endPointName = "MovieApi.popular"
        error.statusCode = 401
        error.headers = ["Set-Cookie": "sid=s3cret"]
        error.body = Data(#"{"token":"s3cret"}"#.utf8)
        var dumped = ""
        dump(error, to: &dumped)
        let texts = [
            "\(error)", String(reflecting: error), error.localizedDescription, error.errorDescription ?? "", dumped,
            "\(error as NSError)", "\(NetworkError(.unknown, underlying: error))",
        ]
        for text in texts { #expect(!text.contains("s3cret")) }
        #expect(
            error.description.contains("MovieApi.popular") && error.description.contains("page=1")
                && error.description.contains("401"))
    }

    @Test("an error about a request hides the secrets in its parameters")
    func noSecretsOfParameters() {
        let task = HTTPTask.requestParameters(
            bodyParameters: ["password": ["s3cret": Double.nan]], urlParameters: ["api_key": "s3cret"])
        let error = #expect(throws: NetworkError.self) {
            try RequestBuilder().makeRequest(
                for: EndPointFixture(
                    path: "p", httpMethod: .get,
                    task: .requestBody(JSONBody(["k": "s3cret"]), urlParameters: ["api_key": "s3cret"])))
        }
        #expect(error?.code == .bodyNotAllowed)
        #expect(error?.description.contains("s3cret") == false)
        let failed = #expect(throws: NetworkError.self) {
            try RequestBuilder().makeRequest(for: EndPointFixture(httpMethod: .post, task: task))
        }
        #expect(failed?.description.contains("api_key=s3cret") == false)
    }

    @Test("decode(_:) throws noData without a body and names a wrong key path")
    func decodeBody() throws {
        struct Problem: Decodable, Equatable {
            struct Detail: Decodable, Equatable { var field: String }; var message: String; var details: [Detail]
        }
        var error = NetworkError(.error4xx)
        #expect(#expect(throws: NetworkError.self) { try error.decode(Problem.self) }?.code == .noData)
        error.body = Data()
        #expect(#expect(throws: NetworkError.self) { try error.decode(Problem.self) }?.code == .noData)
        error.body = Data(#"{"message":"m","details":[{"field":"f"}]}"#.utf8)
        #expect(try error.decode(Problem.self) == Problem(message: "m", details: [.init(field: "f")]))
        error.body = Data(#"{"message":"m","details":[{"field":5}],"token":"s3cret"}"#.utf8)
        let failure = #expect(throws: NetworkError.self) { try error.decode(Problem.self) }
        #expect(failure?.code == .decodingFailed && failure?.underlying is DecodingError)
        #expect(failure?.reason?.contains("details[0].field") == true && failure?.reason?.contains("String") == true)
        #expect(failure?.description.contains("s3cret") == false)
        error.body = Data("<html>".utf8)
        #expect(#expect(throws: NetworkError.self) { try error.decode(Problem.self) }?.code == .decodingFailed)
    }

    @Test("decode(_:) takes a custom decoder")
    func ownDecoder() throws {
        struct Problem: Decodable, Equatable { var errorCode: Int }
        var error = NetworkError(.error4xx)
        error.body = Data(#"{"error_code":7}"#.utf8)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        #expect(try error.decode(Problem.self, decoder: decoder) == Problem(errorCode: 7))
        let list = try PropertyListEncoder().encode(["errorCode": 7])
        error.body = list
        #expect(try error.decode(Problem.self, decoder: PropertyListDecoder()) == Problem(errorCode: 7))
    }

    @Test("an endpoint's name comes from the request unless the error has one")
    func endPointNames() throws {
        let request = try RequestBuilder().makeRequest(for: EndPointFixture())
        var own = NetworkError(.timedOut)
        own.endPointName = "Own"
        #expect(own.attributed(to: request).endPointName == "Own")
        var error = NetworkError(.timedOut).attributed(to: request)
        #expect(error.endPointName == "EndPointFixture")
        error.endPointName = nil
        #expect(error.endPointName == nil && error.request?.endPointName == "EndPointFixture")
    }

    @Test("equality compares code, reason and attempts, not underlying errors")
    func equality() {
        let one = NetworkError(.timedOut, reason: "r", underlying: URLError(.timedOut))
        #expect(one == NetworkError(.timedOut, reason: "r"))
        #expect(one != NetworkError(.timedOut, reason: "other") && one != NetworkError(.cancelled, reason: "r"))
        var retried = one
        retried.attempts = 2
        #expect(one != retried && retried.description.hasSuffix("after 2 attempts"))
        #expect(one.urlErrorCode == .timedOut && NetworkError(.timedOut).urlErrorCode == nil)
    }
}
