import Foundation
import Switchboard

/// The API of the design, as an app declares it, and one environment more: the server on loopback.
public enum MovieApi { case recommended(id: Int), popular(page: Int), newMovies(page: Int), video(id: Int) }

extension MovieApi: EndPointType {
    /// That of the environment.
    public var baseURL: URL { get throws { try Self.servers.url(in: .current) } }
    static let servers: EnvironmentURLs = [
        .production: "https://api.themoviedb.org/3/movie/", .staging: "https://staging.example.com/3/movie/",
        .qa: "https://qa.example.com/3/movie/", .loopback: Loopback.base,
    ]
    /// Below the base URL.
    public var path: String {
        switch self {
        case .recommended(let id): "\(id)/recommendations"
        case .popular: "popular"
        case .newMovies: "now_playing"
        case .video(let id): "\(id)/videos"
        }
    }
    /// GET for all.
    public var httpMethod: HTTPMethod { .get }
    /// Pages have parameters.
    public var task: HTTPTask {
        switch self {
        case .newMovies(let page), .popular(let page):
            .requestParameters(bodyParameters: nil, urlParameters: ["page": page, "api_key": MovieKey.value])
        default: .request
        }
    }
    /// None of its own.
    public var headers: HTTPHeaders? { nil }
}

/// The key of the API.
public enum MovieKey {
    /// The key.
    public static let value = "0123456789abcdef0123456789abcdef"
}

extension NetworkEnvironment {
    /// The server of ``Loopback``.
    public static let loopback = NetworkEnvironment("loopback")
}

/// The server that this process was told to measure against.
public enum Loopback {
    /// The base URL, `--url` of the command line.
    public static let base = Arguments(CommandLine.arguments.dropFirst())["url"] ?? "http://127.0.0.1/"
    /// The URL of ``MovieApi/newMovies(page:)`` there, for the peers without endpoints.
    public static let page = base + "now_playing?page=1&api_key=" + MovieKey.value
    /// ``page`` as a URL.
    public static let pageURL = url("now_playing?page=1&api_key=" + MovieKey.value)

    /// The URL of what is below the base URL; that of nothing when there is none.
    public static func url(_ path: String) -> URL { URL(string: base + path) ?? URL(fileURLWithPath: path) }
}
