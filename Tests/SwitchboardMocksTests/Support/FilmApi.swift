import Foundation
import Switchboard

/// An API for the tests of the kit. It is not `Equatable`, as published APIs are not.
enum FilmApi {
    case popular(page: Int)
    case search(String)
    case film(id: Int)
    case rate(id: Int, stars: Int)
}

extension FilmApi: EndPointType {
    static let servers: EnvironmentURLs = [
        .production: "https://api.example.com/3/", .staging: "https://staging.example.com/v3/film/",
    ]
    var baseURL: URL { get throws { try Self.servers.url(in: .current) } }

    var path: String {
        switch self {
        case .popular: "popular"
        case .search: "search"
        case .film(let id): "film/\(id)"
        case .rate(let id, _): "film/\(id)/rating"
        }
    }

    var httpMethod: HTTPMethod {
        if case .rate = self { .post } else { .get }
    }

    var task: HTTPTask {
        switch self {
        case .popular(let page): .requestParameters(urlParameters: ["page": page, "api_key": "s3cret"])
        case .search(let text): .requestParameters(urlParameters: ["q": text])
        case .film: .request
        case .rate(_, let stars): .requestParameters(bodyParameters: ["value": stars])
        }
    }
}

/// Adds the header field and the query item that an app's interceptors typically add.
struct AddsToken: Interceptor {
    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var request = request
        request.headers["Authorization"] = "Bearer s3cret"
        request.query = (request.query.map { "\($0)&" } ?? "") + "lang=en"
        return try await next(request)
    }
}
