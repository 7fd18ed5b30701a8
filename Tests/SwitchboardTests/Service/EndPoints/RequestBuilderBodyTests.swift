import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

struct RequestBuilderBodyTests {
    private func build(_ method: HTTPMethod, _ task: HTTPTask, headers: HTTPHeaders = [:]) throws -> NetworkRequest {
        try RequestBuilder().makeRequest(
            for: EndPointFixture(path: "p", httpMethod: method, task: task, headers: headers))
    }

    @Test(
        "a raw body of any content type is sent unchanged", .requirement("S0.8"),
        arguments: [
            Data("plain".utf8), Data([0, 1, 0xFF, 0x0D, 0x0A]), Data("{\n\n}".utf8),
        ])
    func rawData(data: Data) throws {
        let typed = try build(.post, .requestBody(DataBody(data)), headers: ["Content-Type": "text/x-any"])
        #expect(try typed.body.encode() == data)
        #expect(typed.headers["Content-Type"] == "text/x-any")
        let untyped = try build(.post, .requestBody(DataBody(data)))
        #expect(try untyped.body.encode() == data)
        #expect(untyped.headers["Content-Type"] == nil)
    }

    @Test(
        "GET, HEAD and TRACE with a body throw before sending", .requirement("S0.9"),
        arguments: [
            HTTPMethod.get, .head, .trace,
        ])
    func bodyNotAllowed(method: HTTPMethod) async throws {
        let session = StubSession { _ in .json("{}") }
        let router = Router<EndPointFixture>(session: session)
        let tasks: [HTTPTask] = [
            .requestParameters(bodyParameters: ["a": 1]),
            .requestParameters(bodyParameters: ["a": 1], bodyEncoding: .formEncoding),
            .requestBody(JSONBody(["a": 1])), .upload(DataBody(Data("x".utf8))),
        ]
        for task in tasks {
            let endPoint = EndPointFixture(path: "p", httpMethod: method, task: task)
            let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
            #expect(error?.code == .bodyNotAllowed)
            #expect(error?.code.isKind(of: .invalidRequest) == true)
            #expect(error?.localizedDescription.contains("a \(method) request must not have a body") == true)
        }
        #expect(session.requests.isEmpty)
        let bare = NetworkRequest(method, URL(text: "https://h/"), body: DataBody(Data("x".utf8)))
        #expect(throws: NetworkError.self) { try bare.validate() }
    }

    @Test("a GET without parameters has no body, not even an empty object", .requirement("S0.9"))
    func getWithoutParameters() throws {
        for task in [
            HTTPTask.request, .requestParameters(bodyParameters: [:]), .requestParameters(bodyParameters: nil),
            .requestBody(EmptyBody()),
        ] {
            #expect(try build(.get, task).body.isEmpty)
        }
    }

    @Test("each kind of task builds its query, headers and body", .requirement("S3.3"))
    func taskKinds() throws {
        let plain = try build(.get, .request)
        #expect(plain.url?.absoluteString == "https://api.example.com/v1/p" && plain.body.isEmpty)

        let parameters = try build(.post, .requestParameters(bodyParameters: ["b": 1], urlParameters: ["u": 2]))
        #expect(parameters.url?.query == "u=2")
        #expect(try parameters.sentText == #"{"b":1}"#)

        let headers = try build(
            .post,
            .requestParametersAndHeaders(
                bodyParameters: ["b": 1], urlParameters: ["u": 2], additionHeaders: ["X-A": "3"]))
        #expect(headers.url?.query == "u=2" && headers.headers["X-A"] == "3")
        #expect(try headers.sentText == #"{"b":1}"#)

        let body = DataBody(Data("raw".utf8), contentType: "text/plain")
        for task in [HTTPTask.requestBody(body), .upload(body)] {
            #expect(try build(.put, task).sentText == "raw")
            #expect(try build(.put, task).headers["Content-Type"] == "text/plain")
        }
    }

