import ExampleKit
import ExampleSupport
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Todos

/// The flows of the fifth design's article over a real socket.
@Suite(.timeLimit(.minutes(10)))
struct FlowTests {
    @Test(
        "the list shows a todo that was added, updated or deleted", .requirement("S4.12"))
    func flows() async throws {
        let store = TodoServer()
        try await MockServer.run { request in
            (try? store.answer(request)) ?? .status(500)
        } body: { server in
            let service = TodoService(manager: .todos(at: server.url, session: DefaultSession.make()))
            let before = try await service.todos(of: 1)
            #expect(before.map(\.id) == [1, 2, 3])
            #expect(before.map(\.completed) == [false, true, false])

            let added = try await service.add("Buy tea & cake", for: 1)
            #expect(added == Todo(id: 7, userId: 1, title: "Buy tea & cake", completed: false))
            let finished = try await service.finish(7)
            #expect(finished == Todo(id: 7, userId: 1, title: "Buy tea & cake", completed: true))
            try await service.delete(1)
            await #expect(throws: Failure(.refused, "there is no todo 1")) { try await service.delete(1) }

            let after = try await service.todos(of: 1)
            #expect(after.map(\.id) == [2, 3, 7])
            #expect(after.last == finished)
            let all = try await service.todos()
            #expect(all.map(\.id) == [2, 3, 4, 5, 6, 7])
            let made = try await service.manager.response(for: AddTodo(todo: NewTodo(userId: 2, title: "Nap")))
            #expect(made.statusCode == 201)
            #expect(
                server.requests.map { "\($0.method) \($0.target)" } == [
                    "GET /todos?userId=1", "POST /todos", "PATCH /todos/7", "DELETE /todos/1", "DELETE /todos/1",
                    "GET /todos?userId=1", "GET /todos", "POST /todos",
                ])
        }
    }
}
