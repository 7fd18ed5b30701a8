import Foundation
import Switchboard
import SwitchboardTesting

/// The API of the gallery: a list of films, with a key that no text may show.
enum GalleryApi: EndPointType {
    case list
    case film(id: Int)
    case rate(id: Int, stars: Double)
    case filtered

    static let key = "hunter2"

    var baseURL: ManagerBaseURL { ManagerBaseURL() }

    var path: String {
        switch self {
        case .list: "films"
        case .film(let id): "films/\(id)"
        case .rate(let id, _): "films/\(id)/rating"
        case .filtered: "films"
        }
    }

    var httpMethod: HTTPMethod {
        if case .rate = self { .post } else { .get }
    }

    var task: HTTPTask {
        let key: Parameters = ["api_key": Self.key]
        return switch self {
        case .rate(_, let stars): .requestParameters(bodyParameters: ["stars": stars], urlParameters: key)
        case .filtered: .requestParameters(bodyParameters: ["year": 1979], urlParameters: key)
        default: .requestParameters(urlParameters: key)
        }
    }
}

struct Film: Codable, Sendable, Equatable {
    var title: String
}

/// Creates routers for the gallery's API and sends requests.
enum Gallery {
    static func router(
        at base: String = "https://films.example.com/", _ session: any NetworkSession,
        _ interceptors: [any Interceptor] = [],
        options: RequestOptions = RequestOptions()
    ) -> Router<GalleryApi> {
        NetworkManager(
            environment: .production, servers: [.production: base], session: session, interceptors: interceptors,
            options: options
        ).router(for: GalleryApi.self)
    }

    /// Sends a request to a stub with this response.
    static func ask(
        _ answer: MockResponse, _ interceptors: [any Interceptor] = [], options: RequestOptions = RequestOptions()
    ) async throws {
        let router = router(StubSession { _ in answer }, interceptors, options: options)
        _ = try await router.request(.list, as: [Film].self)
    }

    /// Sends a request to a loopback server with this response, through the default session.
    static func ask(
        server answer: MockResponse, options: RequestOptions = RequestOptions()
    ) async throws {
        try await MockServer.run { server in
            server.enqueue(answer)
            let router = router(at: server.url.absoluteString, DefaultSession.make(), options: options)
            _ = try await router.request(.list, as: [Film].self)
        }
    }
}
