import ExampleKit
import ExampleSupport
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Users

/// The flows of the first design's article over a real socket.
@Suite(.timeLimit(.minutes(10)))
struct FlowTests {
    @Test(
        "lists, pages, adds, reports a 404 and saves a picture byte for byte",
        .requirement("S0.14"))
    func flows() async throws {
        try await withTemporaryFolder { folder in
            try await MockServer.run { request in
                (try? UserServer.answer(request)) ?? .status(500)
            } body: { server in
                let manager = NetworkManager.users(at: server.url, session: DefaultSession.make())
                let (service, router) = (UserService(manager: manager), manager.router(for: UserApi.self))

                let first = try await service.users(page: 1)
                #expect(first.data.map(\.firstName) == ["Ada", "Bruno", "Clara", "Dario", "Edda", "Felix"])
                #expect(first.data.map(\.lastName) == ["Marsh", "Teal", "Finch", "Wren", "Stone", "Moss"])

                let headers = try await service.headers()
                #expect(headers["cache-control"] == "max-age=14400")

                let second = try await service.users(page: 2)
                #expect(second.data.map(\.id) == [7, 8, 9, 10, 11, 12])

                let missing = await #expect(throws: NetworkError.self) {
                    try await router.response(for: .user(id: 100))
                }
                #expect(missing?.statusCode == 404)
                #expect(missing?.body == Data("{}".utf8))
                await #expect(throws: Failure(.refused, "there is no user 100")) { try await service.user(100) }

                let made = try await router.response(for: .add(NewUser(name: "Ivy Quill", job: "lamplighter")))
                #expect(made.statusCode == 201)
                let added = try await service.add(NewUser(name: "Ivy Quill", job: "lamplighter"))
                #expect([added.id, added.name, added.job] == ["13", "Ivy Quill", "lamplighter"])

                let user = try await service.user(2)
                #expect(user == first.data[1])
                let file = folder.appendingPathComponent("avatar.bmp")
                try await service.saveAvatar(of: user, to: file)
                let saved = try Data(contentsOf: file)
                let isWhole = saved == Avatar.bytes(of: 2)  // outside the macro, which would search for the differences
                #expect(isWhole)
                // A header of 54 bytes, then 128 rows of 128 pixels with three bytes each.
                #expect(saved.count == 54 + 128 * 384)
                let inMemory = try await service.avatar(of: user)
                let isSame = inMemory == saved
                #expect(isSame)

                #expect(
                    server.requests.map { "\($0.method) \($0.target)" } == [
                        "GET /api/users?page=1", "GET /api/users?page=1", "GET /api/users?page=2", "GET /api/users/100",
                        "GET /api/users/100", "POST /api/users", "POST /api/users", "GET /api/users/2",
                        "GET /img/faces/2.bmp", "GET /img/faces/2.bmp",
                    ])
            }
        }
    }
}
