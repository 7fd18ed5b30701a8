import ExampleKit
import ExampleSupport
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Users

/// The example's service over a stub session: its requests, and its values and errors.
@Suite(.timeLimit(.minutes(10)))
struct UserServiceTests {
    private let session = StubSession()
    private var server: EndPointStubs<UserApi> { session.stubs(for: UserApi.self) }
    private var service: UserService {
        get throws {
            let url = try #require(URL(string: "https://users.example.com/v1"))
            return UserService(manager: .users(at: url, session: session))
        }
    }

    /// A page in the JSON that reqres documents.
    private let page = """
        {"page": 2, "per_page": 6, "total": 12, "total_pages": 2, "data": [
            {"id": 7, "email": "greta@example.com", "first_name": "Greta", "last_name": "Lark",
             "avatar": "https://users.example.com/faces/7.jpg"}],
         "support": {"url": "https://users.example.com/support"}}
        """

    @Test("requests the list by page and decodes snake_case keys", .requirement("S0.14", "S0.3"))
    func list() async throws {
        server.stub(.list(page: 2), times: .once, with: .json(page))

        let found = try await service.users(page: 2)

        let avatar = try #require(URL(string: "https://users.example.com/faces/7.jpg"))
        #expect(
            found.data == [
                User(id: 7, email: "greta@example.com", firstName: "Greta", lastName: "Lark", avatar: avatar)
            ])
        #expect(found.page == 2 && found.totalPages == 2 && found.total == 12)
        #expect(session.recordedRequests.map(\.target) == ["/v1/api/users?page=2"])
        session.verify()
    }

    @Test("reads response headers in any case and keeps repeats and order", .requirement("S0.2"))
    func headers() async throws {
        session.enqueue(.json(page, headers: ["X-Total": "12", "Link": "<a>", "link": "<b>"]))
        let headers = try await service.headers()
        #expect(headers["x-total"] == "12")
        #expect(headers.map(\.name) == ["Content-Type", "X-Total", "Link", "link"])
        #expect(headers["CONTENT-TYPE"] == "application/json")
    }

    @Test(
        "adding a user sends one JSON object and decodes the 201 with its date",
        .requirement("S0.1", "S0.6"))
    func add() async throws {
        let stub = session.stub(
            .post("/v1/api/users"), times: .once,
            with: .json(
                #"{"name":"Ivy","job":"clerk","id":"442","createdAt":"2026-03-14T09:26:53Z"}"#, statusCode: 201))

        let added = try await service.add(NewUser(name: "Ivy", job: "clerk"))

        // `date -u -d @1773480413` prints 2026-03-14T09:26:53Z.
        #expect(
            added
                == AddedUser(
                    id: "442", name: "Ivy", job: "clerk", createdAt: Date(timeIntervalSince1970: 1_773_480_413)))
        #expect(stub.requests.map(\.text) == [#"{"name":"Ivy","job":"clerk"}"#])
        #expect(stub.requests.map { $0.headers["Content-Type"] } == ["application/json; charset=utf-8"])
        session.verify()
    }

    @Test(
        "a 404 is the service's error, and a lost connection is not", .requirement("S0.10", "S0.14"))
    func nobody() async throws {
        session.enqueue(.json("{}", statusCode: 404), .close)
        await #expect(throws: Failure(.refused, "there is no user 100")) { try await service.user(100) }
        let error = await #expect(throws: NetworkError.self) { try await service.user(100) }
        #expect(error?.code == .connectionLost)
        #expect(error?.statusCode == nil)
    }

    @Test("later calls send nothing of the second page's request", .requirement("S0.15", "S0.5"))
    func nothingLeaks() async throws {
        session.enqueue(.json(page), .json(page), .json("{}", statusCode: 404))
        _ = try await service.users(page: 2)
        _ = try await service.headers()
        _ = try? await service.user(1)
        #expect(
            session.recordedRequests.map(\.target) == [
                "/v1/api/users?page=2", "/v1/api/users?page=1", "/v1/api/users/1",
            ])
        #expect(session.recordedRequests.allSatisfy { $0.body.isEmpty && !$0.headers.contains("Content-Type") })
    }

    @Test("a missing picture throws and never saves the error page as a picture", .requirement("S0.13"))
    func noPicture() async throws {
        session.enqueue(.text("<html>sorry</html>", statusCode: 404), .text("<html>sorry</html>", statusCode: 404))
        let avatar = try #require(URL(string: "https://users.example.com/faces/7.jpg"))
        let user = User(id: 7, email: "", firstName: "", lastName: "", avatar: avatar)
        let service = try service
        let error = await #expect(throws: NetworkError.self) { try await service.avatar(of: user) }
        #expect(error?.code == .notFound)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("none-\(UUID().uuidString).jpg")
        await #expect(throws: NetworkError.self) { try await service.saveAvatar(of: user, to: file) }
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }
}
