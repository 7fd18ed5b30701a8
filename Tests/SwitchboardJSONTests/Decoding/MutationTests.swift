import Foundation
import SwitchboardJSON
import SwitchboardTestSupport
import Testing

/// Decodes documents with random changes. Each must decode as with `JSONDecoder` or throw, and none may crash.
struct MutationTests {
    private static let documents = [
        #"{"id":7,"title":"A \u00e9\n\ud83d\ude00","rating":7.25e-1,"tags":["x","y"],"isAdult":false,"parent":{"a":1,"b":null}}"#,
        #"[0,-1,1.5,1e10,-2.5E-3,123456789012345678901234567890,true,false,null,"",[],{}]"#,
        "[\"Ünïcödé\", \"日本語\", \"😀\", \"a longer text that is scanned in words of eight bytes\\\\\"]",
        "{\n  \"a\" : [ { \"b\" : { } } , [ [ ] ] ],\r\n\t\"c\" : \"\\\"\\\\\\/\\b\\f\\n\\r\\t\"\n}",
        "[[[[[[[[[[{\"a\":[[[1,2],[3]],{\"a\":1,\"a\":2}]}]]]]]]]]]]",
        "\"2024-01-02T03:04:05.678+01:00\"",
    ]

    @Test("a changed document throws or decodes as with JSONDecoder")
    func mutations() {
        let start = MutationTests.documents.map { Array($0.utf8) }
        for seed in seededCases(3_000) {
            var random = SeededGenerator(seed: seed)
            var bytes = start[Int(random.next() % UInt64(start.count))]
            for _ in 0...Int(random.next() % 3) { change(&bytes, with: start, &random) }
            let theirs = try? JSONDecoder().decode(JSONTree.self, from: Data(bytes))
            let ours = try? FastJSONDecoder().decode(JSONTree.self, from: Data(bytes))
            if ours == theirs { continue }
            if ours == nil ? isRefusedByUsAlone(bytes, theirs) : isRefusedByThemAlone(bytes) && theirs == nil {
                continue
            }
            Issue.record("seed \(seed): \(String(decoding: bytes, as: UTF8.self)): \(String(describing: ours))")
        }
    }

    @Test("changed documents decode to models or throw")
    func models() {
        var decoder = FastJSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601OrDeferred
        for seed in seededCases(1_000) {
            var writer = DocumentWriter(seed)
            var bytes = Array(writer.everything(depth: 1).utf8)
            var random = SeededGenerator(seed: seed)
            change(&bytes, with: [bytes], &random)
            // An allocation of exactly this size, so that the address sanitizer reports reads past the end.
            let exact = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            defer { exact.deallocate() }
            exact.copyBytes(from: bytes)
            do {
                _ = try decoder.decode(DifferentialTests.Everything.self, from: UnsafeRawBufferPointer(exact))
            } catch {
                #expect(error is DecodingError, "seed \(seed)")
                #expect("\(error)".utf8.count < 10_000, "seed \(seed)")
            }
        }
    }

    @Test("each incomplete document throws")
    func beginnings() {
        for document in MutationTests.documents {
            let bytes = Array(document.utf8)
            for length in 0..<bytes.count {
                #expect(throws: DecodingError.self) {
                    try FastJSONDecoder().decode(AnyJSON.self, from: Data(bytes[..<length]))
                }
            }
        }
    }

    private func change(_ bytes: inout [UInt8], with others: [[UInt8]], _ random: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let place = Int(random.next() % UInt64(bytes.count))
        let signs = Array(#"{}[]:,"\0123456789.eE+-tfnu/ "#.utf8) + [0, 0x0A, 0x1F, 0x7F, 0x80, 0xC2, 0xED, 0xF4, 0xFF]
        switch random.next() % 7 {
        case 0: bytes[place] ^= 1 << UInt8(random.next() % 8)
        case 1: bytes[place] = signs[Int(random.next() % UInt64(signs.count))]
        case 2: bytes.insert(signs[Int(random.next() % UInt64(signs.count))], at: place)
        case 3: bytes.remove(at: place)
        case 4: bytes.removeSubrange(place..<min(place + Int(random.next() % 8), bytes.count))
        case 5: bytes.insert(contentsOf: bytes[place..<min(place + Int(random.next() % 16), bytes.count)], at: place)
        default:
            let other = others[Int(random.next() % UInt64(others.count))]
            let from = Int(random.next() % UInt64(other.count))
            bytes.replaceSubrange(place..., with: other[from...])
        }
    }

    /// Returns whether we rightly reject a text that Foundation accepts.
    ///
    /// The text has a comma before a bracket, is UTF-16, or has a broken value that Foundation never reads.
    private func isRefusedByUsAlone(_ bytes: [UInt8], _ theirs: JSONTree?) -> Bool {
        if bytes.contains(0) { return true }
        let dense = bytes.filter { ![0x20, 0x0A, 0x0D, 0x09].contains($0) }
        if zip(dense, dense.dropFirst()).contains(where: { $0 == UInt8(ascii: ",") && $1 | 0x20 == UInt8(ascii: "}") })
        {
            return true
        }
        guard let theirs, let broken = brokenScalar(in: bytes) else { return false }
        // The broken value belongs to a repeated name. With another value in its position both decoders agree.
        return ["0", "null"].allSatisfy { other in
            let repaired = bytes[..<broken.lowerBound] + Array(other.utf8) + bytes[broken.upperBound...]
            return (try? FastJSONDecoder().decode(JSONTree.self, from: Data(repaired))) == theirs
        }
    }

    /// Returns the range of the string or number that contains the first syntax error, or precedes it.
    private func brokenScalar(in bytes: [UInt8]) -> Range<Int>? {
        guard let place = brokenPlace(in: bytes) else { return nil }
        var quote: Int?
        var index = 0
        while index < place {
            if quote != nil, bytes[index] == UInt8(ascii: "\\") {
                index += 1
            } else if bytes[index] == UInt8(ascii: "\"") {
                quote = quote == nil ? index : nil
            }
            index += 1
        }
        if let quote {
            while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
            }
            return index < bytes.count ? quote..<index + 1 : nil
        }
        let signs = Array("0123456789+-.eE".utf8)
        var (begin, end) = (place, place)
        while begin > 0, signs.contains(bytes[begin - 1]) { begin -= 1 }
        while end < bytes.count, signs.contains(bytes[end]) { end += 1 }
        return begin < end ? begin..<end : nil
    }

    /// Returns the byte offset that our error states.
    private func brokenPlace(in bytes: [UInt8]) -> Int? {
        do {
            _ = try FastJSONDecoder().decode(AnyJSON.self, from: Data(bytes))
        } catch DecodingError.dataCorrupted(let context) {
            let parts = context.debugDescription.components(separatedBy: "(byte ")
            return parts.last.flatMap { Int($0.prefix { $0.isNumber }) }
        } catch {}
        return nil
    }

    /// Returns whether the text has a zero with an exponent, which Foundation on Linux rejects.
    private func isRefusedByThemAlone(_ bytes: [UInt8]) -> Bool {
        zip(bytes, bytes.dropFirst()).contains { $0 == UInt8(ascii: "0") && ($1 | 0x20) == UInt8(ascii: "e") }
    }
}
