import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

struct HTTPMethodTests {
    @Test(
        "known methods are upper case however they are spelled", .requirement("S0.1"),
        arguments: [
            ("get", "GET"), ("post", "POST"), ("put", "PUT"), ("patch", "PATCH"), ("delete", "DELETE"),
            ("head", "HEAD"),
            ("options", "OPTIONS"), ("Trace", "TRACE"), ("cONNECT", "CONNECT"), ("PATCH", "PATCH"),
        ])
    func knownMethodsAreUpperCase(given: String, sent: String) {
        #expect(HTTPMethod(rawValue: given).rawValue == sent)
        #expect(HTTPMethod(rawValue: given) == HTTPMethod(rawValue: sent))
    }

    @Test("the verbs have the names of RFC 9110 §9.3 and RFC 5789", .requirement("S0.1"))
    func verbs() {
        let verbs: [HTTPMethod] = [.get, .post, .put, .patch, .delete, .head, .options, .trace, .connect]
        #expect(
            verbs.map(\.rawValue) == ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT"])
    }

    @Test(
        "a custom method is sent as given, in its case", .requirement("S0.1"),
        arguments: ["PURGE", "propfind", "Get2", "M-SEARCH", "gets"])
    func customMethodsKeepTheirCase(name: String) throws {
        let request = try RequestBuilder().makeRequest(for: EndPointFixture(httpMethod: HTTPMethod(rawValue: name)))
        #expect(request.method.rawValue == name)
    }

    @Test("a request for the lower-case method patch says PATCH", .requirement("S0.1"))
    func patchInARequest() throws {
        let request = try RequestBuilder().makeRequest(for: EndPointFixture(httpMethod: "patch"))
        #expect(request.method.rawValue == "PATCH")
    }

    // U+017F and U+0131 become S and I when Unicode upper-cases them; methods are ASCII.
    @Test(
        "a method with Unicode lookalikes is not known and is refused",
        arguments: ["poſt", "optıons", "delete\u{301}"])
    func lookalikesAreNoKnownMethods(name: String) {
        #expect(HTTPMethod(rawValue: name).rawValue == name)
        let error = #expect(throws: NetworkError.self) {
            try RequestBuilder().makeRequest(for: EndPointFixture(httpMethod: HTTPMethod(rawValue: name)))
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test(
        "a method that is not a token is refused before sending",
        arguments: [
            "", "GET /x", "GET\r\nX-Evil: 1", "GET\n", "GET\0", "GET\t", "GÉT", "GET:", "(GET)", "\u{7F}",
        ])
    func methodsThatAreNoTokens(name: String) {
        let error = #expect(throws: NetworkError.self) {
            try RequestBuilder().makeRequest(for: EndPointFixture(httpMethod: HTTPMethod(rawValue: name)))
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason?.contains("method") == true)
        #expect(error?.reason?.contains(where: \.isNewline) == false)
        #expect(error?.description.contains(where: \.isNewline) == false)
    }

    @Test("bodies, queries and idempotence follow RFC 9110 §9.2.2 and §9.3")
    func properties() {
        let all: [HTTPMethod] = [.get, .post, .put, .patch, .delete, .head, .options, .trace, .connect, "PURGE"]
        #expect(all.filter { !$0.allowsBody } == [.get, .head, .trace])
        #expect(all.filter(\.prefersQuery) == [.get, .delete, .head])
        #expect(all.filter(\.isIdempotent) == [.get, .put, .delete, .head, .options, .trace])
    }
}
