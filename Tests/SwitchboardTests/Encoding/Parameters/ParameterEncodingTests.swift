import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// The article's entry points, for code that owns a `URLRequest`.
struct ParameterEncodingTests {
    private var post: URLRequest {
        var request = URLRequest(url: URL(text: "https://h/p?x=1"))
        request.httpMethod = "POST"
        return request
    }

    @Test(
        "body and URL parameters are both applied, also when one of them is nil", .requirement("S3.6"),
        arguments: [
            (true, true), (true, false), (false, true), (false, false),
        ])
    func bothSides(hasBody: Bool, hasQuery: Bool) throws {
        var request = post
        try ParameterEncoding.urlAndJsonEncoding.encode(
            urlRequest: &request, bodyParameters: hasBody ? ["name": "A"] : nil,
            urlParameters: hasQuery ? ["q": "é"] : nil)
        #expect(request.url?.absoluteString == (hasQuery ? "https://h/p?x=1&q=%C3%A9" : "https://h/p?x=1"))
        #expect(request.httpBody == (hasBody ? Data(#"{"name":"A"}"#.utf8) : nil))
        #expect(request.value(forHTTPHeaderField: "Content-Type") == (hasBody ? "application/json" : nil))
    }

    @Test(
        "Content-Type describes the body, whatever the query is", .requirement("S3.6"),
        arguments: [
            (ParameterEncoding.jsonEncoding, "application/json", #"{"a":1}"#),
            (.formEncoding, "application/x-www-form-urlencoded; charset=utf-8", "a=1"),
            (
                .custom(FormParameterEncoder(), query: URLEncodedFormEncoder()),
                "application/x-www-form-urlencoded; charset=utf-8", "a=1"
            ),
        ])
    func contentType(encoding: ParameterEncoding, type: String, body: String) throws {
        var request = post
        try encoding.encode(urlRequest: &request, bodyParameters: ["a": 1], urlParameters: ["b": 2])
        #expect(request.value(forHTTPHeaderField: "Content-Type") == type)
        #expect(request.httpBody == Data(body.utf8))
        #expect(request.url?.query == "x=1&b=2")

        let task = HTTPTask.requestParameters(bodyParameters: ["a": 1], bodyEncoding: encoding, urlParameters: ["b": 2])
        let built = try RequestBuilder(headers: ["Content-Type": "text/plain"])
            .makeRequest(for: URLEndPoint(.post, URL(text: "https://h/p?x=1"), task: task))
        #expect(built.headers.values(for: "Content-Type") == [type])
        #expect(try built.sentText == body)
        #expect(built.url?.query == "x=1&b=2")
    }

    @Test("with URL encoding both join the query, body parameters first", .requirement("S3.6"))
    func urlEncoding() throws {
        var request = post
        try ParameterEncoding.urlEncoding.encode(
            urlRequest: &request, bodyParameters: ["a": 1], urlParameters: ["b": 2])
        #expect(request.url?.query == "x=1&a=1&b=2")
        #expect(request.httpBody == nil && request.value(forHTTPHeaderField: "Content-Type") == nil)
        let task = HTTPTask.requestParameters(
            bodyParameters: ["a": 1], bodyEncoding: .urlEncoding, urlParameters: ["b": 2])
        let built = try RequestBuilder().makeRequest(for: URLEndPoint(.get, URL(text: "https://h/p?x=1"), task: task))
        #expect(built.url?.query == "x=1&a=1&b=2" && built.body.isEmpty)
    }

    @Test("a failure leaves the request unchanged, its query included", .requirement("S3.5"))
    func failureChangesNothing() {
        var request = post
        request.httpBody = Data("before".utf8)
        let before = request
        let error = #expect(throws: NetworkError.self) {
            try ParameterEncoding.jsonEncoding.encode(
                urlRequest: &request, bodyParameters: ["a": 1], urlParameters: ["bad": Double.nan])
        }
        #expect(error?.code == .encodingFailed)
        #expect(request == before)
    }

    @Test("writing only the query keeps the request's body stream")
    func bodyStreamStays() throws {
        var request = post
        request.httpBodyStream = InputStream(data: Data("stream".utf8))
        try URLParameterEncoder().encode(urlRequest: &request, with: ["a": 1])
        #expect(request.httpBodyStream != nil && request.url?.query == "x=1&a=1")
    }

