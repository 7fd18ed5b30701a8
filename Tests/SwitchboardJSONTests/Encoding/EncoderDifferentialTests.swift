import Foundation
import SwitchboardJSON
import SwitchboardTestSupport
import Testing

/// Encodes seeded values of every shape with both encoders. The bytes must be equal, and both decoders must read them.
struct EncoderDifferentialTests {
    private static let rounds = cases(1_200)

    private static let formattings: [JSONEncoder.OutputFormatting] = [
        [.sortedKeys], [.sortedKeys, .withoutEscapingSlashes], [.sortedKeys, .prettyPrinted],
        [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes],
    ]

    @Test("values of any shape encode to Foundation's bytes", arguments: formattings)
    func anyShape(formatting: JSONEncoder.OutputFormatting) throws {
        for seed in 0..<Self.rounds / Self.formattings.count {
            let value = AnyShape(seed: UInt64(seed), depth: 0)
            let ours = try fastText(value) {
                $0.outputFormatting = FastJSONEncoder.OutputFormatting(rawValue: formatting.rawValue)
                $0.dateEncodingStrategy = .deferredToDate
                if seed % 3 == 1 { $0.keyEncodingStrategy = .convertToSnakeCase }
            }
            let theirs = try foundationText(value) {
                $0.outputFormatting = formatting
                if seed % 3 == 1 { $0.keyEncodingStrategy = .convertToSnakeCase }
            }
            try #require(ours == theirs, "seed \(seed)")
        }
    }

    @Test("both decoders restore records from unsorted text")
    func roundTrips() throws {
        var random = SeededGenerator(seed: 99)
        for round in 0..<Self.rounds / 6 {
            let value = Record(&random, depth: 0)
            var encoder = FastJSONEncoder()
            encoder.dateEncodingStrategy = .iso8601WithMilliseconds
            if round % 2 == 1 { encoder.outputFormatting = [.prettyPrinted] }
            let data = try encoder.encode(value)
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            try #require(try decoder.decode(Record.self, from: data) == value, "round \(round)")
            var ours = FastJSONDecoder()
            ours.dateDecodingStrategy = .iso8601
            try #require(try ours.decode(Record.self, from: data) == value, "round \(round)")
        }
    }

    @Test("one encoder serves concurrent tasks")
    func threads() async throws {
        let encoder = FastJSONEncoder()
        let texts = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try (0..<200).map { seed in
                        var random = SeededGenerator(seed: UInt64(seed))
                        return String(decoding: try encoder.encode(Record(&random, depth: 0)), as: UTF8.self)
                    }
                }
            }
            return try await group.reduce(into: [[String]]()) { $0.append($1) }
        }
        #expect(texts.count == 8 && texts.allSatisfy { $0 == texts[0] })
    }
}

/// A value that chooses its containers by a seed, so that each encoding makes the same choices.
private struct AnyShape: Encodable {
    var seed: UInt64
    var depth: Int

    func encode(to encoder: any Encoder) throws {
        var random = SeededGenerator(seed: seed &* 31 &+ UInt64(depth))
        switch Int.random(in: 0..<(depth > 4 ? 2 : 6), using: &random) {
        case 0:
            var container = encoder.singleValueContainer()
            try scalar(&random, to: &container)
        case 1:
            var container = encoder.singleValueContainer()
            try container.encode([random.jsonText(upTo: 9): random.jsonText(upTo: 9)])
        case 2:
            var container = encoder.unkeyedContainer()
            try fill(&container, &random)
        case 3:
            var container = encoder.singleValueContainer()
            try container.encode((0..<Int.random(in: 0..<4, using: &random)).map { _ in next(&random) })
        default:
            var container = encoder.container(keyedBy: AnyKey.self)
            try fill(&container, &random)
        }
    }

    private func next(_ random: inout SeededGenerator) -> AnyShape { AnyShape(seed: random.next(), depth: depth + 1) }

    private func scalar(_ random: inout SeededGenerator, to container: inout any SingleValueEncodingContainer) throws {
        switch Int.random(in: 0..<9, using: &random) {
        case 0: try container.encodeNil()
        case 1: try container.encode(random.next() % 2 == 0)
        case 2: try container.encode(random.jsonText(upTo: 30))
        case 3: try container.encode(Double(Int.random(in: -9_999...9_999, using: &random)) / 100)
        case 4: try container.encode(Double.random(in: -1e20...1e20, using: &random))
        case 5: try container.encode(Int(truncatingIfNeeded: random.next()))
        case 6: try container.encode(Float.random(in: -10...10, using: &random))
        case 7: try container.encode(Date(timeIntervalSinceReferenceDate: Double(random.next() % 1_000_000)))
        default: try container.encode(Data(random.jsonText(upTo: 9).utf8))
        }
    }

