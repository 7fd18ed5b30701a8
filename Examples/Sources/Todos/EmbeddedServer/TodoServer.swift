import ExampleKit
import Foundation
import Switchboard
import SwitchboardMocks

/// A server with the paths and JSON of jsonplaceholder that stores changes. Answers `GET` and `POST /todos`, and `GET`,
/// `PUT`, `PATCH` and `DELETE /todos/1`.
final class TodoServer: Sendable {
    private let records = Memory(TodoRecord.all)

    @Sendable func answer(_ request: RecordedRequest) throws -> MockResponse {
        let segments = request.segments
        guard segments.first == "todos", segments.count < 3 else { return Self.notFound }
        return try records.use { records in
            guard segments.count == 2 else { return try Self.answer(request, onAll: &records) }
            guard let index = records.firstIndex(where: { "\($0.id)" == segments[1] }) else { return Self.notFound }
            return try Self.answer(request, on: index, of: &records)
        }
    }

    private static func answer(
        _ request: RecordedRequest, onAll records: inout [TodoRecord]
    ) throws -> MockResponse {
        switch request.method {
        case .get:
            let user = request.queryValue("userId")
            return try json(records.filter { user == nil || "\($0.userId)" == user })
        case .post:
            guard let change = try? request.decode(TodoChange.self), let user = change.userId, let title = change.title
            else { return refusal("A todo needs a userId and a title.") }
            records.append(
                TodoRecord(
                    id: (records.map(\.id).max() ?? 0) + 1, userId: user, title: title,
                    completed: change.completed ?? false))
            return try json(records.last, status: 201)
        default: return notAllowed
        }
    }

    private static func answer(
        _ request: RecordedRequest, on index: Int, of records: inout [TodoRecord]
    ) throws -> MockResponse {
        switch request.method {
        case .get: break
        case .put, .patch:
            guard let change = try? request.decode(TodoChange.self) else { return refusal("That is no todo.") }
            if let user = change.userId { records[index].userId = user }
            if let title = change.title { records[index].title = title }
            if let completed = change.completed { records[index].completed = completed }
        case .delete:
            records.remove(at: index)
            return .status(204)
        default: return notAllowed
        }
        return try json(records[index])
    }

    private static func json(_ record: any Encodable, status: Int = 200) throws -> MockResponse {
        try .record(record, status: status, keys: .useDefaultKeys)
    }

    private static func refusal(_ message: String) -> MockResponse {
        .json(#"{"message": "\#(message)"}"#, status: 400)
    }

    private static let notFound = MockResponse.json("{}", status: 404)
    private static let notAllowed = MockResponse.status(405, headers: ["Allow": "GET, POST, PUT, PATCH, DELETE"])
}
