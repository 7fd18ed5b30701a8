import SwitchboardCache
import ExampleSupport
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Friends

/// The example's service over a stub session: its requests, and its values and errors.
@Suite(.timeLimit(.minutes(10)))
struct FriendsServiceTests {
    private let session = StubSession()
    private let cache = ResponseCache()

    private func service(at server: String = "https://friends.example.com", token: String = "t0ken") throws
        -> FriendsService
    {
        let url = try #require(URL(string: server))
        return FriendsService(
            manager: .friends(at: url, of: 7, token: token, cache: cache, session: session), cache: cache)
    }

    private var asked: [String] { session.recordedRequests.map { "\($0.method) \($0.target) \($0.text)" } }
    private let list = MockResponse.json(#"[{"id":2,"name":"Bob","email":"bob@example.com"},{"id":3,"name":"Eve"}]"#)

    @Test(
        "each method sends its endpoint's request and decodes the response",
        .requirement("S1.12"))
    func methods() async throws {
        session.enqueue(
            list, .json(#"{"id":4,"name":"Dan"}"#, statusCode: 201), .status(204), .json(#"[{"id":3,"name":"Eve"}]"#))
        let service = try service()

        let friends = try await service.friends()
        #expect(
            friends == [
                Friend(id: 2, name: "Bob", email: "bob@example.com"), Friend(id: 3, name: "Eve", email: nil),
            ])
        let added = try await service.add("Dan")
        #expect(added == Friend(id: 4, name: "Dan", email: nil))
        try await service.remove(4)
        let group = try await service.group("tea & cake/2")
        #expect(group == [Friend(id: 3, name: "Eve", email: nil)])

        #expect(
            asked == [
                "GET /api/friends?user_id=7 ", #"POST /api/friends {"name":"Dan","user_id":7}"#,
                "DELETE /api/friends/4?user_id=7 ", "GET /api/groups/tea%20%26%20cake%2F2?user_id=7 ",
            ])
    }

    @Test(
        "every call sends the token, and the user's ID in query or body",
        .requirement("S1.5"))
    func token() async throws {
        session.enqueue(list, .json(#"{"id":4,"name":"Dan"}"#, statusCode: 201), .status(204), list)
        let service = try service()
        _ = try await service.friends()
        _ = try await service.add("Dan")
        try await service.remove(4)
        _ = try await service.group("chess")
        #expect(
            session.recordedRequests.map { $0.headers["Authorization"] } == Array(repeating: "Bearer t0ken", count: 4))
        #expect(session.recordedRequests.map { $0.queryValue("user_id") } == ["7", nil, "7", "7"])
    }

    @Test(
        "joins server and path with exactly one slash", .requirement("S1.2"),
        arguments: ["https://h.example.com/v1", "https://h.example.com/v1/"])
    func join(server: String) async throws {
        session.enqueue(list)
        _ = try await service(at: server).friends()
        #expect(session.requests.map(\.url?.absoluteString) == ["https://h.example.com/v1/api/friends?user_id=7"])
    }

    @Test(
        "throws the server's explanation, a 401 as a separate case",
        .requirement("S1.7", "S1.8"))
    func explained() async throws {
        session.enqueue(
            .json(#"{"message":"You have no friend 9."}"#, statusCode: 404),
            .json(#"{"message":"Sign in first."}"#, statusCode: 401))
        let service = try service()
        let refused = await #expect(throws: FriendsError.self) { try await service.remove(9) }
        #expect(refused == .refused("You have no friend 9."))
        #expect(refused?.localizedDescription == "You have no friend 9.")
        let outside = await #expect(throws: FriendsError.self) { try await service.friends() }
        #expect(outside == .notSignedIn("Sign in first."))
    }

    @Test(
        "an unexplained error keeps status, headers and body",
        .requirement("S1.7"))
    func unexplained() async throws {
        session.enqueue(.text("<html>sorry</html>", statusCode: 502, headers: ["X-Trace": "1"]), .close)
        let service = try service()
        let error = await #expect(throws: NetworkError.self) { try await service.friends() }
        #expect(error?.code == .other)
        #expect(error?.localizedDescription == "Something went wrong")
        #expect(error?.statusCode == 502)
        #expect(error?.headers?["x-trace"] == "1")
        #expect(error?.body == Data("<html>sorry</html>".utf8))
        let lost = await #expect(throws: NetworkError.self) { try await service.friends() }
        #expect(lost?.code == .connectionLost)
    }

    @Test(
        "caches the list until a refresh, an addition or a removal",
        .requirement("S1.14"))
    func cached() async throws {
        session.stub(.get("/api/friends"), with: list)
        session.stub(.post("/api/friends"), with: .json(#"{"id":4,"name":"Dan"}"#, statusCode: 201))
        session.stub(.delete("/api/friends/4"), with: .status(204))
        let service = try service()
        func count() -> Int { session.recordedRequests.filter { $0.method == .get }.count }

        for _ in 1...3 { _ = try await service.friends() }
        #expect(count() == 1)
        _ = try await service.friends(refreshing: true)
        #expect(count() == 2)
        _ = try await service.friends()
        #expect(count() == 2)
        _ = try await service.add("Dan")
        _ = try await service.friends()
        #expect(count() == 3)
        try await service.remove(4)
        _ = try await service.friends()
        #expect(count() == 4)
    }

    @Test(
        "tokens share no cached list, and groups are not cached",
        .requirement("S1.14", "S1.11"))
    func separated() async throws {
        session.stub(.get("/api/friends"), with: list)
        session.stub(.get("/api/groups/chess"), with: list)
        let (one, other) = (try service(token: "one"), try service(token: "other"))
        for service in [one, other, one, other] { _ = try await service.friends() }
        #expect(session.requests.count == 2)
        for _ in 1...2 { _ = try await one.group("chess") }
        #expect(session.requests.count == 4)
    }
}
