import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DecodingTests {
    private let endPoint = URLEndPoint(.get, URL(text: "https://api.example.com/users/1"))

    @Test(
        "id is required, email and name are optional, and models round-trip", .requirement("S1.1"),
        arguments: [
            (#"{"id":1,"email":"a@example.com","name":"Ann"}"#, User(id: 1, email: "a@example.com", name: "Ann")),
            (#"{"id":1}"#, User(id: 1, email: nil, name: nil)),
            (#"{"id":1,"email":null,"name":null,"more":[1]}"#, User(id: 1, email: nil, name: nil)),
        ])
    func model(json: String, user: User) async throws {
        #expect(try await decoded(User.self, json) == user)
        let again = try JSONBody(user).encode()
        #expect(try await decoded(User.self, String(decoding: again, as: UTF8.self)) == user)
    }

    private class Shape: Decodable, @unchecked Sendable {  // has no state that changes
        let name: String
        var text: String { "shape \(name)" }
    }

    private final class Circle: Shape, @unchecked Sendable {  // has no state that changes
        override var text: String { "circle \(name)" }
    }

    @Test("a metatype of a superclass decodes the class that it is")
    func metatype() async throws {
        let type: Shape.Type = Circle.self
        let router = Router<URLEndPoint>(session: StubSession { _ in .json(#"{"name":"a"}"#) })
        #expect(try await router.request(endPoint, as: type).text == "circle a")
        #expect(try await router.request(endPoint, as: Shape.self).text == "shape a")
        let response = NetworkResponse(statusCode: 200, body: Data(#"{"name":"a"}"#.utf8))
        #expect(try response.decode(type).text == "circle a")
    }

    @Test(
        "a failure names the key path and the expected type", .requirement("S1.1", "S4.7"),
        arguments: [
            (#"[{"id":1},{"name":"Ann"}]"#, "[1].id: expected a value, the key is missing"),
            (#"[{"id":"one"}]"#, "[0].id: expected Int"),
            (#"[{"id":null}]"#, "[0].id: expected Int, found null at line 1, column 8 of"),
            (#"{"id":1}"#, "top level: expected an array for [User], found an object with id"),
            (#"[{"id":1,"name":[]}]"#, "[0].name: expected String"),
        ])
    func keyPath(json: String, reason: String) async throws {
        let error = await failure([User].self, .json(json))
        #expect(error?.code == .decodingFailed)
        #expect(error?.reason?.hasPrefix(reason) == true, "\(error?.reason ?? "none")")
        #expect(error?.underlying is DecodingError)
        #expect(error?.statusCode == 200)
        #expect(error?.body == Data(json.utf8))
        #expect(error?.url == endPoint.baseURL)
    }

    @Test(
        "malformed JSON is a decoding error in both forms", .requirement("S1.6"),
        arguments: ["{", "", " ", "nul", "[1}", "\u{FEFF}"])
    func malformed(json: String) async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .json(json) })
        let thrown = await #expect(throws: NetworkError.self) { try await router.request(endPoint, as: [Int].self) }
        #expect(thrown?.code == (json.isEmpty ? .noData : .decodingFailed))
        let results = Deliveries<Result<[Int], NetworkError>>()
        router.request(endPoint, as: [Int].self) { results.add($0) }
        #expect(try await results.first().failureCode == thrown?.code)
    }

    @Test("the value of a 2xx response is decoded", .requirement("S1.6"), arguments: [200, 201, 203, 299])
    func parsed(status: Int) async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .json("[1]", statusCode: status) })
        #expect(try await router.request(endPoint, as: [Int].self) == [1])
    }

    @Test(
        "204, 205, HEAD and empty bodies decode as empty or optional types",
        .requirement("S4.8", "S1.6"),
        arguments: [(204, HTTPMethod.get), (205, .get), (200, .get), (200, .head), (204, .delete), (201, .post)])
    func empty(status: Int, method: HTTPMethod) async throws {
        try await MockServer.run { _ in
            .status(status)
        } body: { server in
            let router = Router<URLEndPoint>(session: DefaultSession.make())
            let endPoint = URLEndPoint(method, server.url)
            let empty = try await router.request(endPoint, as: EmptyResponse.self)
            #expect(empty == EmptyResponse())
            let optional = try await router.request(endPoint, as: User?.self)
            #expect(optional == nil)
            let bytes = try await router.request(endPoint, as: Data.self)
            #expect(bytes.isEmpty)
        }
    }

    @Test("an optional type takes a value or null; a required one throws noData", .requirement("S4.8"))
    func optional() async throws {
        let session = StubSession(.json(#"{"id":1}"#), .json("null"), .status(204), .status(200))
        let router = Router<URLEndPoint>(session: session)
        #expect(try await router.request(endPoint, as: User?.self) == User(id: 1, email: nil, name: nil))
        #expect(try await router.request(endPoint, as: User?.self) == nil)
        for _ in 0..<2 {
            let error = await #expect(throws: NetworkError.self) { try await router.request(endPoint, as: User.self) }
            #expect(error?.code == .noData)
            #expect(error?.message == "Response returned with no data to decode.")
        }
    }

    @Test("optional Data and String are nil for an empty body", .requirement("S4.8"))
    func optionalBytes() async throws {
        let router = Router<URLEndPoint>(session: StubSession(.status(204), .status(204), .text("tea"), .text("tea")))
        #expect(try await router.request(endPoint, as: Data?.self) == nil)
        #expect(try await router.request(endPoint, as: String?.self) == nil)
        #expect(try await router.request(endPoint, as: Data?.self) == Data("tea".utf8))
        #expect(try await router.request(endPoint, as: String?.self) == "tea")
    }

    @Test(
        "a text that ends in its 513th level is an error of any decoder",
        arguments: ["[", #"{"":"#], [FastJSONDecoder.ofResponses, JSONDecoder()] as [any ResponseDecoder])
    func endInDepth(opening: String, decoder: any ResponseDecoder) async throws {
        let json = String(String(repeating: opening, count: 513).prefix(opening.count * 512 + 1))
        let router = Router<URLEndPoint>(
            session: StubSession { _ in .json(json) }, options: RequestOptions { $0.decoder = decoder })
        let error = await #expect(throws: NetworkError.self) { try await router.request(endPoint, as: Person.self) }
        #expect(error?.code == .decodingFailed)
    }

    @Test("a manager, a router or an endpoint can set the decoder", .requirement("S4.9"))
    func decoders() async throws {
        let json = #"{"user_name":"Ann","born_at":0}"#
        let snake = JSONDecoder()
        snake.keyDecodingStrategy = .convertFromSnakeCase
        snake.dateDecodingStrategy = .secondsSince1970
        let expected = Person(userName: "Ann", bornAt: Date(timeIntervalSince1970: 0))

        let manager = NetworkManager(session: StubSession { _ in .json(json) }, decoder: snake)
        #expect(try await manager.send(GetPerson()) == expected)

        let options = RequestOptions { $0.decoder = snake }
        let router = Router<URLEndPoint>(
            session: StubSession { _ in .json(json) }, options: options)
        #expect(try await router.request(endPoint, as: Person.self) == expected)

        let plain = NetworkManager(session: StubSession { _ in .json(json) })
        await #expect(throws: NetworkError.self) { try await plain.send(GetPerson()) }
        let own = URLEndPoint(.get, endPoint.baseURL, options: options)
        #expect(try await plain.router(for: URLEndPoint.self).request(own, as: Person.self) == expected)
        #expect(try await plain.response(for: endPoint).decode(Person.self, decoder: snake) == expected)
    }

    /// Returns a manager whose encoder writes `user_name` for `userName`.
    private func snakeCased(_ session: StubSession) -> NetworkManager {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return NetworkManager(session: session, encoder: encoder)
    }

    @Test("a body's encoder wins over the endpoint's and the manager's", .requirement("S4.9"))
    func encoders() async throws {
        let session = StubSession { _ in .status(204) }
        let manager = snakeCased(session)
        let url = endPoint.baseURL
        struct Named: Encodable { var userName = "Ann" }
        _ = try await manager.response(for: URLEndPoint(.put, url, task: .requestBody(JSONBody(Named()))))
        let options = RequestOptions {
            $0.encoder = JSONEncoder()
            $0.timeouts = Timeouts(idle: .milliseconds(250))
        }
        _ = try await manager.response(
            for: URLEndPoint(.put, url, task: .requestBody(JSONBody(Named())), options: options))
        _ = try await manager.response(
            for: URLEndPoint(.put, url, task: .requestBody(JSONBody(Named(), encoder: JSONEncoder()))))
        #expect(
            try session.requests.map { try $0.body.encode() } == [
                Data(#"{"user_name":"Ann"}"#.utf8), Data(#"{"userName":"Ann"}"#.utf8),
                Data(#"{"userName":"Ann"}"#.utf8),
            ])
        #expect(session.requests.map(\.timeouts.idle) == [.seconds(60), .milliseconds(250), .seconds(60)])
    }

    @Test("a JSON part of a form has the manager's encoder, unless it has its own", .requirement("S4.9"))
    func encoderOfPart() async throws {
        let session = StubSession { _ in .status(204) }
        let manager = snakeCased(session)
        struct Named: Encodable { var userName = "Ann" }
        let form = MultipartBody(
            .body("meta", JSONBody(Named())), .body("own", JSONBody(Named(), encoder: JSONEncoder())))
        _ = try await manager.response(for: URLEndPoint(.put, endPoint.baseURL, task: .upload(form)))
        let body = try #require(session.requests.first?.body)
        let text = String(decoding: try body.encode(), as: UTF8.self)
        #expect(text.contains(#"{"user_name":"Ann"}"#) && text.contains(#"{"userName":"Ann"}"#))
        #expect(body.length == Int64(text.utf8.count))
    }

    @Test("a part that only the manager's encoder can encode is sent", .requirement("S4.9"))
    func encoderOfOddPart() async throws {
        let session = StubSession { _ in .status(204) }
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        struct Reading: Encodable { var value = Double.infinity }
        let form = MultipartBody(.body("meta", JSONBody(Reading())))
        let manager = NetworkManager(session: session, encoder: encoder)
        _ = try await manager.response(for: URLEndPoint(.put, endPoint.baseURL, task: .upload(form)))
        let body = try #require(session.requests.first?.body)
        #expect(String(decoding: try body.encode(), as: UTF8.self).contains(#"{"value":"inf"}"#))
    }

    @Test("an HTML page instead of JSON is unexpectedContentType", .requirement("S4.7"))
    func html() async throws {
        let page = "<html><body>Log in</body></html>"
        let error = await failure([Int].self, .text(page, headers: ["Content-Type": "text/html; charset=utf-8"]))
        #expect(error?.code == .unexpectedContentType)
        #expect(error?.code.isKind(of: .decodingFailed) == true)
        #expect(error?.reason?.contains("text/html") == true)
    }

    @Test("a value of another shape is decodingFailed in every media type")
    func otherShape() async throws {
        let list = try PropertyListEncoder().encode(["name": "Ann"])
        let answers: [(mediaType: String, body: Data, decoder: any ResponseDecoder)] = [
            ("application/xml", list, PropertyListDecoder()), ("text/html", list, PropertyListDecoder()),
            ("text/html", Data(#"{"name":"Ann"}"#.utf8), FastJSONDecoder()),
        ]
        for (mediaType, body, decoder) in answers {
            let response = MockResponse.data(body, headers: ["Content-Type": mediaType])
            let error = await failure(User.self, response, decoder)
            #expect(error?.code == .decodingFailed)
            #expect(error?.reason?.hasPrefix("id: expected a value, the key is missing") == true)
        }
    }

    @Test("an error of a decoder for another format is decodingFailed")
    func otherFormat() async {
        struct Odd: Error {}
        struct Fields: ResponseDecoder {
            func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value { throw Odd() }
        }
        let response = MockResponse.text("a: 1", headers: ["Content-Type": "application/x-protobuf"])
        let error = await failure(User.self, response, Fields())
        #expect(error?.code == .decodingFailed)
        let page = await failure(User.self, .text("<html>", headers: ["Content-Type": "text/html"]), Fields())
        #expect(page?.code == .unexpectedContentType)
    }

    @Test("a long media type is cut in the reason")
    func longMediaType() async {
        let mediaType = "x/" + String(repeating: "y", count: 100_000)
        let error = await failure([Int].self, .text("oh", headers: ["Content-Type": mediaType]))
        #expect(error?.code == .unexpectedContentType)
        #expect((error?.reason?.count ?? .max) < 1_000)
    }

    @Test("a key path in an error's text keeps the case of its keys")
    func keyPathLetters() async throws {
        let error = await failure([String: [User]].self, .json(#"{"results":[{"name":"Ann"}]}"#))
        #expect(error?.description.contains(". results[0].id: expected a value") == true)
        let other = await failure(User.self, .json("3"))
        #expect(other?.description.contains(". Top level: expected ") == true)
    }

    @Test("a changed response decoder still decodes dates")
    func changedDecoder() async throws {
        var decoder = FastJSONDecoder.ofResponses
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let session = StubSession { _ in .json(#"{"user_name":"Ann","born_at":"2000-01-01T00:00:00.5Z"}"#) }
        let person = try await NetworkManager(session: session, decoder: decoder).send(GetPerson())
        #expect(person == Person(userName: "Ann", bornAt: Date(timeIntervalSince1970: 946_684_800.5)))
    }

    private func decoded<Value: Decodable & Sendable>(_ type: Value.Type, _ json: String) async throws -> Value {
        try await Router<URLEndPoint>(session: StubSession { _ in .json(json) }).request(endPoint, as: type)
    }

    private func failure<Value: Decodable & Sendable>(
        _ type: Value.Type, _ response: MockResponse, _ decoder: any ResponseDecoder = FastJSONDecoder.ofResponses
    ) async -> NetworkError? {
        await #expect(throws: NetworkError.self) {
            try await Router<URLEndPoint>(session: StubSession { _ in response }, decoder: decoder)
                .request(endPoint, as: type)
        }
    }
}

extension DecodingTests {
    @Test("a value of a streamed response is noData, never empty or nil")
    func streamed() async throws {
        let session = StubSession { _ in .text("abc") }
        let options = RequestOptions { $0.streamsResponse = true }
        let router = Router<URLEndPoint>(session: session, options: options)
        let manager = NetworkManager(session: session, options: options)
        let calls: [() async throws -> Void] = [
            { _ = try await router.request(endPoint, as: String.self) },
            { _ = try await router.request(endPoint, as: Data.self) },
            { _ = try await router.request(endPoint, as: Int?.self) },
            { _ = try await router.request(endPoint, as: Int?.self, at: ["a"]) },
            { _ = try await manager.data(from: endPoint.baseURL) },
        ]
        for call in calls {
            let error = await #expect(throws: NetworkError.self) { try await call() }
            #expect(error?.code == .noData && error?.reason?.contains("streamsResponse") == true)
        }
        _ = try await router.request(endPoint, as: EmptyResponse.self)
        _ = try await router.request(endPoint, as: EmptyResponse?.self)
        let empty = Router<URLEndPoint>(session: StubSession(.status(204)), options: options)
        #expect(try await empty.request(endPoint, as: Int?.self) == nil)
        let error: (any Error)? = await withCheckedContinuation { continuation in
            router.request(endPoint) { _, _, error in continuation.resume(returning: error) }
        }
        #expect((error as? NetworkError)?.code == .noData)
    }
}

extension DecodingTests {
    struct User: Codable, Equatable, Sendable {
        let id: Int
        let email: String?
        let name: String?
    }

    struct Person: Codable, Equatable, Sendable {
        let userName: String
        let bornAt: Date
    }

    struct GetPerson: TypedEndPoint {
        typealias Response = Person
        var baseURL: URL { URL(text: "https://api.example.com") }
        var path: String { "people/1" }
    }
}
