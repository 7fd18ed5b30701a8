import Foundation
import Switchboard
import SwitchboardTesting
import Testing

struct MockResponseTests {
    @Test("each factory sets the Content-Type of its body")
    func contentTypes() throws {
        let responses: [MockResponse] = [
            .json("{}"), .json(Data("{}".utf8)), .text("t"), .data(Data([0])), .status(200), try .encoding(["a": 1]),
        ]
        #expect(
            responses.map { $0.headers["Content-Type"] } == [
                "application/json", "application/json", "text/plain; charset=utf-8", "application/octet-stream", nil,
                "application/json",
            ])
        #expect(responses.map { String(decoding: $0.body, as: UTF8.self) } == ["{}", "{}", "t", "\0", "", #"{"a":1}"#])
        #expect(responses.allSatisfy { $0.statusCode == 200 })
    }

    @Test("a given Content-Type replaces the default one")
    func ownContentType() {
        let response = MockResponse.json(
            "{}", statusCode: 422, headers: ["X": "1", "content-type": "application/problem+json"])
        #expect(response.statusCode == 422)
        #expect(response.headers == ["X": "1", "Content-Type": "application/problem+json"])
    }

    @Test("a status with a text body adds no header field")
    func statusWithText() {
        let response = MockResponse.status(422, headers: ["X": "1"], body: "né")
        #expect(response.statusCode == 422 && response.headers == ["X": "1"] && response.body == Data("né".utf8))
        #expect(MockResponse.status(422, body: Data([1])).body == Data([1]) && MockResponse.status(422).body.isEmpty)
    }

    @Test("a value that cannot be encoded is an error")
    func encodingError() {
        let error = #expect(throws: NetworkError.self) { try MockResponse.encoding(Double.infinity) }
        #expect(error?.code == .encodingFailed)
        #expect(error?.underlying is EncodingError)
    }

    @Test("the description has the fault and no content")
    func description() {
        let response = MockResponse.text("s3cret", statusCode: 201, headers: ["Set-Cookie": "s3cret"])
        #expect(response.description == "201, 6 bytes")
        #expect(response.truncated(after: 2).chunked(1).description == "201, 6 bytes, chunked, truncated after 2 bytes")
        #expect(MockResponse.stall.delayed(by: .seconds(1)).description == "stall, delayed by 1.0 seconds")
        #expect(MockResponse.failure(.cannotFindHost).description == "failure cannotFindHost")
    }
}
