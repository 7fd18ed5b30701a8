import Foundation
import Switchboard

public enum FilmApi: Sendable {
    case popular(page: Int)
    case rate(id: Int, stars: Int)
}

extension FilmApi: EndPointType {
    public static let servers: EnvironmentURLs = [.production: "https://films.example.com/v1/"]
    public var baseURL: URL { get throws { try Self.servers.url(in: .current) } }

    public var path: String {
        switch self {
        case .popular: "popular"
        case .rate(let id, _): "films/\(id)/rating"
        }
    }

    public var httpMethod: HTTPMethod {
        switch self {
        case .popular: .get
        case .rate: .post
        }
    }

    public var task: HTTPTask {
        switch self {
        case .popular(let page): .requestParameters(urlParameters: ["page": page])
        case .rate(_, let stars): .requestParameters(bodyParameters: ["value": stars])
        }
    }
}

public struct Film: Codable, Sendable, Equatable {
    public let id: Int
    public let title: String
}

public struct FilmPage: Codable, Sendable, Equatable {
    public let page: Int
    public let results: [Film]
}
