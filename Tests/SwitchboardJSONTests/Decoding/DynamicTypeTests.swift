import Foundation
import SwitchboardJSON
import Testing

/// Decodes subclasses through a metatype of their superclass, and types with a configuration, as `JSONDecoder` does.
struct DynamicTypeTests {
    class Shape: Decodable {
        let name: String

        var text: String { "shape \(name)" }

        private enum CodingKeys: CodingKey { case name }

        required init(from decoder: any Decoder) throws {
            name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
        }
    }

    final class Circle: Shape {
        private let radius: Int

        override var text: String { "circle \(name) \(radius)" }

        private enum CodingKeys: CodingKey { case radius }

        required init(from decoder: any Decoder) throws {
            radius = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .radius)
            try super.init(from: decoder)
        }
    }

    /// Decodes a circle through each kind of container.
    private struct Drawing: Decodable {
        let texts: [String]

        private enum CodingKeys: CodingKey { case shape, shapes }

        init(from decoder: any Decoder) throws {
            let type: Shape.Type = Circle.self
            let object = try decoder.container(keyedBy: CodingKeys.self)
            var shapes = try object.nestedUnkeyedContainer(forKey: .shapes)
            texts = [
                try object.decode(type, forKey: .shape).text,
                try object.decodeIfPresent(type, forKey: .shape)?.text ?? "none",
                try shapes.decode(type).text, try shapes.decodeIfPresent(type)?.text ?? "none",
                try object.superDecoder(forKey: .shape).singleValueContainer().decode(type).text,
            ]
        }
    }

    private static let circle = #"{"name":"a","radius":7}"#

    @Test("a metatype of a superclass decodes the class that it is")
    func metatypes() throws {
        let type: Shape.Type = Circle.self
        let data = Data(Self.circle.utf8)
        #expect(try FastJSONDecoder().decode(type, from: data).text == "circle a 7")
        #expect(try FastJSONDecoder().decode(Shape.self, from: data).text == "shape a")
        #expect(try JSONDecoder().decode(type, from: data).text == "circle a 7")
        let drawing = Data(#"{"shape":\#(Self.circle),"shapes":[\#(Self.circle),\#(Self.circle)]}"#.utf8)
        let texts = try FastJSONDecoder().decode(Drawing.self, from: drawing).texts
        // The standard library's keyed container passes `Shape.self` on.
        #expect(texts == ["shape a", "shape a", "circle a 7", "circle a 7", "circle a 7"])
        #expect(try JSONDecoder().decode(Drawing.self, from: drawing).texts == texts)
    }

    @Test("a reader of elements decodes the class of its metatype")
    func elements() throws {
        var reader = JSONElementReader(Circle.self as Shape.Type, decoder: FastJSONDecoder())
        var texts: [String] = []
        try Array("[\(Self.circle)]".utf8).withUnsafeBytes { try reader.read($0) { texts.append($0.text) } }
        try reader.finish()
        #expect(texts == ["circle a 7"])
    }

    /// A number that is written and read with a factor.
    private struct Scaled: DecodableWithConfiguration, EncodableWithConfiguration {
        enum Thousand: DecodingConfigurationProviding, EncodingConfigurationProviding {
            static let decodingConfiguration = 1_000
            static let encodingConfiguration = 1_000
        }

        let value: Int

        init(from decoder: any Decoder, configuration: Int) throws {
            value = try decoder.singleValueContainer().decode(Int.self) * configuration
        }

        func encode(to encoder: any Encoder, configuration: Int) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value / configuration)
        }
    }

    @Test("a configuration reaches the type that is decoded or encoded")
    func configurations() throws {
        let (decoder, encoder) = (FastJSONDecoder(), FastJSONEncoder())
        let scaled = try decoder.decode(Scaled.self, from: Data("7".utf8), configuration: 10)
        #expect(scaled.value == 70)
        #expect(
            try decoder.decode(Scaled.self, from: Data("7".utf8), configuration: Scaled.Thousand.self).value == 7_000)
        #expect(try encoder.encode(scaled, configuration: 5) == Data("14".utf8))
        let large = try decoder.decode(Scaled.self, from: Data("3".utf8), configuration: 1_000)
        #expect(try encoder.encode(large, configuration: Scaled.Thousand.self) == Data("3".utf8))
        #expect(throws: DecodingError.self) {
            try decoder.decode(Scaled.self, from: Data("[]".utf8), configuration: 10)
        }
    }
}
