import Foundation
import HTTPTypes
import Switchboard
import Testing

@testable import Interop

struct HTTPTypesTests {
    @Test("fields keep names, order and repeats in both directions")
    func fields() throws {
        let headers: HTTPHeaders = ["Content-Type": "a/b", "X-Two": "1", "x-two": "2", "Set-Cookie": "a=1, b"]
        let fields = HTTPFields(headers)
        #expect(fields.map(\.name.rawName) == ["Content-Type", "X-Two", "x-two", "Set-Cookie"])
        #expect(fields[.contentType] == "a/b")
        let name = try #require(HTTPField.Name("X-Two"))
        #expect(fields[values: name] == ["1", "2"])
        #expect(HTTPHeaders(fields) == headers)
        #expect(HTTPFields(["no name": "1", "ok": "2"]).count == 1)
    }

    @Test("a request keeps method, URL and fields in both directions")
    func request() throws {
        let url = try #require(URL(string: "https://h.example:8443/a%20b?x=1&y=%2F"))
        let method = try #require(HTTPRequest.Method("PURGE"))
        let request = HTTPRequest(method: method, url: url, headerFields: [.accept: "a/b"])
        let ours = NetworkRequest(request, body: DataBody(Data("1".utf8)))
        #expect(ours.method.rawValue == "PURGE" && ours.url == url && ours.headers == ["Accept": "a/b"])
        #expect(HTTPRequest(ours) == request)
        #expect(HTTPRequest(NetworkRequest(.get, nil)) == nil)
        #expect(HTTPRequest(NetworkRequest(HTTPMethod(rawValue: "NO GOOD"), url)) == nil)
    }

    @Test("a response keeps status and fields in both directions")
    func response() throws {
        let response = HTTPResponse(status: .notFound, headerFields: [.contentType: "a/b"])
        let ours = NetworkResponse(response, body: Data("1".utf8))
        #expect(ours.statusCode == 404 && ours.headers == ["Content-Type": "a/b"] && ours.text == "1")
        #expect(HTTPResponse(ours) == response)
        #expect(HTTPResponse(NetworkResponse(statusCode: 1_000)) == nil)
        #expect(HTTPResponse(NetworkResponse(statusCode: -1)) == nil)
    }
}
