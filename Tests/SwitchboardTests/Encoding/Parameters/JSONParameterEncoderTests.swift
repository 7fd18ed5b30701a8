import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

struct JSONParameterEncoderTests {
    private func text(_ parameters: Parameters, _ encoder: JSONParameterEncoder = JSONParameterEncoder()) throws
        -> String
    {
        var draft = NetworkRequest(.post, nil)
        try encoder.encode(parameters, into: &draft)
        return String(decoding: try draft.body.encode(), as: UTF8.self)
    }

    private func parsed(_ text: String) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary)
    }

    @Test("objects, arrays, numbers, Booleans and null parse to an equal object", .requirement("S0.6"))
    func equalObject() throws {
        let parameters: Parameters = [
            "name": "John", "age": 40, "height": 1.5, "member": true, "banned": false, "manager": nil as String?,
            "tags": ["a", "b"], "home": ["city": "Oslo", "lines": [1, 2]] as [String: any Sendable],
            "empty": [] as [Int],
            "nothing": [:] as [String: Int],
        ]
        let expected = try parsed(
            """
            {"name": "John", "age": 40, "height": 1.5, "member": true, "banned": false, "manager": null, "tags": ["a", "b"],
             "home": {"city": "Oslo", "lines": [1, 2]}, "empty": [], "nothing": {}}
            """)
        #expect(try parsed(text(parameters)) == expected)
        #expect(try parsed(text(parameters, JSONParameterEncoder(sortsKeys: true, isPretty: true))) == expected)
    }

    @Test("members keep their order or are sorted; the last repeat wins", .requirement("S0.6"))
    func order() throws {
        let parameters: Parameters = ["b": 1, "a": ["z": 1, "y": 2], "c": true]
        #expect(try text(parameters) == #"{"b":1,"a":{"y":2,"z":1},"c":true}"#)
        #expect(try text(parameters, JSONParameterEncoder(sortsKeys: true)) == #"{"a":{"y":2,"z":1},"b":1,"c":true}"#)
        #expect(try text(["a": 1, "b": 2, "a": 3]) == #"{"b":2,"a":3}"#)
        let inner: Parameters = ["z": 1, "y": 2]
        #expect(try text(["a": inner]) == #"{"a":{"z":1,"y":2}}"#)
    }

    @Test("pretty text has lines and indents", .requirement("S0.6"))
    func pretty() throws {
        // The shape of python3's json.dumps(..., indent=2).
        let expected = "{\n  \"b\": [\n    1,\n    {\n      \"c\": null\n    }\n  ],\n  \"a\": {}\n}"
        let parameters: Parameters = ["b": [1, ["c": nil as Int?]] as [any Sendable], "a": [:] as [String: Int]]
        #expect(try text(parameters, JSONParameterEncoder(isPretty: true)) == expected)
    }

    @Test("Content-Type is application/json unless the request has one", .requirement("S0.6", "S3.5"))
    func contentType() throws {
        var request = URLRequest(url: URL(text: "https://h/"))
        request.httpMethod = "POST"
        try JSONParameterEncoder().encode(urlRequest: &request, with: ["a": 1])
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
        request.setValue("application/vnd.api+json", forHTTPHeaderField: "content-type")
        try JSONParameterEncoder().encode(urlRequest: &request, with: ["a": 2])
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/vnd.api+json")
        #expect(request.httpBody == Data(#"{"a":2}"#.utf8))
    }

    @Test("an unencodable value fails with the published text and is named", .requirement("S3.5"))
    func unencodable() {
        struct Opaque: Sendable {}
        struct Fails: Encodable, Sendable {
            func encode(to encoder: any Encoder) throws { throw CocoaError(.fileNoSuchFile) }
        }
        let values: [any Sendable] = [
            Opaque(), Double.nan, -Double.infinity, Float.nan, Decimal.nan, [Opaque()], ["k": Opaque()], Fails(),
        ]
        for value in values {
            let error = #expect(throws: NetworkError.self) { try text(["good": 1, "culprit": value]) }
            #expect(error?.code == .encodingFailed)
            #expect(error?.message == "Parameter encoding failed.")
            #expect(error?.errorDescription?.hasPrefix("Parameter encoding failed.") == true)
            #expect(error?.reason?.contains("culprit") == true)
        }
    }

    @Test("nil parameters or a nil URL throw and leave the request unchanged", .requirement("S3.5"))
    func nilParametersAndURL() {
        for encoder in [JSONParameterEncoder(), FormParameterEncoder(), URLParameterEncoder()] as [any ParameterEncoder]
        {
            var request = URLRequest(url: URL(text: "https://h/"))
            let none = #expect(throws: NetworkError.self) { try encoder.encode(urlRequest: &request, with: nil) }
            #expect(none?.code == .parametersNil)
            #expect(none?.localizedDescription == "Parameters were nil.")
            request.url = nil
            let before = request
            let missing = #expect(throws: NetworkError.self) {
                try encoder.encode(urlRequest: &request, with: ["a": 1])
            }
            #expect(missing?.code == .missingURL)
            #expect(missing?.localizedDescription == "URL is nil.")
            #expect(request == before)
        }
    }
}
