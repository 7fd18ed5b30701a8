import Foundation
import Switchboard

/// The movie API as an app declares it, with an additional environment for the server on loopback.
public enum MovieApi { case recommended(id: Int), popular(page: Int), newMovies(page: Int), video(id: Int) }

extension MovieApi: EndPointType {
    /// The base URL of the current environment.
    public var baseURL: URL { get throws { try Self.servers.url(in: .current) } }
    static let servers: EnvironmentURLs = [
        .production: "https://api.themoviedb.org/3/movie/", .staging: "https://staging.example.com/3/movie/",
        .qa: "https://qa.example.com/3/movie/", .loopback: Loopback.base,
    ]
    /// The path below the base URL.
    public var path: String {
        switch self {
        case .recommended(let id): "\(id)/recommendations"
        case .popular: "popular"
        case .newMovies: "now_playing"
        case .video(let id): "\(id)/videos"
        }
    }
    /// GET for all endpoints.
    public var httpMethod: HTTPMethod { .get }
    /// Parameters for pages only.
    public var task: HTTPTask {
        switch self {
        case .newMovies(let page), .popular(let page):
            .requestParameters(bodyParameters: nil, urlParameters: ["page": page, "api_key": MovieKey.value])
        default: .request
        }
    }
    /// No headers.
    public var headers: HTTPHeaders? { nil }
}

/// The API's key.
public enum MovieKey {
    /// The key's value.
    public static let value = "0123456789abcdef0123456789abcdef"
}

extension NetworkEnvironment {
    /// The environment of ``Loopback``'s server.
    public static let loopback = NetworkEnvironment("loopback")
}

/// The server of the measurement.
public enum Loopback {
    /// The base URL, from `--url` on the command line.
    public static let base = Arguments(CommandLine.arguments.dropFirst())["url"] ?? "http://127.0.0.1/"
    /// The URL of ``MovieApi/newMovies(page:)`` on that server, for the peers without endpoints.
    public static let page = base + "now_playing?page=1&api_key=" + MovieKey.value
    /// The value of ``page`` as a URL.
    public static let pageURL = URL(string: page) ?? URL(fileURLWithPath: page)
}
