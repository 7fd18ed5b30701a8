import ExampleKit
import Foundation
import Switchboard
import SwitchboardMocks

/// A server with the paths and JSON of reqres: twelve users with pictures, six on a page.
///
/// Answers `GET /api/users?page=2`, `GET /api/users/7`, `POST /api/users` and `GET /img/faces/7.bmp`.
nonisolated enum UserServer {
    private static let pageSize = 6

    @Sendable static func answer(_ request: RecordedRequest) throws -> MockResponse {
        let segments = request.segments
        switch (request.method, segments.first, segments.count) {
        case (.get, "api", 2) where segments[1] == "users": return try list(request)
        case (.post, "api", 2) where segments[1] == "users": return try add(request)
        case (.get, "api", 3) where segments[1] == "users":
            guard let user = UserRecord.all(for: request).first(where: { "\($0.id)" == segments[2] }) else { break }
            return try .record(["data": user])
        case (.get, "img", 3) where segments[1] == "faces":
            guard segments[2].hasSuffix(".bmp"), let id = UInt8(segments[2].dropLast(4)) else { break }
            return .data(Avatar.bytes(of: Int(id)), headers: ["Content-Type": "image/bmp"])
        default: break
        }
        return .json("{}", statusCode: 404)
    }

    private static func list(_ request: RecordedRequest) throws -> MockResponse {
        let all = UserRecord.all(for: request)
        let page = max(1, request.queryValue("page").flatMap { Int($0) } ?? 1)
        let users = page > all.count ? [] : Array(all.dropFirst((page - 1) * pageSize).prefix(pageSize))
        var response = try MockResponse.record(
            UserPageRecord(
                page: page, perPage: pageSize, total: all.count, totalPages: all.count / pageSize, data: users))
        response.headers = [
            "Content-Type": "application/json; charset=utf-8", "Cache-Control": "max-age=14400",
            "X-Powered-By": "Switchboard", "Vary": "Accept-Encoding",
        ]
        return response
    }

    private static func add(_ request: RecordedRequest) throws -> MockResponse {
        guard let sent = try? request.decode([String: String].self) else {
            return .json(#"{"error": "A user is an object of texts."}"#, statusCode: 400)
        }
        var record = sent
        record["id"] = "13"
        record["createdAt"] = "2026-03-14T09:26:53Z"
        return try .record(record, status: 201, keys: .useDefaultKeys)
    }
}
