// The names that samples of the documentation use, for scripts/check/samples: type-checked, never run. A document that
// declares a name itself means its own.
import Foundation
import Switchboard

enum MovieApi: EndPointType {
    case popular(page: Int), newMovies(page: Int), recommended(id: Int), video(id: Int), poster(id: Int)
    case rate(id: Int, stars: Int), addVideo(MultipartBody), addFile, feed(after: String?), search(String)
    static var addVideo: MovieApi { .addFile }
    case export, ticker, chat, issues, film, changes(since: Int?)

    static let servers: EnvironmentURLs = [.production: "https://api.example.com/3/movie/"]
    var baseURL: URL { get throws { try Self.servers.url(in: .current) } }
    var path: String { "" }
}

nonisolated struct Movie: Codable, Hashable, Sendable {
    var id: Int
    var title: String
}

nonisolated struct MoviePage: Codable, Hashable, Sendable {
    var page: Int
    var totalPages: Int
    var results: [Movie]
}

nonisolated struct Video: Codable, Sendable {
    var key: String
}

nonisolated struct Issue: Codable, Sendable {
    var title: String
}

nonisolated struct Feed: Codable, Sendable {
    var items: [Movie]
    var nextCursor: String?
}

nonisolated struct Change: Codable, Sendable {
    var sequence: Int
    var name: String
}

nonisolated struct Price: Codable, Sendable {
    var symbol: String
    var amount: Double
}

/// How a server explains a 422.
nonisolated struct ServerError: Codable, Sendable {
    var message: String
    var fields: [String]
}

nonisolated struct Todo: Codable, Identifiable, Sendable {
    var id: Int
    var title: String
}

struct FindTodos: TypedEndPoint {
    typealias Response = [Todo]
    var path: String { "/todos" }
}

nonisolated struct SessionKey: Codable, Sendable {
    var value: String
}

nonisolated enum LoginApi: EndPointType {
    case renew(SessionKey?)

    var baseURL: String { "https://login.example.com" }
    var path: String { "renew" }
}
