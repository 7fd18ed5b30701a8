import Foundation
import SwitchboardJSON
import SwitchboardTestSupport
import Testing

/// Codes values that recurse too deeply for a small stack. A stack that overflows ends the process of the tests.
struct StackSpaceTests {
    /// Any JSON value, decoded by trying one type after the other.
    private indirect enum Anything: Codable {
        case null, bool(Bool), number(Double), text(String), array([Anything]), object([String: Anything])

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if value.decodeNil() {
                self = .null
            } else if let bool = try? value.decode(Bool.self) {
                self = .bool(bool)
            } else if let number = try? value.decode(Double.self) {
                self = .number(number)
            } else if let text = try? value.decode(String.self) {
                self = .text(text)
            } else if let array = try? value.decode([Anything].self) {
                self = .array(array)
            } else {
                self = .object(try value.decode([String: Anything].self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            switch self {
            case .null: try value.encodeNil()
            case .bool(let bool): try value.encode(bool)
            case .number(let number): try value.encode(number)
            case .text(let text): try value.encode(text)
            case .array(let array): try value.encode(array)
            case .object(let object): try value.encode(object)
            }
        }
    }

    /// Recurses through containers, without `decode` and `encode`.
    private struct ByContainers: Codable {
        var depth = 0

        init(from decoder: any Decoder) throws {
            if let object = try? decoder.container(keyedBy: JSONTree.Name.self) {
                for key in object.allKeys { depth = try Self(from: object.superDecoder(forKey: key)).depth + 1 }
            } else {
                var array = try decoder.unkeyedContainer()
                if !array.isAtEnd { depth = try Self(from: array.superDecoder()).depth + 1 }
            }
        }

        func encode(to encoder: any Encoder) throws {}
    }

    /// Tries the same recursion twice, and catches every error.
    private struct Stubborn: Decodable {
        init(from decoder: any Decoder) throws {
            var array = try decoder.unkeyedContainer()
            if array.isAtEnd { return }
            if (try? array.decode(Stubborn.self)) == nil { _ = try? array.decode(Stubborn.self) }
        }
    }

    private static let kibibyte = 1 << 10

    private func data(_ open: String, _ end: String, depth: Int = 512) -> Data {
        Data((String(repeating: open, count: depth) + "[]" + String(repeating: end, count: depth)).utf8)
    }

    /// Returns false for an error of the stack, and records an issue for any other error.
    private func fits<Value>(_ result: Result<Value, any Error>, location: SourceLocation = #_sourceLocation) -> Bool {
        guard case .failure(let error) = result else { return true }
        #expect("\(error)".contains("too deeply for the stack of this thread"), sourceLocation: location)
        return false
    }

    @Test(
        "a recursive type throws where the stack ends, and decodes what fits",
        arguments: [("[", "]"), (#"{"first_name":"#, "}"), (#"[{"a":"#, "}]")],
        [64, 128, 512, 16 * 1024])  // musl's threads have 128 KiB
    func decoding(text: (String, String), stack: Int) async {
        let depth = text.0.contains("[{") ? 255 : 511
        let data = data(text.0, text.1, depth: depth)
        let plain = await onThread(stack: stack * Self.kibibyte) {
            _ = try FastJSONDecoder().decode(Anything.self, from: data)
        }
        let isFit = fits(plain)
        #expect(stack == 512 || isFit == (stack > 512))
        let converted = await onThread(stack: stack * Self.kibibyte) {
            var decoder = FastJSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            _ = try decoder.decode(Anything.self, from: data)
        }
        #expect(stack == 512 || fits(converted) == (stack > 512))
        let byContainers = await onThread(stack: stack * Self.kibibyte) {
            try FastJSONDecoder().decode(ByContainers.self, from: data).depth
        }
        _ = fits(byContainers)
    }

    @Test("an error of the stack ends the decode even when each level catches it")
    func stubborn() async {
        let data = data("[", "]", depth: 511)
        let result = await onThread(stack: 64 * Self.kibibyte) {
            _ = try FastJSONDecoder().decode(Stubborn.self, from: data)
        }
        #expect(!fits(result))
    }

    @Test("a custom strategy that decodes its own type throws")
    func ownStrategy() async {
        let date = await onThread(stack: 512 * Self.kibibyte) {
            var decoder = FastJSONDecoder()
            decoder.dateDecodingStrategy = .custom { try $0.singleValueContainer().decode(Date.self) }
            _ = try decoder.decode([Date].self, from: Data("[1]".utf8))
        }
        #expect(!fits(date))
        let data = await onThread(stack: 512 * Self.kibibyte) {
            var decoder = FastJSONDecoder()
            decoder.dataDecodingStrategy = .custom { try $0.singleValueContainer().decode(Data.self) }
            _ = try decoder.decode(Data.self, from: Data("1".utf8))
        }
        #expect(!fits(data))
    }

    @Test("values nested 20 times decode and encode on a stack of 512 KiB")
    func usual() async throws {
        let data = data(#"{"a":["#, "]}", depth: 10)
        let result = await onThread(stack: 512 * Self.kibibyte) {
            try FastJSONEncoder().encode(FastJSONDecoder().decode(Anything.self, from: data))
        }
        #expect(try result.get() == data)
    }

    /// A value that moves to the thread that releases it.
    private final class Box: @unchecked Sendable {  // one thread at a time uses it
        var value: Anything?
        init(_ value: Anything) { self.value = value }
    }

    @Test("the deepest value that decodes by default is released on 512 KiB", arguments: ["[", #"{"a":"#])
    func released(open: String) async throws {
        let data = data(open, open == "[" ? "]" : "}", depth: 511)
        let box = try await onThread(stack: 16 * 1024 * Self.kibibyte) {
            try Box(FastJSONDecoder().decode(Anything.self, from: data))
        }.get()
        _ = await onThread(stack: 512 * Self.kibibyte) { box.value = nil }
        #expect({ if case .none = box.value { true } else { false } }())
    }

    @Test("encoding a value that is too deep for the stack throws", arguments: [64, 512])
    func encoding(stack: Int) async throws {
        for text in [("[", "]"), (#"{"a":"#, "}")] {
            // Released below, because the release needs a larger stack than the smallest of these.
            let box = try Box(FastJSONDecoder().decode(Anything.self, from: data(text.0, text.1, depth: 300)))
            let result = await onThread(stack: stack * Self.kibibyte) {
                var encoder = FastJSONEncoder()
                encoder.maximumDepth = 10_000
                return try encoder.encode(box.value)
            }
            box.value = nil
            #expect(!fits(result) || stack > 64)
        }
    }
}
