import Foundation
import Movies
import SwitchboardJSON

/// Decoding a page of movies, and encoding an order of 1 KB.
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
        let (decoder, encoder) = (FastJSONDecoder(), FastJSONEncoder())
        let order = Order(
            id: 4_711, customer: "Ada Lovelace",
            lines: (0..<10).map { number in
                Order.Line(
                    article: "The Art of Computer Programming, volume \(number)", count: number,
                    price: 24.95 + Double(number), isGift: number.isMultiple(of: 2),
                    note: number.isMultiple(of: 3) ? "with a ribbon" : nil)
            })
        try await figures.add("json.decode-page") { consume(try decoder.decode(MoviePage.self, from: page)) }
        try await figures.add("json.encode-order") { consume(try encoder.encode(order)) }
    }
}
