import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

struct HTTPHeadersTests {
    @Test("a CR, LF or NUL in a value of URLSession is a blank")
    func lineEnds() throws {
        let fields = ["X-Name": "a\rb\nc\u{0}d\r", "Set-Cookie": "a=b"]
        let response = try #require(
            HTTPURLResponse(url: URL(text: "http://h.test/"), statusCode: 200, httpVersion: nil, headerFields: fields))
        #expect(HTTPHeaders(response) == ["Set-Cookie": "a=b", "X-Name": "a b c d"])
    }

    @Test("headers ignore case and keep repeats and order", .requirement("S0.2"))
    func namesWithoutCaseManyValuesInOrder() {
        var headers: HTTPHeaders = ["X-Tag": "a", "Accept": "text/plain", "x-tag": "b"]
        headers.add("X-TAG", "c")
        #expect(headers.map(\.name) == ["X-Tag", "Accept", "x-tag", "X-TAG"])
        #expect(headers.values(for: "x-Tag") == ["a", "b", "c"])
        #expect(headers["X-tag"] == "a, b, c")
        #expect(headers["ACCEPT"] == "text/plain")
        #expect(headers.contains("accept") && !headers.contains("Accept-Language"))
        #expect(headers["Missing"] == nil && headers.values(for: "Missing").isEmpty)
    }

    @Test("setting a header replaces all its fields in place; nil removes them", .requirement("S0.2"))
    func writingReplaces() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3", "C": "4"]
        headers["a"] = "9"
        #expect(headers.map(\.description) == ["a: 9", "B: 2", "C: 4"])
        headers["b"] = nil
        #expect(headers == ["a": "9", "C": "4"])
        headers.set("D", "5")
        #expect(headers.count == 3 && headers.last == HTTPHeader(name: "d", value: "5"))
    }

    @Test("Set-Cookie is never joined: reading returns the first (RFC 9110 §5.3)")
    func setCookieIsNotJoined() {
        let headers: HTTPHeaders = ["Set-Cookie": "a=1; Expires=Wed, 09 Jun 2021 10:18:14 GMT", "set-cookie": "b=2"]
        #expect(headers["SET-COOKIE"] == "a=1; Expires=Wed, 09 Jun 2021 10:18:14 GMT")
        #expect(headers.values(for: "Set-Cookie").last == "b=2")
    }

    @Test("merging replaces fields by name and keeps repeats")
    func merging() {
        let base: HTTPHeaders = ["Accept": "a", "X-Tag": "1", "X-Tag": "2", "Keep": "k"]
        let merged = base.merging(["x-tag": "3", "X-Tag": "4", "New": "n"])
        #expect(merged.values(for: "X-Tag") == ["3", "4"])
        #expect(merged["Accept"] == "a" && merged["Keep"] == "k" && merged["New"] == "n" && merged.count == 5)
        #expect(base.merging(nil) == base && base.merging([:]) == base)
        #expect(HTTPHeaders().merging(base) == base)
    }

    @Test("merging 200,000 fields is fast and matches merging by name", .timeLimit(.minutes(10)))
    func mergingMany() {
        var random = SeededGenerator(seed: 3)
        func fields(_ count: Int, of names: Int) -> HTTPHeaders {
            HTTPHeaders(
                (0..<count).map {
                    let name = "N\(Int.random(in: 0..<names, using: &random))"
                    return HTTPHeader(name: Bool.random(using: &random) ? name : name.lowercased(), value: "\($0)")
                })
        }
        for count in [1, 8, 9, 40] {
            let (one, two) = (fields(count, of: 12), fields(count, of: 12))
            var expected = one
            for field in two { expected.remove(field.name) }
            for field in two { expected.append(field) }
            #expect(one.merging(two) == expected)
        }
        // Comparing every pair would take ten billion comparisons.
        let (one, two) = (fields(100_000, of: 1_000_000), fields(100_000, of: 1_000_000))
        #expect(one.merging(two).count > 100_000)
    }

    @Test("equality ignores name case, respects values and order; hashes agree")
    func equality() {
        let one: HTTPHeaders = ["ETag": "x", "A": "1"]
        #expect(one == ["etag": "x", "a": "1"])
        #expect(one != ["ETag": "X", "A": "1"])
        #expect(one != ["A": "1", "ETag": "x"])
        // Another encoding of the same character is another value.
        #expect(["A": "\u{e9}"] as HTTPHeaders != ["A": "e\u{301}"])
        #expect(one.hashValue == (["eTAG": "x", "a": "1"] as HTTPHeaders).hashValue)
    }

    @Test(
        "spaces and tabs around a value are trimmed (RFC 9110 §5.5)",
        arguments: [
            (" a ", "a"), ("\ta b\t", "a b"), ("", ""), ("  ", ""), ("é", "é"), ("a", "a"),
        ])
    func valuesAreTrimmed(given: String, value: String) {
        #expect(HTTPHeader(name: "X", value: given).value == value)
    }

    @Test("headers from a dictionary are sorted by name")
    func fromDictionary() {
        #expect(HTTPHeaders(["b": "2", "a": "1", "c": "3"]).map(\.name) == ["a", "b", "c"])
    }

    @Test("the named fields have their standard names")
    func namedFields() {
        let headers = HTTPHeaders([
            .accept("a/b"), .contentType("c/d"), .userAgent("u"), .authorization(bearerToken: "t"),
        ])
        #expect(headers == ["Accept": "a/b", "Content-Type": "c/d", "User-Agent": "u", "Authorization": "Bearer t"])
    }

    @Test("the fault of a field with a long name is short")
    func longName() {
        let name = String(repeating: "x", count: 100_000)
        for field in [HTTPHeader(name: name, value: "a\nb"), HTTPHeader(name: name + ":", value: "a")] {
            #expect(field.fault.map { $0.count < 200 } == true)
        }
    }

    @Test("the text of headers shows no secret")
    func description() {
        let headers: HTTPHeaders = ["Accept": "a", "authorization": "Bearer s3cret", "COOKIE": "sid=s3cret"]
        #expect(headers.description == "Accept: a\nauthorization: <redacted>\nCOOKIE: <redacted>")
    }
}

