import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

struct ParametersTests {
    @Test("parameters can be added, replaced, read, listed and counted in order", .requirement("S0.2"))
    func addOverwriteReadListCount() {
        var parameters: Parameters = ["b": 1, "a": "x"]
        parameters.add("b", 2)
        #expect(parameters.count == 3)
        #expect(parameters.map(\.name) == ["b", "a", "b"])
        #expect(parameters["b"] == 1)
        #expect(parameters["missing"] == nil)
        parameters["b"] = 9
        #expect(parameters.map(\.name) == ["b", "a"])
        #expect(parameters["b"] == 9)
        parameters["c"] = true
        #expect(parameters.map(\.name) == ["b", "a", "c"])
        parameters["b"] = nil
        #expect(parameters.map(\.name) == ["a", "c"])
        #expect(Parameters().isEmpty)
    }

    @Test("names of parameters keep their case: a and A are two", .requirement("S0.2"))
    func namesHaveCase() {
        let parameters: Parameters = ["a": 1, "A": 2]
        #expect(parameters["a"] == 1 && parameters["A"] == 2)
    }

    @Test("a dictionary is sorted by name, pairs keep their order")
    func otherSources() {
        #expect(Parameters(["c": 1, "a": 2, "b": 3]).map(\.name) == ["a", "b", "c"])
        let pairs: [Parameters.Element] = [("z", 1), ("z", 2)]
        #expect(Parameters(pairs).map(\.value) == [1, 2])
    }

    @Test("the text of parameters shows no secret, at any depth and in any case")
    func description() {
        let parameters: Parameters = [
            "page": 1, "API_Key": "s3cret", "user[password]": "s3cret", "login": ["name": "ann", "password": "s3cret"],
            "tags": ["a", "b"], "none": nil as String?, "next": "https://h/?access_token=s3cret&page=2",
            "data": "password=s3cret",
        ]
        let text = parameters.description
        #expect(!text.contains("s3cret") && !text.contains("Optional("))
        for shown in ["page: 1", "API_Key: <redacted>", "ann", "tags"] { #expect(text.contains(shown)) }
    }
}
