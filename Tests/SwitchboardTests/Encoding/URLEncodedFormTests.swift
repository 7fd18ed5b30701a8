import Foundation
import Switchboard
import Testing

/// One case of web-platform-tests' urlencoded-parser; see Vectors/README.md.
struct FormVector: Decodable, Sendable, CustomTestStringConvertible {
    let input: String
    let output: [[String]]

    var testDescription: String { input.debugDescription }

    static let all: [FormVector] = {
        guard
            let url = Bundle.module.url(
                forResource: "urlencoded-parser-data", withExtension: "json", subdirectory: "Vectors"),
            let vectors = try? JSONDecoder().decode([FormVector].self, from: Data(contentsOf: url))
        else { return [] }
        return vectors
    }()
}

struct URLEncodedFormTests {
    @Test("S2.5 there are 35 vectors of web-platform-tests")
    func vectorsAreThere() {
        #expect(FormVector.all.count == 35)
    }

    @Test("S2.5 each vector is parsed into its pairs", arguments: FormVector.all)
    func parsing(vector: FormVector) {
        #expect(URLEncodedForm.decode(vector.input).map { [$0.name, $0.value ?? ""] } == vector.output)
        #expect(URLEncodedForm.decode(Data(vector.input.utf8)).map { [$0.name, $0.value ?? ""] } == vector.output)
    }

    @Test("S2.5 decode(encode(x)) == x for the pairs of each vector", arguments: FormVector.all)
    func roundTrip(vector: FormVector) throws {
        let items = vector.output.map { URLQueryItem(name: $0[0], value: $0[1]) }
        for space in [URLEncodedFormEncoder.SpaceEncoding.percentEscaped, .plusReplaced] {
            let encoder = URLEncodedFormEncoder(spaceEncoding: space)
            #expect(URLEncodedForm.decode(encoder.encode(items)) == items)
            #expect(URLEncodedForm.decode(try FormBody(items, encoder: encoder).encode()) == items)
        }
    }

    @Test("S2.5 decode(encode(x)) == x for 20,000 random lists, nil and empty values told apart")
    func randomRoundTrips() {
        var random = SeededGenerator(seed: 25)
        var lost: [[URLQueryItem]] = []
        for _ in 0..<20_000 {
            // A pair without name and value has no text of its own: every parser skips it.
            let items = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                let name = random.text(upTo: 6)
                return URLQueryItem(name: name, value: random.oneIn(4) && !name.isEmpty ? nil : random.text(upTo: 8))
            }
            let encoder = URLEncodedFormEncoder(spaceEncoding: random.oneIn(2) ? .percentEscaped : .plusReplaced)
            if URLEncodedForm.decode(encoder.encode(items)) != items { lost.append(items) }
        }
        #expect(lost.isEmpty)
    }

    // Expected: python3, urllib.parse.parse_qsl(text, keep_blank_values=True).
    @Test("the parser agrees with Python's")
    func pythonAgrees() {
        let items = URLEncodedForm.decode("a=&b&c=+&d=%zz&e=a=b&&%C3%A9=%f0%9f%8c%8e")
        #expect(items.map(\.name) == ["a", "b", "c", "d", "e", "é"])
        #expect(items.map { $0.value ?? "" } == ["", "", " ", "%zz", "a=b", "🌎"])
        #expect(items.map { $0.value == nil } == [false, true, false, false, false, false])
    }

    @Test(
        "a percent sign at the very end, or with one digit, stays as it is",
        arguments: ["%", "a%", "a%4", "%%41", "%4%41"])
    func danglingPercent(text: String) {
        // URL standard, percent-decode: only % and two hexadecimal digits are an escape.
        let expected = ["%": "%", "a%": "a%", "a%4": "a%4", "%%41": "%A", "%4%41": "%4A"][text]
        #expect(URLEncodedForm.decode(text).first?.name == expected)
        #expect(URLEncodedForm.decode("x=" + text).first?.value == expected)
    }
}