    private func fill(_ container: inout any UnkeyedEncodingContainer, _ random: inout SeededGenerator) throws {
        for _ in 0..<Int.random(in: 0..<5, using: &random) {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: try container.encode(UInt8(truncatingIfNeeded: random.next()))
            case 1: try container.encode(random.jsonText(upTo: 20))
            case 2: try container.encodeNil()
            case 3 where depth < 4:
                var inner = container.nestedUnkeyedContainer()
                let later = next(&random)
                try container.encode(next(&random))
                try inner.encode(later)
            case 4 where depth < 4:
                var inner = container.nestedContainer(keyedBy: AnyKey.self)
                try inner.encode(next(&random), forKey: AnyKey("someInner"))
                try container.encode(1.5)
                try inner.encode(2, forKey: AnyKey("aLater"))
            case 5: try next(&random).encode(to: container.superEncoder())
            default: try container.encode(next(&random))
            }
        }
    }

    private func fill(_ container: inout KeyedEncodingContainer<AnyKey>, _ random: inout SeededGenerator) throws {
        for index in 0..<Int.random(in: 0..<7, using: &random) {
            // Names of one letter repeat. Nested containers have unique names.
            let key = AnyKey(
                Bool.random(using: &random) ? random.jsonText(upTo: 1) : random.jsonText(upTo: 12) + "Xy\(index)")
            let own = AnyKey("own\(index)" + random.jsonText(upTo: 3))
            switch Int.random(in: 0..<9, using: &random) {
            case 0: try container.encode(Int32(truncatingIfNeeded: random.next()), forKey: key)
            case 1: try container.encode(random.jsonText(upTo: 20), forKey: key)
            case 2: try container.encodeNil(forKey: key)
            case 3: try container.encodeIfPresent(random.next() % 2 == 0 ? "here" : nil, forKey: key)
            case 4 where depth < 4:
                var inner = container.nestedUnkeyedContainer(forKey: own)
                try container.encode(next(&random), forKey: key)
                try inner.encode(next(&random))
            case 5 where depth < 4:
                var inner = container.nestedContainer(keyedBy: AnyKey.self, forKey: own)
                try inner.encode(next(&random), forKey: AnyKey("zInner"))
                try container.encode(1, forKey: key)
                try inner.encode(next(&random), forKey: AnyKey("aInner"))
            case 6: try next(&random).encode(to: container.superEncoder(forKey: own))
            default: try container.encode(next(&random), forKey: key)
            }
        }
    }
}

/// A record with the types that applications use.
private struct Record: Codable, Equatable {
    enum Shape: Codable, Equatable { case dot, line(Double, to: Int), group([Shape]) }

    var id: Int
    var name: String
    var ratio: Double
    var single: Float
    var note: String?
    var isOn: Bool
    var when: Date
    var bytes: Data
    var token: UUID
    var link: URL?
    var amount: Decimal
    var tags: [String]
    var scores: [Double]
    var counts: [Int?]
    var map: [String: Int]
    var byNumber: [Int: String]
    var shape: Shape
    var small: UInt8
    var inner: [Record]

    init(_ random: inout SeededGenerator, depth: Int) {
        func count() -> Int { Int.random(in: 0..<4, using: &random) }
        id = Int(truncatingIfNeeded: random.next())
        name = random.jsonText(upTo: 30)
        ratio = Double.random(in: -1e6...1e6, using: &random)
        single = Float.random(in: -1...1, using: &random)
        note = random.next() % 2 == 0 ? nil : random.jsonText(upTo: 50)
        isOn = random.next() % 2 == 0
        when = Date(timeIntervalSince1970: Double(random.next() % 4_000_000_000))
        bytes = Data((0..<count()).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        let high = random.next()
        token = withUnsafeBytes(of: (high, random.next())) { UUID(uuid: $0.load(as: uuid_t.self)) }
        link = random.next() % 2 == 0 ? nil : URL(string: "https://h.example/a?b=\(random.next())")
        amount = Decimal(Int(random.next() % 100_000)) / 100
        tags = (0..<count()).map { _ in random.jsonText(upTo: 9) }
        scores = (0..<count()).map { _ in Double(random.next() % 1_000) / 10 }
        counts = (0..<count()).map { _ in random.next() % 2 == 0 ? nil : Int(random.next() % 99) }
        map = Dictionary((0..<count()).map { _ in (random.jsonText(upTo: 5), 1) }) { one, _ in one }
        byNumber = Dictionary((0..<count()).map { ($0 * 7, random.jsonText(upTo: 3)) }) { one, _ in one }
        shape = random.next() % 2 == 0 ? .dot : .group([.line(0.5, to: 2), .dot, .group([])])
        small = UInt8(truncatingIfNeeded: random.next())
        inner = []
        if depth < 2 { for _ in 0..<count() { inner.append(Record(&random, depth: depth + 1)) } }
    }
}
