import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// Details of a request that were once wrong.
struct RequestDetailTests {
    private struct Loose: EndPointType {
        var baseURL: URL? { URL(string: "http://h/") }
        var path: String { "p" }
        var httpMethod: String { "post" }
        var task: HTTPTask { get throws { .requestParameters(bodyParameters: ["a": 1]) } }
        var headers: [String: String] { get throws { ["X-Loose": "yes"] } }
    }

    @Test("a String method and throwing properties are used, not ignored", .requirement("S4.2"))
    func looseProperties() throws {
        let request = try Router<Loose>().makeRequest(for: Loose())
        #expect(request.method == .post)
        #expect(request.headers["X-Loose"] == "yes")
        #expect(try String(decoding: request.body.encode(), as: UTF8.self) == #"{"a":1}"#)
    }

    private struct Throwing: EndPointType {
        struct Leak: Error { let token = "planted" }
        var baseURL: URL { get throws { throw Leak() } }
        let path = ""
    }

    @Test("an endpoint's error is invalidRequest, named by type, without content")
    func foreignError() throws {
        let error = #expect(throws: NetworkError.self) { try Router<Throwing>().makeRequest(for: Throwing()) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.underlying is Throwing.Leak)
        #expect(error?.description.contains("Leak") == true)
        #expect(error?.description.contains("planted") == false)
        #expect(error?.endPointName == "Throwing")
    }

    @Test("path and query read back as they are sent", .requirement("S2.9"))
    func partsReadBackEncoded() {
        var request = NetworkRequest(.get, URL(string: "http://h/"))
        request.path = "a b"
        request.query = "c=d e"
        #expect(request.path == "/a%20b")
        #expect(request.query == "c=d%20e")
        #expect(request.url?.absoluteString == "http://h/a%20b?c=d%20e")
    }

    @Test(
        "a correct Content-Length from the app is kept, a wrong one refused",
        arguments: [(7, true), (6, false)])
    func ownContentLength(length: Int, isRight: Bool) throws {
        let endPoint = URLEndPoint(
            .post, try #require(URL(string: "http://h/")), task: .requestBody(JSONBody(["a": 1])),
            headers: ["Content-Length": String(length)])
        let result = Result { try Router<URLEndPoint>().makeRequest(for: endPoint) }
        switch result {
        case .success(let request): #expect(isRight && request.headers["Content-Length"] == "7")
        case .failure(let error): #expect(!isRight && (error as? NetworkError)?.code == .invalidRequest)
        }
    }

    @Test("two Content-Type fields from the app are refused", .requirement("S2.6"))
    func twoContentTypes() throws {
        let headers: HTTPHeaders = ["Content-Type": "text/plain", "content-type": "text/html"]
        let request = NetworkRequest(.post, URL(string: "http://h/"), headers: headers, body: DataBody(Data("x".utf8)))
        let error = #expect(throws: NetworkError.self) { try request.validate() }
        #expect(error?.reason?.contains("two Content-Type") == true)
    }

    @Test(
        "a Content-Type without the boundary of the form is refused",
        arguments: ["application/json", "multipart/form-data", "multipart/form-data; boundary=b"])
    func typeOfForm(type: String) throws {
        let form = MultipartBody([.field("a", "1")], boundary: "bound")
        for body: any HTTPBody in [form, GzipBody(form)] {
            var request = NetworkRequest(
                .post, URL(string: "http://h/"), headers: ["content-type": type], body: body)
            let error = #expect(throws: NetworkError.self) { try request.validate() }
            #expect(error?.code == .invalidRequest)
            #expect(
                error?.reason == "the Content-Type \"\(type)\" lacks the boundary of the form: remove the field")
            request.headers["Content-Type"] = "multipart/mixed; boundary=bound"
            try request.validate()
        }
    }

    @Test("a curl command stops curl from adding a Content-Type")
    func curlWithoutType() {
        let request = NetworkRequest(.post, URL(string: "http://h/"), body: DataBody(Data("x".utf8)))
        #expect(request.curlCommand == "curl -X POST 'http://h/' -H 'Content-Type:' --data-raw x")
    }

    @Test("a JSON literal keeps its order even with values of one type", .requirement("S2.4"))
    func literalOrder() throws {
        #expect(try JSONBody(["b": 1, "a": 2]).encode() == Data(#"{"b":1,"a":2}"#.utf8))
        let dictionary = ["b": 1, "a": 2]
        #expect(try JSONBody(dictionary).encode() == Data(#"{"a":2,"b":1}"#.utf8))
    }
}