    @Test(
        "each body encoding writes its documented form", .requirement("S3.3"),
        arguments: [
            (ParameterEncoding.jsonEncoding, #"{"a":"x y","n":[1,2]}"#, nil as String?),
            (.urlAndJsonEncoding, #"{"a":"x y","n":[1,2]}"#, nil), (.formEncoding, "a=x%20y&n%5B%5D=1&n%5B%5D=2", nil),
            (.urlEncoding, "", "a=x%20y&n%5B%5D=1&n%5B%5D=2"),
            (
                .jsonEncoding(sortsKeys: true, isPretty: true),
                "{\n  \"a\": \"x y\",\n  \"n\": [\n    1,\n    2\n  ]\n}", nil
            ),
            (
                .formEncoding(URLEncodedFormEncoder(arrayEncoding: .noBrackets, spaceEncoding: .plusReplaced)),
                "a=x+y&n=1&n=2", nil
            ),
        ])
    func encodings(encoding: ParameterEncoding, body: String, query: String?) throws {
        let parameters: Parameters = ["a": "x y", "n": [1, 2]]
        let tasks = [
            HTTPTask.requestParameters(bodyParameters: parameters, bodyEncoding: encoding),
            .requestParameters(parameters, bodyEncoding: encoding),
        ]
        for task in tasks {
            let request = try build(.post, task)
            #expect(try request.sentText == body)
            #expect(request.url?.query == query)
        }
    }

    @Test(
        "body or URL parameters apply when the other is nil or empty", .requirement("S3.6"),
        arguments: [nil, [:] as Parameters])
    func oneSide(nothing: Parameters?) throws {
        let query = try build(.post, .requestParameters(bodyParameters: nothing, urlParameters: ["u": 1]))
        #expect(query.url?.query == "u=1" && query.body.isEmpty && query.headers["Content-Type"] == nil)
        let body = try build(.post, .requestParameters(bodyParameters: ["b": 1], urlParameters: nothing))
        #expect(body.url?.query == nil && body.headers["Content-Type"] == "application/json")
        #expect(try body.sentText == #"{"b":1}"#)
    }

    @Test("an encoding failure names the endpoint and the parameter", .requirement("S3.5"))
    func encodingFailure() {
        let task = HTTPTask.requestParameters(bodyParameters: ["ok": 1, "ratio": Double.nan])
        let error = #expect(throws: NetworkError.self) { try build(.post, task) }
        #expect(error?.code == .encodingFailed && error?.endPointName == "EndPointFixture")
        #expect(error?.reason?.contains("ratio") == true)
        #expect(error?.message == "Parameter encoding failed.")
    }

    @Test("a router passes the built request to any session", .requirement("S3.16"))
    func mockTransport() async throws {
        let session = AdHocSession { request in
            NetworkResponse(
                statusCode: 200,
                body: Data("\(request.method) \(request.url?.absoluteString ?? "") \(try request.sentText)".utf8))
        }
        let endPoint = EndPointFixture(
            path: "p", httpMethod: .post, task: .requestParameters(bodyParameters: ["b": 1], urlParameters: ["u": 2]))
        let response = try await Router<EndPointFixture>(session: session).response(for: endPoint)
        #expect(String(decoding: response.body, as: UTF8.self) == #"POST https://api.example.com/v1/p?u=2 {"b":1}"#)
    }

    @Test("a body is encoded once, so repeated sends have the same bytes")
    func encodedOnce() throws {
        struct Counted: HTTPBody {
            let calls = Deliveries<Void>()
            var additionalHeaders: HTTPHeaders { ["Content-Type": "text/counted"] }
            func encode() throws -> Data {
                calls.add(())
                return Data("call \(calls.all.count)".utf8)
            }
        }
        let body = Counted()
        let request = try build(.post, .requestBody(body))
        for _ in 0..<3 { #expect(try request.sentText == "call 1") }
        #expect(body.calls.all.count == 1)
        #expect(request.headers["Content-Type"] == "text/counted" && request.body.length == 6)
    }

    @Test(
        "framing headers that contradict the body are refused (RFC 9112 §6)",
        arguments: [
            ["Transfer-Encoding": "chunked"], ["Content-Length": "4"], ["content-length": "3", "Content-Length": "3"],
            ["Content-Length": "x"],
        ] as [HTTPHeaders])
    func framing(headers: HTTPHeaders) throws {
        let error = #expect(throws: NetworkError.self) {
            try build(.post, .requestBody(DataBody(Data("abc".utf8))), headers: headers)
        }
        #expect(error?.code == .invalidRequest)
        #expect(
            try build(.post, .requestBody(DataBody(Data("abc".utf8))), headers: ["Content-Length": "3"]).headers[
                "Content-Length"] == "3")
    }
}
