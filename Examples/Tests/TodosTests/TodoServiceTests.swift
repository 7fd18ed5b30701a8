import ExampleKit
import ExampleSupport
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Todos

/// The example's service over a stub session: its requests, and its values and errors.
@Suite(.timeLimit(.minutes(10)))
struct TodoServiceTests {
    private let session = StubSession()
    private var service: TodoService {
        get throws {
            let url = try #require(URL(string: "https://todos.example.com/v1/"))
            return TodoService(manager: .todos(at: url, session: session))
        }
    }
    private let one = #"{"userId": 1, "id": 201, "title": "Tea & cake", "completed": false}"#

    @Test(
        "a path alone is a GET without body and query, and decodes its type",
        .requirement("S4.1", "S4.2"))
    func list() async throws {
        session.enqueue(.json("[\(one)]"))
        let found = try await service.todos()
        #expect(found == [Todo(id: 201, userId: 1, title: "Tea & cake", completed: false)])
        let request = try #require(session.recordedRequests.first)
        #expect("\(request.method) \(request.target)" == "GET /v1/todos")
        #expect(request.body.isEmpty && !request.headers.contains("Content-Type"))
        #expect(request.headers["Accept"] == "application/json")
    }

    @Test("sends the query of a typed request", .requirement("S4.3"))
    func query() async throws {
        session.enqueue(.json("[]"))
        let found = try await service.todos(of: 7)
        #expect(found == [])
        #expect(session.recordedRequests.map(\.target) == ["/v1/todos?userId=7"])
    }

    @Test(
        "adding sends the todo and decodes the single object of the 201", .requirement("S4.2", "S4.12"))
    func add() async throws {
        session.enqueue(.json(one, statusCode: 201))
        let added = try await service.add("Tea & cake", for: 1)
        #expect(added == Todo(id: 201, userId: 1, title: "Tea & cake", completed: false))
        let request = try #require(session.recordedRequests.first)
        #expect("\(request.method) \(request.target)" == "POST /v1/todos")
        #expect(request.text == #"{"userId":1,"title":"Tea & cake","completed":false}"#)
        #expect(request.headers["Content-Type"] == "application/json; charset=utf-8")
    }

    @Test("an update sends only the change, a deletion no body and accepts 204", .requirement("S4.12"))
    func change() async throws {
        session.enqueue(.json(one), .status(204))
        _ = try await service.finish(201)
        try await service.delete(201)
        #expect(
            session.recordedRequests.map { "\($0.method) \($0.target) \($0.text)" } == [
                #"PATCH /v1/todos/201 {"completed":true}"#, "DELETE /v1/todos/201 ",
            ])
    }

    @Test(
        "a missing todo is the service's error; a 403 keeps code and message",
        .requirement("S4.6"))
    func refusals() async throws {
        session.enqueue(.json("{}", statusCode: 404), .json(#"{"message": "no"}"#, statusCode: 403))
        let service = try service
        await #expect(throws: Failure(.refused, "there is no todo 9")) { try await service.delete(9) }
        let error = await #expect(throws: NetworkError.self) { try await service.finish(9) }
        #expect(error?.code == .forbidden)
        #expect(error?.serverMessage == "no")
    }

    @Test(
        "every delivery style returns the same value or throws the same error",
        .requirement("S4.10"),
        arguments: DeliveryStyle.allCases)
    func styles(style: DeliveryStyle) async throws {
        session.stub(.get("/v1/todos").query("userId", "1"), with: .json("[\(one)]"))
        session.stub(.get("/v1/todos").query("userId", "2"), with: .json(#"{"message": "no"}"#, statusCode: 403))
        let manager = try service.manager
        guard let found = try await style.send(FindTodos(user: 1), with: manager) else {
            #expect(style == .publisher)
            return
        }
        #expect(found == [Todo(id: 201, userId: 1, title: "Tea & cake", completed: false)])
        let error = await #expect(throws: NetworkError.self) {
            try await style.send(FindTodos(user: 2), with: manager)
        }
        #expect(error?.code == .forbidden)
    }
}
