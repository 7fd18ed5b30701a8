import Foundation
import Movies
import SwitchboardJSON

/// Coding of a page of movies and of an order of 1 KB, with the library's coders and Foundation's.
struct JSONBenchmarks {
    let page: Data

    private struct Order: Encodable {
        struct Line: Encodable {
            let article: String
            let count: Int
            let price: Double
            let isGift: Bool
            let note: String?
        }

        let id: Int
        let customer: String
        let lines: [Line]
    }

    func run(_ figures: inout MicroFigures) async throws {
        let fast = (decoder: FastJSONDecoder(), encoder: FastJSONEncoder())
        let foundation = (decoder: JSONDecoder(), encoder: JSONEncoder())
        let order = Order(
            id: 4_711, customer: "Ada Lovelace",
            lines: (0..<10).map { number in
                Order.Line(
                    article: "The Art of Computer Programming, volume \(number)", count: number,
                    price: 24.95 + Double(number), isGift: number.isMultiple(of: 2),
                    note: number.isMultiple(of: 3) ? "with a ribbon" : nil)
            })
        try await figures.add("json.decode-page") { consume(try fast.decoder.decode(MoviePage.self, from: page)) }
        try await figures.add("json.decode-page-foundation") {
            consume(try foundation.decoder.decode(MoviePage.self, from: page))
        }
        try await figures.add("json.encode-order") { consume(try fast.encoder.encode(order)) }
        try await figures.add("json.encode-order-foundation") { consume(try foundation.encoder.encode(order)) }
    }
}