    @Test(
        "a URLRequest's patch becomes PATCH; an encoder's method is kept",
        .requirement("S0.1"),
        arguments: [
            ("patch", "PATCH"), ("Purge", "Purge"), ("GET", "GET"),
        ])
    func methods(given: String, sent: String) throws {
        struct Switching: ParameterEncoder {
            func encode(_ parameters: Parameters, into draft: inout NetworkRequest) { draft.method = .put }
        }
        var request = post
        request.httpMethod = given
        try URLParameterEncoder().encode(urlRequest: &request, with: ["a": 1])
        #expect(request.httpMethod == sent)
        try Switching().encode(urlRequest: &request, with: [:])
        #expect(request.httpMethod == "PUT")
    }

    @Test("encoders and makeRequest are pure: equal input makes equal requests", .requirement("S3.16"))
    func pure() throws {
        let parameters: Parameters = ["b": ["z": 1, "y": 2], "a": [1, 2]]
        let endPoint = EndPointFixture(
            path: "x", httpMethod: .post,
            task: .requestParameters(bodyParameters: parameters, urlParameters: parameters))
        let builder = RequestBuilder()
        let all = try (0..<10).map { _ in try builder.makeRequest(for: endPoint) }
        #expect(Set(all.map(\.url)).count == 1 && Set(all.map(\.headers)).count == 1)
        #expect(Set(try all.map { try $0.sentText }).count == 1)
        #expect(parameters.map(\.name) == ["b", "a"])
    }

    @Test("an error of a custom encoder names the encoder")
    func failingEncoder() {
        struct Odd: Error {}
        struct Signing: ParameterEncoder {
            func encode(_ parameters: Parameters, into draft: inout NetworkRequest) throws { throw Odd() }
        }
        let task = HTTPTask.requestParameters(
            bodyParameters: ["a": 1], bodyEncoding: .custom(Signing()), urlParameters: ["q": 1])
        let error = #expect(throws: NetworkError.self) {
            try RequestBuilder().makeRequest(for: EndPointFixture(path: "p", httpMethod: .post, task: task))
        }
        #expect(error?.code == .encodingFailed)
        #expect(error?.reason == "Odd was thrown by Signing")
        var request = post
        let other = #expect(throws: NetworkError.self) { try Signing().encode(urlRequest: &request, with: ["a": 1]) }
        #expect(other?.reason == "Odd was thrown by Signing")
    }

    @Test("a query of a custom encoder that forms no URL is refused, and says why", .requirement("S3.5"))
    func invalidQuery() {
        struct Filter: ParameterEncoder {
            func encode(_ parameters: Parameters, into draft: inout NetworkRequest) throws {
                draft.query = "filter=a\nb"
                if parameters.isEmpty { try URLParameterEncoder().encode(["q": 1], into: &draft) }
            }
        }
        for parameters in [["a": 1], [:]] as [Parameters] {
            var request = post
            let before = request
            let error = #expect(throws: NetworkError.self) {
                try Filter().encode(urlRequest: &request, with: parameters)
            }
            #expect(error?.code == .invalidRequest && error?.reason?.contains("control character") == true)
            #expect(request == before)
        }
        let task = HTTPTask.requestParameters(bodyParameters: ["a": 1], bodyEncoding: .custom(Filter()))
        let error = #expect(throws: NetworkError.self) {
            try RequestBuilder().makeRequest(for: EndPointFixture(path: "p", httpMethod: .post, task: task))
        }
        #expect(error?.code == .invalidRequest && error?.reason?.contains("control character") == true)
    }

    @Test("a custom encoder may write body, query, headers and method", .requirement("S3.3"))
    func ownEncoder() throws {
        struct Signed: ParameterEncoder {
            func encode(_ parameters: Parameters, into draft: inout NetworkRequest) throws {
                draft.headers["X-Count"] = String(parameters.count)
                draft.method = .put
                try URLParameterEncoder().encode(["signed": true], into: &draft)
                draft.body = DataBody(Data("custom".utf8), contentType: "text/x-own")
            }
        }
        let task = HTTPTask.requestParameters(
            bodyParameters: ["a": 1, "b": 2], bodyEncoding: .custom(Signed()), urlParameters: ["q": 1])
        let request = try RequestBuilder().makeRequest(
            for: EndPointFixture(path: "p?x=1", httpMethod: .post, task: task))
        #expect(request.url?.absoluteString == "https://api.example.com/v1/p?x=1&signed=true&q=1")
        #expect(request.method == .put && request.headers["X-Count"] == "2")
        #expect(try request.sentText == "custom")
        #expect(request.headers["Content-Type"] == "text/x-own")
    }
}
