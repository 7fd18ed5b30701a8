// One typed GET with URLSession and JSONDecoder: `once-urlsession URL`.
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct Page: Decodable {
    struct Film: Decodable { let title: String }
    let results: [Film]
}

guard let url = CommandLine.arguments.last.flatMap(URL.init(string:)) else { exit(64) }
let (data, _) = try await URLSession.shared.data(from: url)
print(try JSONDecoder().decode(Page.self, from: data).results.count)
