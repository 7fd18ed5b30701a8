import Foundation
import SwitchboardJSON
import Testing

struct JSONElementReaderTests {
    private func read<Element: Decodable>(
        _ type: Element.Type, _ chunks: [[UInt8]], at path: [String] = [], decoder: FastJSONDecoder = FastJSONDecoder()
    ) throws -> [Element] {
        var reader = JSONElementReader(type, decoder: decoder, at: path)
        var elements: [Element] = []
        for chunk in chunks { try chunk.withUnsafeBytes { try reader.read($0) { elements.append($0) } } }
        try reader.finish()
        return elements
    }

    /// Returns the text in one chunk, in single bytes, and split in two at each offset.
    private func splits(_ text: String) -> [[[UInt8]]] {
        let bytes = Array(text.utf8)
        return [[bytes], bytes.map { [$0] }] + bytes.indices.map { [Array(bytes[..<$0]), Array(bytes[$0...])] }
    }

    @Test(
        "elements equal those of the whole array for any split into chunks",
        arguments: [
            "[]", " [ ] ", "[1]", "[1,2.5,-3e2]", "[ true , false ,null ]", #"["a","\"]\\",",","é😀"]"#,
            #"[{"a":[1,{"b":"}]"}]},[[],[[2]]],{}]"#, "\u{FEFF}[1,\n[2],\r\n\t\"x\"\n]\n",
        ])
    func whole(text: String) throws {
        let expected = try JSONDecoder().decode([JSONTree].self, from: Data(text.utf8))
        for chunks in splits(text) { #expect(try read(JSONTree.self, chunks) == expected) }
    }

    @Test(
        "the array at a path is found among other members",
        arguments: [
            #"{"page":{"results":[1,2,3]}}"#,
            #"{"x":{"page":{"results":[9]}},"page":{"results":[1,2,3],"y":[4]},"z":[]}"#,
            #"{"results":[9],"y":"page","page":{"a":["results",{"results":[9]}],"results" : [ 1 ,2,3]}}"#,
            #"{ "p\u0061ge" : {"\"":1,"x":",","res\u0075lts":[1,2,3]} ,"page":{"results":[7]}}"#,
        ])
    func path(text: String) throws {
        for chunks in splits(text) { #expect(try read(Int.self, chunks, at: ["page", "results"]) == [1, 2, 3]) }
    }

    @Test(
        "an invalid text throws",
        arguments: [
            "", "[", "[1", "[1,", "[1,]", "[,1]", "[1,,2]", "[1 2]", "[1]]", "[1]x", "x[1]", "[01]", "[1}", "[\"a]",
            "{}", "1",
            "[[1}]", "[{]", "[\"\\ud800\"]", "\u{FEFF}\u{FEFF}[1]",
        ])
    func notValid(text: String) {
        for chunks in splits(text) where !text.isEmpty || chunks.count == 1 {
            #expect(throws: DecodingError.self) { try read(JSONTree.self, chunks) }
        }
    }

    @Test(
        "a path without an array throws, and so does invalid text around one",
        arguments: [
            "{}", #"{"page":{}}"#, #"{"page":1}"#, #"{"page":{},"x":{"results":[1]}}"#, #"{"page":{"results":{}}}"#,
            #"{"page":{},"results":[1]}"#, "[1]",
            #"{"page":{"results":[1]}"#, #"{"page":{"results":[1]},}"#, #"{"a" 1,"page":{"results":[1]}}"#,
        ])
    func noArray(text: String) {
        #expect(throws: DecodingError.self) { try read(Int.self, [Array(text.utf8)], at: ["page", "results"]) }
    }

    @Test("a name of other code points is not on the path")
    func otherCodePoints() throws {
        let text = Array("{\"cafe\u{301}\":[1],\"caf\u{E9}\":[2]}".utf8)
        #expect(try read(Int.self, [text], at: ["caf\u{E9}"]) == [2])
        #expect(try read(Int.self, [text], at: ["cafe\u{301}"]) == [1])
    }

    @Test("an error has the position and the path in the whole text")
    func errorPlace() {
        let text = "{\"page\":\n {\"results\":[{\"a\":1},\n {\"a\":1,\n\"b\":\"x\"}]}}"
        let error = #expect(throws: DecodingError.self) {
            try read([String: Int].self, [Array(text.utf8)], at: ["page", "results"])
        }
        guard case .typeMismatch(_, let context) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let path: [any CodingKey] = context.codingPath
        #expect(path.map(\.stringValue) == ["page", "results", "Index 1", "b"])
        #expect(context.debugDescription.hasSuffix("at line 4, column 5 (byte 44)."))
    }

    @Test("the depth limit includes the levels around the array")
    func depth() throws {
        var decoder = FastJSONDecoder()
        decoder.maximumDepth = 4
        let start = "{\"a\":[[[1]]"
        #expect(try read([[Int]].self, [Array((start + "]}").utf8)], at: ["a"], decoder: decoder) == [[[1]]])
        decoder.maximumDepth = .min
        #expect(throws: DecodingError.self) {
            try read([Int].self, [Array("{\"a\":[[1]]}".utf8)], at: ["a"], decoder: decoder)
        }
        decoder.maximumDepth = 4
        let deeper = Array("{\"a\":[[[[1]]]]}".utf8)
        #expect(throws: DecodingError.self) { try read(JSONTree.self, [deeper], at: ["a"], decoder: decoder) }
    }
}
