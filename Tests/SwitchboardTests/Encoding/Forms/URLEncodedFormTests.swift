import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// A text and the pairs that the `application/x-www-form-urlencoded` parser reads from it (URL standard §5.1).
struct FormVector: Decodable, Sendable, CustomTestStringConvertible {
    let input: String
    let output: [[String]]

    var testDescription: String { input.debugDescription }

    /// Cases written from the standard's text.
    static let standard: [FormVector] = [
        // Step 1 splits at each "&", and step 3 skips empty sequences.
        FormVector(input: "", output: []),
        FormVector(input: "&&", output: []),
        FormVector(input: "&a=b&&c=d&", output: [["a", "b"], ["c", "d"]]),
        FormVector(input: "b=2&a=1&b=1", output: [["b", "2"], ["a", "1"], ["b", "1"]]),
        FormVector(input: "a=1;b=2", output: [["a", "1;b=2"]]),
        // The first "=" ends the name; without one the value is empty.
        FormVector(input: "a", output: [["a", ""]]),
        FormVector(input: "a=", output: [["a", ""]]),
        FormVector(input: "=", output: [["", ""]]),
        FormVector(input: "=b", output: [["", "b"]]),
        FormVector(input: "a==b=", output: [["a", "=b="]]),
        // A plus is a space, unless it is escaped.
        FormVector(input: "+a+=+b+c", output: [[" a ", " b c"]]),
        FormVector(input: "a%2Bb=%2b%20", output: [["a+b", "+ "]]),
        // Escaped delimiters split nothing.
        FormVector(input: "a%26b=c%3Dd%26e", output: [["a&b", "c=d&e"]]),
        // Percent-decoding keeps invalid escapes.
        FormVector(input: "a=%&b=%4&%zz=%1g", output: [["a", "%"], ["b", "%4"], ["%zz", "%1g"]]),
        FormVector(input: "%2541=%%41", output: [["%41", "%A"]]),
        // UTF-8 decode without BOM: invalid bytes become U+FFFD, and a byte-order mark stays.
        FormVector(input: "%C3%A9=%E2%82%ac", output: [["é", "€"]]),
        FormVector(input: "é=€🌎", output: [["é", "€🌎"]]),
        FormVector(input: "a=%FF&b=x%C3", output: [["a", "\u{FFFD}"], ["b", "x\u{FFFD}"]]),
        FormVector(input: "%EF%BB%BFa=%EF%BB%BF", output: [["\u{FEFF}a", "\u{FEFF}"]]),
        FormVector(input: "a=%00%0d%0A", output: [["a", "\0\r\n"]]),
    ]

    /// The cases of web-platform-tests. Empty when the file is missing.
    static let webPlatformTests =
        (try? JSONDecoder().decode([FormVector].self, from: Vectors.data("urlencoded-parser-data.json"))) ?? []

    static let all = standard + webPlatformTests
}

struct URLEncodedFormTests {
    @Test("all 35 web-platform-tests vectors are read", .requirement("S2.5"), .vectors("urlencoded-parser-data.json"))
    func vectorsAreThere() {
        #expect(FormVector.webPlatformTests.count == 35)
    }

    @Test("each vector is parsed into its pairs", .requirement("S2.5"), arguments: FormVector.all)
    func parsing(vector: FormVector) {
        #expect(FormBody.decode(vector.input).map { [$0.name, $0.value ?? ""] } == vector.output)
        #expect(FormBody.decode(Data(vector.input.utf8)).map { [$0.name, $0.value ?? ""] } == vector.output)
    }

    @Test("decode(encode(x)) == x for the pairs of each vector", .requirement("S2.5"), arguments: FormVector.all)
    func roundTrip(vector: FormVector) throws {
        let items = vector.output.map { URLQueryItem(name: $0[0], value: $0[1]) }
        for space in [URLEncodedFormEncoder.SpaceEncoding.percentEscaped, .plusReplaced] {
            let encoder = URLEncodedFormEncoder(spaceEncoding: space)
            #expect(FormBody.decode(encoder.encode(items)) == items)
            #expect(FormBody.decode(try FormBody(items, encoder: encoder).encode()) == items)
        }
    }

    @Test("20,000 random lists round-trip, with nil and empty values distinct", .requirement("S2.5"))
    func randomRoundTrips() {
        var random = SeededGenerator(seed: 25)
        var lost: [[URLQueryItem]] = []
        for _ in 0..<20_000 {
            // A pair without name and value has no text, so every parser skips it.
            let items = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                let name = random.text(upTo: 6)
                return URLQueryItem(name: name, value: random.oneIn(4) && !name.isEmpty ? nil : random.text(upTo: 8))
            }
            let encoder = URLEncodedFormEncoder(spaceEncoding: random.oneIn(2) ? .percentEscaped : .plusReplaced)
            if FormBody.decode(encoder.encode(items)) != items { lost.append(items) }
        }
        #expect(lost.isEmpty)
    }

    // Expected: python3, urllib.parse.parse_qsl(text, keep_blank_values=True).
    @Test("the parser agrees with Python's")
    func pythonAgrees() {
        let items = FormBody.decode("a=&b&c=+&d=%zz&e=a=b&&%C3%A9=%f0%9f%8c%8e")
        #expect(items.map(\.name) == ["a", "b", "c", "d", "e", "é"])
        #expect(items.map { $0.value ?? "" } == ["", "", " ", "%zz", "a=b", "🌎"])
        #expect(items.map { $0.value == nil } == [false, true, false, false, false, false])
    }

    @Test(
        "a percent sign at the end or with one digit stays unchanged",
        arguments: ["%", "a%", "a%4", "%%41", "%4%41"])
    func danglingPercent(text: String) {
        // URL standard, percent-decode: only % and two hexadecimal digits are an escape.
        let expected = ["%": "%", "a%": "a%", "a%4": "a%4", "%%41": "%A", "%4%41": "%4A"][text]
        #expect(FormBody.decode(text).first?.name == expected)
        #expect(FormBody.decode("x=" + text).first?.value == expected)
    }
}
