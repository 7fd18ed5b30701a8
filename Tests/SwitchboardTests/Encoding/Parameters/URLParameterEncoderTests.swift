import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

struct URLParameterEncoderTests {
    private func url(_ base: URL, _ parameters: Parameters, _ encoder: URLParameterEncoder = URLParameterEncoder())
        throws -> String?
    {
        var draft = NetworkRequest(.get, base)
        try encoder.encode(parameters, into: &draft)
        return draft.url?.absoluteString
    }

    // Expected: python3, urllib.parse.quote(value, safe="").
    @Test(
        "query values are percent-encoded exactly once", .requirement("S0.3"),
        arguments: [
            ("hello world", "hello%20world"), ("a+b", "a%2Bb"), ("a&b", "a%26b"), ("a=b", "a%3Db"), ("#", "%23"),
            ("50%", "50%25"),
            ("%20", "%2520"), ("/?", "%2F%3F"), ("malcolm@network.com", "malcolm%40network.com"), ("é", "%C3%A9"),
            ("🌎", "%F0%9F%8C%8E"), ("日本", "%E6%97%A5%E6%9C%AC"), ("line\r\nbreak", "line%0D%0Abreak"),
            ("'\"<>[]{}|\\^`", "%27%22%3C%3E%5B%5D%7B%7D%7C%5C%5E%60"), ("-._~", "-._~"), ("\0", "%00"),
            (":@!$'()*,;", "%3A%40%21%24%27%28%29%2A%2C%3B"), ("", ""),
        ])
    func encodedOnce(value: String, encoded: String) throws {
        let base = URL(text: "https://h.example/get")
        #expect(try url(base, ["phrase": value]) == "https://h.example/get?phrase=" + encoded)
        #expect(try url(base, [value: "x"]) == "https://h.example/get?\(encoded)=x")
        let endPoint = EndPointFixture(path: "get", task: .requestParameters(urlParameters: ["phrase": value]))
        let built = try RequestBuilder().makeRequest(for: endPoint)
        #expect(built.url?.absoluteString == "https://api.example.com/v1/get?phrase=" + encoded)
    }

    @Test("Foundation's URLComponents reads the encoded values back unchanged", .requirement("S0.3"))
    func readBackByAnother() throws {
        let values = ["hello world", "+ & = # % / ?", "ünï 🌎 日本", "%2F%zz", "a;b,c", "Optional(1)"]
        let parameters = Parameters(values.map { (name: "q " + $0, value: $0) })
        let text = try #require(try url(URL(text: "https://h.example/get"), parameters))
        let items = try #require(URLComponents(string: text)?.queryItems)
        #expect(items.map(\.value) == values)
        #expect(items.map(\.name) == values.map { "q " + $0 })
    }

    @Test(
        "an existing query stays first, unchanged; new items keep their order",
        .requirement("S0.4"),
        arguments: [
            ("https://h/p?x=1", "https://h/p?x=1&b=2&a=1&b=3"), ("https://h/p?", "https://h/p?b=2&a=1&b=3"),
            ("https://h/p?x=%7e+y&z", "https://h/p?x=%7e+y&z&b=2&a=1&b=3"),
            ("https://h/p?x=1&", "https://h/p?x=1&b=2&a=1&b=3"),
            ("https://h/p?a=what?", "https://h/p?a=what?&b=2&a=1&b=3"), ("https://h/p??", "https://h/p??&b=2&a=1&b=3"),
            ("https://h/p?b=0", "https://h/p?b=0&b=2&a=1&b=3"), ("https://h", "https://h?b=2&a=1&b=3"),
            ("https://h/p?x=1#part", "https://h/p?x=1&b=2&a=1&b=3#part"),
            ("https://h/p#part?no", "https://h/p?b=2&a=1&b=3#part?no"),
        ])
    func existingQuery(base: String, expected: String) throws {
        #expect(try url(#require(URL(string: base)), ["b": 2, "a": 1, "b": 3]) == expected)
    }

    @Test("the order is the same in every run and for every copy", .requirement("S0.4"))
    func deterministic() throws {
        let names = (0..<100).map { "n\(($0 * 37) % 100)" }
        let parameters = Parameters(names.map { (name: $0, value: 1) })
        let expected = "https://h/?" + names.map { $0 + "=1" }.joined(separator: "&")
        for _ in 0..<20 { #expect(try url(URL(text: "https://h/"), parameters) == expected) }
        let dictionary = Dictionary(uniqueKeysWithValues: names.map { ($0, 1) })
        let sorted = "https://h/?" + names.sorted().map { $0 + "=1" }.joined(separator: "&")
        #expect(try url(URL(text: "https://h/"), Parameters(dictionary)) == sorted)
    }

    @Test(
        "without parameters the URL is byte-identical", .requirement("S0.5"),
        arguments: [
            "https://h", "https://h/", "HTTPS://H.Example:443/a/../b//c/", "http://h/p?", "http://h/p?a=%7e&&b=+&c",
            "http://h/p#f",
            "http://u:p@h:8080/%e2%82%ac;v=1/?q=a/b?c", "http://[::1]:80/x", "http://h/p??a=?#?",
        ])
    func noParameters(text: String) throws {
        let given = try #require(URL(string: text))
        let empties: [Parameters] = [[:], ["dropped": nil as Int?], ["list": [] as [Int]]]
        for parameters in empties {
            #expect(try url(given, parameters) == text)
            let task = HTTPTask.requestParameters(urlParameters: parameters)
            #expect(
                try RequestBuilder().makeRequest(for: URLEndPoint(.get, given, task: task)).url?.absoluteString == text)
        }
        #expect(try RequestBuilder().makeRequest(for: URLEndPoint(.get, given)).url == given)
    }

    @Test("the article's parameters are encoded once, after an existing query", .requirement("S3.4"))
    func articleParameters() throws {
        let parameters: Parameters = ["UserID": 1, "Name": "Malcolm", "Email": "malcolm@network.com", "IsCool": true]
        let query = "UserID=1&Name=Malcolm&Email=malcolm%40network.com&IsCool=true"
        #expect(try url(URL(text: "https://www.google.com/"), parameters) == "https://www.google.com/?" + query)
        #expect(
            try url(URL(text: "https://www.google.com/?q=%40"), parameters) == "https://www.google.com/?q=%40&" + query)
        var request = URLRequest(url: URL(text: "https://www.google.com/"))
        try URLParameterEncoder().encode(urlRequest: &request, with: parameters)
        #expect(request.url?.absoluteString == "https://www.google.com/?" + query)
    }

    @Test("a draft without a URL is refused, and so is a URL that is not http")
    func noURL() {
        var draft = NetworkRequest(.get, nil)
        let missing = #expect(throws: NetworkError.self) { try URLParameterEncoder().encode(["a": 1], into: &draft) }
        #expect(missing?.code == .missingURL)
        var file = NetworkRequest(.get, URL(fileURLWithPath: "/etc/passwd"))
        let refused = #expect(throws: NetworkError.self) { try URLParameterEncoder().encode(["a": 1], into: &file) }
        #expect(refused?.code == .invalidRequest)
    }

    @Test("a query can write a space as +", .requirement("S0.3"))
    func plus() throws {
        let encoder = URLParameterEncoder(URLEncodedFormEncoder(spaceEncoding: .plusReplaced))
        #expect(try url(URL(text: "https://h/"), ["a b": "c d+e"], encoder) == "https://h/?a+b=c+d%2Be")
    }
}
