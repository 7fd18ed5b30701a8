// One typed GET with a router: `once-router URL`.
import Foundation
import Switchboard

struct Page: Decodable {
    struct Film: Decodable { let title: String }
    let results: [Film]
}

enum FilmApi: EndPointType {
    case newest

    var baseURL: String { CommandLine.arguments.last ?? "" }
    var path: String { "" }
}

let router = Router<FilmApi>()
print(try await router.request(.newest, as: Page.self).results.count)
