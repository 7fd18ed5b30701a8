import ExampleKit
import Foundation
import Switchboard
import SwitchboardMocks

/// A server with the paths and JSON of jsonplaceholder that stores changes. Answers `GET` and `POST /todos`, and `GET`,
/// `PUT`, `PATCH` and `DELETE /todos/1`. `/todos/changes` is a WebSocket.
nonisolated final class TodoServer: Sendable {
    private let records = Memory(TodoRecord.all)
    private let followers = Memory(0)

    @Sendable func answer(_ request: RecordedRequest) throws -> MockResponse {
        let segments = request.segments
        guard segments.first == "todos", segments.count < 3 else { return Self.notFound }
        if segments.count == 2, segments[1] == "changes" { return try changes() }
        return try records.use { records in
            guard segments.count == 2 else { return try Self.answer(request, onAll: &records) }
            guard let index = records.firstIndex(where: { "\($0.id)" == segments[1] }) else { return Self.notFound }
            return try Self.answer(request, on: index, of: &records)
        }
    }

    /// Sends two changes on the first socket and drops it, and the third change on the next one.
    private func changes() throws -> MockResponse {
        let isFirst = followers.use { count in
            count += 1
            return count == 1
        }
        let changed = try TodoRecord.all[isFirst ? 0..<2 : 2..<3].map { record in
            var record = record
            record.completed.toggle()
            return WebSocketStep.text(String(decoding: try JSONEncoder().encode(record), as: UTF8.self))
        }
        return .webSocket(steps: [.receive] + changed + [isFirst ? .drop : .close()])
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
        .json(#"{"message": "\#(message)"}"#, statusCode: 400)
    }

    private static let notFound = MockResponse.json("{}", statusCode: 404)
    private static let notAllowed = MockResponse.status(405, headers: ["Allow": "GET, POST, PUT, PATCH, DELETE"])
}
