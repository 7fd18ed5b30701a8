import Foundation
import SwitchboardJSON
import Testing

struct FastJSONDecoderTests {
    struct Film: Codable, Equatable {
        var id: Int
        var title: String
        var rating: Double
        var tags: [String]
        var isAdult: Bool
        var parent: [String: Int?]?
    }

    @Test("a default decoder reads an object with every kind of value")
    func everyKind() throws {
        let text =
            #"{"id":7,"title":"A \u00e9\n","rating":7.25,"tags":["x","y"],"isAdult":false,"parent":{"a":1,"b":null}}"#
        let film = try FastJSONDecoder().decode(Film.self, from: Data(text.utf8))
        let expected = try JSONDecoder().decode(Film.self, from: Data(text.utf8))
        #expect(film == expected)
        #expect(film.title == "A é\n" && film.parent == ["a": 1, "b": nil])
    }
}
