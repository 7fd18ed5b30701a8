import Foundation
import Switchboard
import SwitchboardJSON

/// Work whose cost must not grow faster than the input, with inputs that a server could choose.
struct GrowthBenchmarks {
    /// A value of a kind that is found by trying. Each object fails twice: at a member, and at the object before it.
    private enum Choice: Decodable {
        case flag(Bool), number(Int), text(String)

        private enum CodingKeys: CodingKey { case value, number }

        init(from decoder: any Decoder) throws {
            let object = try decoder.container(keyedBy: CodingKeys.self)
            if let flag = try? object.decode(Bool.self, forKey: .value) {
                self = .flag(flag)
            } else if let number = try? object.decode(Int.self, forKey: .number) {
                self = .number(number)
            } else {
                self = .text(try object.decode(String.self, forKey: .value))
            }
        }
    }

    private struct Position: Decodable {
        let decoder: any Decoder
        init(from decoder: any Decoder) { self.decoder = decoder }
    }

    func run(_ figures: inout MicroFigures) async throws {
        try await figures.add("growth.json-alternatives", doubling: 200) { count in
            // The long member makes the search for a position count.
            let object = #"{"value":"text","other":""# + String(repeating: "x", count: 1_000) + #""}"#
            let data = Self.array(object, count)
            return { consume(try FastJSONDecoder().decode([Choice].self, from: data)) }
        }
        try await figures.add("growth.json-reversed-paths", doubling: 4_000) { count in
            let data = Self.array("1", count)
            return {
                let positions = try FastJSONDecoder().decode([Position].self, from: data)
                for position in positions.reversed() { consume(position.decoder.codingPath) }
            }
        }
        try await figures.add("growth.redacted-text", doubling: 200) { count in
            let piece = #"{"page":1,"token":"s3cret","next":"https://h.test/?page=2&api_key=s3cret"} password=s3cret "#
            let text = String(repeating: piece, count: count)
            return { consume(Redaction.standard.text(text)) }
        }
    }

    private static func array(_ element: String, _ count: Int) -> Data {
        Data(("[" + Array(repeating: element, count: count).joined(separator: ",") + "]").utf8)
    }
}
