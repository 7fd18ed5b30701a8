import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StatusCheckTests {
    private let endPoint = URLEndPoint(.get, URL(text: "https://api.example.com/friends"))

    @Test(
        "responses, and errors of 404 and 500, have data, status and headers",
        .requirement("S0.10"),
        arguments: [404, 500])
    func keptOnError(status: Int) async throws {
        try await MockServer.run { server in
            server.enqueue(
                .text("here", statusCode: 201, headers: ["X-Trace": "1"]),
                .text("not here", statusCode: status, headers: ["X-Trace": "2"]))
            let router = Router<URLEndPoint>(session: DefaultSession.make())
            let endPoint = URLEndPoint(.get, server.url)
            let response = try await router.response(for: endPoint)
            #expect(response.statusCode == 201)
            #expect(response.headers["x-trace"] == "1")
            #expect(response.body == Data("here".utf8))
            let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
            #expect(error?.statusCode == status)
            #expect(error?.headers?["x-trace"] == "2")
            #expect(error?.body == Data("not here".utf8))
            #expect(error?.response?.statusCode == status)
        }
    }

    @Test("a transport failure has a nil status, never 0", .requirement("S0.10"))
    func noStatus() async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .close })
        let error = await #expect(throws: NetworkError.self) { try await router.rawResponse(for: endPoint) }
        #expect(error?.statusCode == nil)
        #expect(error?.headers == nil)
        #expect(error?.body == nil)
        #expect(error?.response == nil)
        #expect(error?.code.isKind(of: .cannotConnect) == true)
    }

    @Test(
        "with the service map a JSON message is the error's description",
        .requirement("S1.7"),
        arguments: [400, 401, 404, 422, 500])
    func custom(status: Int) async throws {
        let router = serviceRouter(
            .json(#"{"message":"You have no friends yet."}"#, statusCode: status, headers: ["X-Trace": "7"]))
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.code == .custom)
        #expect(error?.errorDescription == "You have no friends yet.")
        #expect(error?.localizedDescription == "You have no friends yet.")
        #expect(error?.statusCode == status)
        #expect(error?.headers?["X-Trace"] == "7")
    }

    @Test(
        "with the service map other bodies are \"Something went wrong\"",
        .requirement("S1.7"),
        arguments: [
            "", "<html>oops</html>", "{}", #"{"message":5}"#, #"{"message":""}"#, #"["message"]"#, #"{"message":"#,
            "\"message\"",
        ])
    func other(body: String) async throws {
        let router = serviceRouter(.text(body, statusCode: 500, headers: ["X-Trace": "7"]))
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.code == .other)
        #expect(error?.message == "Something went wrong")
        #expect(error?.errorDescription?.contains("Something went wrong") == true)
        #expect(error?.statusCode == 500)
        #expect(error?.headers?["X-Trace"] == "7")
        #expect(error?.body == Data(body.utf8))
    }

    @Test("with the service map a transport failure keeps its code and cause", .requirement("S1.7"))
    func underlying() async throws {
        let router = serviceRouter(.failure(NetworkError(.timedOut, underlying: URLError(.timedOut))))
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.code == .timedOut)
        #expect(error?.urlErrorCode == .timedOut)
    }

    @Test(
        "a server's message is found under usual or custom keys", .requirement("S1.7"),
        arguments: [
            #"{"message":"m"}"#, #"{"status_code":34,"status_message":"m"}"#,
            #"{"error":"invalid_grant","error_description":"m"}"#,
            #"{"error":{"message":"m"}}"#, #"{"title":"m","status":422}"#, #"{"error":"m"}"#, "\n {\"detail\":\"m\"}",
        ])
    func serverMessages(body: String) async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .json(body, statusCode: 422) })
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(error?.serverMessage == "m")
        let manager = NetworkManager(
            session: StubSession { _ in .json(#"{"message":"a","reason":"m"}"#, statusCode: 422) },
            options: RequestOptions { $0.messageKeys = ["reason"] })
        let own = await #expect(throws: NetworkError.self) { try await manager.response(for: endPoint) }
        #expect(own?.serverMessage == "m")
    }

    @Test("an error decodes the server's error type, and a 401 has its own code", .requirement("S1.8"))
    func typedErrorBody() async throws {
        let body = #"{"code":"E7","fields":{"name":["is taken"]}}"#
        let session = StubSession(
            .json(body, statusCode: 422), .json(body, statusCode: 401), .json("[]", statusCode: 422), .status(422))
        let router = Router<URLEndPoint>(session: session)
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(try error?.decode(FriendsError.self) == FriendsError(code: "E7", fields: ["name": ["is taken"]]))
        #expect(error?.code == .error4xx)
        let login = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        #expect(login?.code == .unauthorized)
        #expect(try login?.decode(FriendsError.self).code == "E7")
        let shaped = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        let why = #expect(throws: NetworkError.self) { try shaped?.decode(FriendsError.self) }
        #expect(why?.code == .decodingFailed)
        let empty = await #expect(throws: NetworkError.self) { try await router.response(for: endPoint) }
        let none = #expect(throws: NetworkError.self) { try empty?.decode(FriendsError.self) }
        #expect(none?.code == .noData)
    }

    @Test("the manager's decoder decodes the error body", .requirement("S1.8"))
    func managersDecoder() async throws {
        struct Problem: Decodable, Equatable { var errorCode: Int; var at: Date }
        let body = #"{"error_code":7,"at":"1994-11-06T08:49:37Z"}"#
        var decoder = FastJSONDecoder.ofResponses
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let expected = Problem(errorCode: 7, at: Date(timeIntervalSince1970: 784_111_777))
        let session = StubSession { _ in .json(body, statusCode: 422) }
        let manager = NetworkManager(session: session, decoder: decoder)
        let error = await #expect(throws: NetworkError.self) { try await manager.response(for: endPoint) }
        #expect(try error?.decode(Problem.self) == expected)
        let typed = await #expect(throws: NetworkError.self) {
            try await manager.router(for: URLEndPoint.self).request(endPoint, as: [Int].self)
        }
        #expect(try typed?.decode(Problem.self) == expected)
        let other = #expect(throws: NetworkError.self) { try error?.decode(Problem.self, decoder: JSONDecoder()) }
        #expect(other?.code == .decodingFailed)
        let list = try PropertyListEncoder().encode(["code": "E7"])
        let lists = NetworkManager(
            session: StubSession { _ in .data(list, statusCode: 500) }, decoder: PropertyListDecoder())
        let failed = await #expect(throws: NetworkError.self) { try await lists.response(for: endPoint) }
        #expect(try failed?.decode([String: String].self) == ["code": "E7"])
    }

    @Test("with the service map a 401 keeps its status", .requirement("S1.8"))
    func unauthorizedService() async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await serviceRouter(.json(#"{"message":"log in"}"#, statusCode: 401)).response(for: endPoint)
        }
        #expect(error?.statusCode == 401)
        #expect(error?.message == "log in")
    }

    private func serviceRouter(_ response: MockResponse) -> Router<URLEndPoint> {
        let options = RequestOptions { $0.statusMap = .service }
        return Router(session: StubSession(response), options: options)
    }
}

private struct FriendsError: Decodable, Equatable {
    let code: String
    let fields: [String: [String]]
}
