import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

struct JSONBodyTests {
    private struct PagingParameters: Encodable, Sendable { var page: Int, number: Int }
    private static let url = URL(text: "https://h.example/")

    private func request(_ body: any HTTPBody, headers: HTTPHeaders = [:]) throws -> NetworkRequest {
        try RequestBuilder().makeRequest(for: URLEndPoint(.post, Self.url, task: .requestBody(body), headers: headers))
    }

    @Test("sends {\"page\":0,\"number\":10} as application/json; charset=utf-8", .requirement("S2.4"))
    func paging() throws {
        let request = try request(JSONBody(PagingParameters(page: 0, number: 10)))
        #expect(try request.sentText == #"{"page":0,"number":10}"#)
        #expect(request.headers["Content-Type"] == "application/json; charset=utf-8")
    }

    @Test("a custom encoder applies to values and to parameters", .requirement("S2.4"))
    func ownEncoder() throws {
        struct User: Encodable, Sendable { var firstName = "a", createdAt = Date(timeIntervalSince1970: 5) }
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = .sortedKeys
        #expect(try request(JSONBody(User(), encoder: encoder)).sentText == #"{"created_at":5,"first_name":"a"}"#)
        let parameters: Parameters = ["user": User(), "isNew": true]
        let expected = #"{"is_new":true,"user":{"created_at":5,"first_name":"a"}}"#
        #expect(try request(JSONBody(parameters, encoder: encoder)).sentText == expected)
    }

    @Test("the builder's encoder applies only to bodies that have none", .requirement("S2.4"))
    func buildersEncoder() throws {
        struct User: Encodable, Sendable { var firstName = "a" }
        let snake = JSONEncoder()
        snake.keyEncodingStrategy = .convertToSnakeCase
        let builder = RequestBuilder(options: RequestOptions { $0.encoder = snake })
        let without = URLEndPoint(.post, Self.url, task: .requestBody(JSONBody(User())))
        #expect(try builder.makeRequest(for: without).sentText == #"{"first_name":"a"}"#)
        let with = URLEndPoint(.post, Self.url, task: .requestBody(JSONBody(User(), encoder: JSONEncoder())))
        #expect(try builder.makeRequest(for: with).sentText == #"{"firstName":"a"}"#)
    }

    @Test("a body's header can be changed, and the request's header wins", .requirement("S2.4"))
    func headers() throws {
        var body = JSONBody(PagingParameters(page: 0, number: 10))
        body.additionalHeaders = [.contentType("application/vnd.api+json"), HTTPHeader(name: "X-Body", value: "1")]
        #expect(try request(body).headers["Content-Type"] == "application/vnd.api+json")
        let own = try request(body, headers: ["content-type": "application/problem+json"]).headers
        #expect(own.values(for: "Content-Type") == ["application/problem+json"])
        #expect(own["X-Body"] == "1")
    }

    @Test("an encoder's error is encodingFailed with its cause; nothing is sent", .requirement("S2.4"))
    func encodingError() async throws {
        struct Refusal: Error {}
        struct Stubborn: Encodable, Sendable {
            func encode(to encoder: any Encoder) throws { throw Refusal() }
        }
        let session = StubSession { _ in .json("{}") }
        let router = Router<URLEndPoint>(session: session)
        for body in [JSONBody(Stubborn()), JSONBody(Stubborn(), encoder: JSONEncoder()), JSONBody(["a": Stubborn()])] {
            let endPoint = URLEndPoint(.post, Self.url, task: .requestBody(body))
            let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
            #expect(error?.code == .encodingFailed)
            #expect(error?.code.isKind(of: .invalidRequest) == true)
            #expect(error?.underlying is Refusal)
        }
        #expect(session.requests.isEmpty)
    }

    @Test(
        "dictionaries, arrays, scalars and null are bodies", .requirement("S4.4"),
        arguments: [
            (JSONBody(["b": 1, "a": 2] as [String: Int]), #"{"a":2,"b":1}"#),
            (JSONBody(["b": 1, "a": "x"]), #"{"b":1,"a":"x"}"#),
            (JSONBody([1, 2, 3]), "[1,2,3]"), (JSONBody([[1], []]), "[[1],[]]"), (JSONBody("text"), #""text""#),
            (JSONBody(5), "5"),
            (JSONBody(true), "true"), (JSONBody(nil as Int?), "null"), (JSONBody([1, nil, 3]), "[1,null,3]"),
            (JSONBody([] as [Int]), "[]"),
            (JSONBody([:] as [String: Int]), "{}"),
        ])
    func shapes(body: JSONBody, expected: String) throws {
        #expect(try request(body).sentText == expected)
    }

    @Test("a value that cannot be encoded is an error, never {}", .requirement("S4.4"))
    func noEmptyObject() {
        struct Price: Encodable, Sendable { var amount = Double.nan }
        let error = #expect(throws: NetworkError.self) { try request(JSONBody(Price())) }
        #expect(error?.code == .encodingFailed)
        #expect(error?.method == .post && error?.url == Self.url && error?.endPointName == "URLEndPoint")
    }
}
