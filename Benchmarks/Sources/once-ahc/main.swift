// One typed GET with async-http-client and JSONDecoder: `once-ahc URL`.
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat

struct Page: Decodable {
    struct Film: Decodable { let title: String }
    let results: [Film]
}

let request = HTTPClientRequest(url: CommandLine.arguments.last ?? "")
let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
let body = try await response.body.collect(upTo: 1 << 20)
print(try JSONDecoder().decode(Page.self, from: body).results.count)
