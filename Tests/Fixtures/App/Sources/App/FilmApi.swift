import Foundation
import Switchboard

// An enum whose conformance is an extension, as Xcode's "add conformance" writes it.
enum FilmApi { case popular(page: Int), film(id: Int), rate(Rating), all, issues(page: Int), ticker, chat }

extension FilmApi: EndPointType {
    static let servers: EnvironmentURLs = [
        .production: "https://films.example.com/3/", .qa: "https://qa.example.com/3/",
    ]
    var baseURL: URL { get throws { try Self.servers.url(in: .current) } }
    var path: String {
        switch self {
        case .popular: "films/popular"
        case .film(let id): "films/\(id)"
        case .rate(let rating): "films/\(rating.film)/rating"
        case .all, .issues: "films"
        case .ticker: "ticker"
        case .chat: "chat"
        }
    }
    var httpMethod: HTTPMethod {
        if case .rate = self { .post } else { .get }
    }
    var task: HTTPTask {
        switch self {
        case .popular(let page), .issues(let page): .requestParameters(urlParameters: ["page": page])
        case .rate(let rating): .requestBody(JSONBody(rating))
        default: .request
        }
    }
    var headers: HTTPHeaders? { nil }
}

// An enum whose conformance is inline.
enum PeopleApi: EndPointType {
    case person(id: Int)
    var baseURL: String { "https://films.example.com/3" }
    var path: String {
        switch self {
        case .person(let id): "people/\(id)"
        }
    }
}

// A public enum: its members are public too.
public enum GenreApi: EndPointType {
    case list
    public var baseURL: URL { get throws { try FilmApi.servers.url(in: .current) } }
    public var path: String { "genres" }
    public var httpMethod: HTTPMethod { .get }
    public var task: HTTPTask { .request }
    public var headers: HTTPHeaders? { nil }
}

struct FindFilms: TypedEndPoint {
    typealias Response = [Film]
    let text: String
    var path: String { "films" }
    var task: HTTPTask { .requestParameters(urlParameters: ["q": text]) }
}

struct AddFilm: TypedEndPoint {
    typealias Response = Film
    let film: Film
    var path: String { "films" }
    var httpMethod: HTTPMethod { .post }
    var task: HTTPTask { .requestBody(JSONBody(film)) }
}

// An endpoint of a protocol of the app, which has defaults.
nonisolated protocol ShopEndPoint: TypedEndPoint {
    var version: Int { get }
}

extension ShopEndPoint {
    var version: Int { 2 }
    var path: String { "v\(version)/offers" }
    var headers: HTTPHeaders? { ["X-Client": "app"] }
}

struct FindOffers: ShopEndPoint {
    typealias Response = [Film]
}

// A protocol of the app with an API as an associated type.
nonisolated protocol Repository {
    associatedtype Api: EndPointType
    var router: Router<Api> { get }
}

extension Repository {
    func fetch<Value: Decodable>(_ endPoint: Api, as type: Value.Type = Value.self) async throws -> Value {
        try await router.request(endPoint, as: type)
    }
}

struct FilmRepository: Repository {
    let router: Router<FilmApi>

    func popular() async throws -> [Film] { try await fetch(.popular(page: 1), as: FilmPage.self).results }
}

struct Film: Codable, Equatable {
    let id: Int
    let title: String
}

struct FilmPage: Codable { let page: Int, totalPages: Int, results: [Film] }

/// The page of an API whose pages have the same form for all models.
struct Listing<Item: Decodable>: Decodable {
    let page: Int, pages: Int, items: [Item]
    var hasMore: Bool { page < pages }
}

struct Rating: Codable { let film: Int, stars: Int }

final class Person: Decodable {
    let name: String

    init(name: String) { self.name = name }
}

/// A large model, which is decoded outside of the main actor.
nonisolated struct Catalog: Decodable {
    let titles: [String]
}
