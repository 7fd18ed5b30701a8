import Foundation
import Switchboard

/// The endpoints of TheMovieDB's API.
enum MovieApi: Equatable {
    case recommended(id: Int)
    case popular(page: Int)
    case newMovies(page: Int)
    case video(id: Int)
    case movie(id: Int)
}

extension MovieApi: EndPointType {
    var baseURL: URL { get throws { try MovieBackend.current.servers.url(in: .current) } }

    var path: String {
        switch self {
        case .recommended(let id): "\(id)/recommendations"
        case .popular: "popular"
        case .newMovies: "now_playing"
        case .video(let id): "\(id)/videos"
        case .movie(let id): "\(id)"
        }
    }

    var httpMethod: HTTPMethod { .get }

    var task: HTTPTask {
        let key = MovieBackend.current.key
        return switch self {
        case .newMovies(let page), .popular(let page):
            .requestParameters(bodyParameters: nil, urlParameters: ["page": page, "api_key": key])
        case .recommended, .video, .movie:
            .requestParameters(bodyParameters: nil, urlParameters: ["api_key": key])
        }
    }

    var headers: HTTPHeaders? { nil }
}