/// A header's name or value can never start another header line.
struct HeaderInjectionTests {
    static let controls = ["a\r\nX-Evil: 1", "a\rb", "a\nb", "a\0b", "a\u{1}b", "a\u{7F}b", "a\u{B}b", "\r\n", "a\r\n"]

    @Test("a control character in a value is refused, with the header's name", arguments: controls)
    func values(value: String) {
        for endPoint in [
            EndPointFixture(headers: ["Accept": "a", "X-Custom": value]),
            EndPointFixture(task: .requestParametersAndHeaders(additionHeaders: ["X-Custom": value])),
        ] {
            let error = #expect(throws: NetworkError.self) { try RequestBuilder().makeRequest(for: endPoint) }
            #expect(error?.code == .invalidRequest)
            #expect(error?.reason?.contains("X-Custom") == true)
            #expect(error?.reason?.contains("Evil") == false)
        }
        let error = #expect(throws: NetworkError.self) {
            try NetworkRequest(.get, URL(text: "https://h.example"), headers: ["X-Custom": value]).validate()
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test(
        "a name that is not a token is refused with a one-line reason",
        arguments: [
            "", "X Custom", "X-Custom:", "X-Custom\r\nX-Evil", "X\0", "X-é", "X(1)", "X-Custom\n",
        ])
    func names(name: String) {
        let error = #expect(throws: NetworkError.self) {
            try RequestBuilder().makeRequest(for: EndPointFixture(headers: [name: "1"]))
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason?.contains("header name") == true)
        #expect(error?.reason?.contains(where: \.isNewline) == false)
    }

    @Test("a bad header of the builder or of a body is refused too")
    func everySource() {
        let evil: HTTPHeaders = ["X-Custom": "a\r\nb"]
        var builder = RequestBuilder()
        builder.headers.merge(evil)
        let body = DataBody(Data("x".utf8), additionalHeaders: evil)
        let errors = [
            #expect(throws: NetworkError.self) { try builder.makeRequest(for: EndPointFixture()) },
            #expect(throws: NetworkError.self) {
                try RequestBuilder().makeRequest(for: EndPointFixture(httpMethod: .post, task: .requestBody(body)))
            },
            #expect(throws: NetworkError.self) {
                try NetworkRequest(.post, URL(text: "https://h.example"), body: body).validate()
            },
        ]
        #expect(errors.map { $0?.code } == [.invalidRequest, .invalidRequest, .invalidRequest])
    }

    @Test("validation ignores replaced and removed fields and finds later ones")
    func validationFollowsTheFields() throws {
        var headers: HTTPHeaders = ["X": "a\nb", "Y": "1"]
        headers["X"] = "good"
        try headers.validate()
        headers.add("Y", "tab\tis fine, ünïcode too")
        try headers.validate()
        headers.merge(["Z": "bad\r"])
        let error = #expect(throws: NetworkError.self) { try headers.validate() }
        #expect(error?.reason?.contains("Z") == true)
        headers.remove("z")
        try headers.validate()
    }

    @Test("the values of a repeated Cookie are joined as one Cookie field (RFC 6265 §4.2.1)")
    func repeatedCookie() {
        var headers: HTTPHeaders = ["cookie": "a=1"]
        headers.add("Cookie", "b=2")
        #expect(headers["Cookie"] == "a=1; b=2")
    }

    @Test("a comma before a combining mark separates list members")
    func combiningMark() {
        let headers: HTTPHeaders = ["Vary": "Accept,\u{301}X"]
        #expect(headers.listMembers(of: "Vary") == ["Accept", "\u{301}X"])
    }
}
