import Foundation
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@testable import Switchboard

/// Error bodies from the documentation of servers and formats.
@Suite(.timeLimit(.minutes(10)))
struct ServerMessageTests {
    private func said(_ body: String, type: String = "application/json") async -> String? {
        let session = StubSession { _ in .text(body, statusCode: 422, headers: ["Content-Type": type]) }
        let router = Router<URLEndPoint>(session: session)
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.get, URL(text: "https://h/")))
        }
        #expect(error?.statusCode == 422)
        return error?.serverMessage
    }

    @Test(
        "the message is found in the usual shapes of JSON", .requirement("S1.7"),
        arguments: [
            // OCI distribution specification, error codes.
            (
                #"{"errors":[{"code":"NAME_UNKNOWN","message":"repository name not known to registry"}]}"#,
                "repository name not known to registry"
            ),
            // GraphQL specification §7.1.2.
            (
                #"{"errors":[{"message":"No character has ID 1002.","path":["hero",1]}],"data":null}"#,
                "No character has ID 1002."
            ),
            // FastAPI, "Handling Errors", and an HTTPException.
            (
                #"{"detail":[{"loc":["path","item_id"],"msg":"Input should be a valid integer"}]}"#,
                "item_id: Input should be a valid integer"
            ),
            (#"{"detail":[{"loc":["body",["a"],"b",2],"msg":"m"}]}"#, "b.2: m"),
            (#"{"detail":"Item not found"}"#, "Item not found"), (#"{"detail":{"msg":"m"}}"#, "m"),
            // Rails, `render json: { errors: user.errors }`, and its full messages.
            (#"{"errors":{"email":["is taken"]}}"#, "email is taken"),
            (
                #"{"errors":{"name":["is too short","is odd"],"email":["is taken"]}}"#,
                "email is taken; name is too short; name is odd"
            ),
            (#"{"errors":{"base":["cannot be saved"]}}"#, "cannot be saved"),
            (#"{"errors":["Email is taken","Name is odd"]}"#, "Email is taken; Name is odd"),
            // Laravel and ASP.NET.
            (
                #"{"message":"The email field is required.","errors":{"email":["The email field is required."]}}"#,
                "The email field is required."
            ),
            (
                #"{"title":"Validation errors occurred.","status":400,"errors":{"Email":["The Email field is required."]}}"#,
                "The Email field is required."
            ),
            // JSON:API, and NestJS.
            (
                #"{"errors":[{"title":"Invalid Attribute","detail":"First name must have two characters."}]}"#,
                "First name must have two characters."
            ),
            (
                #"{"statusCode":400,"message":["email must be an email"],"error":"Bad Request"}"#,
                "email must be an email"
            ),
            // RFC 9457 §3.
            (
                #"{"type":"about:blank","title":"You do not have enough credit.","detail":"Your balance is 30."}"#,
                "Your balance is 30."
            ),
            (
                #"{"type":"about:blank","title":"You do not have enough credit.","status":403}"#,
                "You do not have enough credit."
            ),
            ("\u{FEFF}{\"message\":\"m\"}", "m"),
            (#"{"errors":["a","b","c","d","e","f"]}"#, "a; b; c; d; e"),
        ])
    func json(body: String, text: String) async {
        #expect(await said(body) == text)
        #expect(await said(body, type: "application/problem+json") == text)
    }

    @Test(
        "the message is found in errors in XML", .requirement("S1.7"),
        arguments: [
            // Amazon S3, "Error responses", and an error of the query APIs.
            (
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <Error><Code>NoSuchKey</Code><Message>The resource you requested does not exist</Message>
                <Resource>/mybucket/myfoto.jpg</Resource><RequestId>4442587FB7D0A2F9</RequestId></Error>
                """, "The resource you requested does not exist"
            ),
            (
                #"<ErrorResponse xmlns="a"><Error><Message>a &lt;b&gt; &amp;amp; &#x27;c&#39; &bad; &#xD800;</Message></Error></ErrorResponse>"#,
                "a <b> &amp; 'c' &bad; &#xD800;"
            ),
            ("<!-- <Error> --><s3:Error xmlns:s3='x'><Message><![CDATA[a & <b>]]></Message></s3:Error>", "a & <b>"),
            // RFC 9457, appendix B.
            (
                #"<?xml?><problem xmlns="urn:ietf:rfc:7807"><title>No credit</title><detail>Your balance is 30.</detail></problem>"#,
                "Your balance is 30."
            ),
            ("<problem><title> Out of credit. </title></problem>", "Out of credit."),
        ])
    func xml(body: String, text: String) async {
        #expect(await said(body, type: "application/xml") == text)
    }

    @Test(
        "bodies of other shapes have no message",
        arguments: [
            "{}", "[]", #"{"errors":[]}"#, #"{"errors":{}}"#, #"{"errors":[1,null,[["a"]]]}"#,
            #"{"errors":{"a":{"b":{"c":["d"]}}}}"#,
            #"{"errors":[{"code":5}]}"#, #"{"detail":[{"loc":["a"]}]}"#, #"{"detail":{"code":"a"}}"#,
            #"{"error":{"code":"E7"}}"#,
            "<html><Message>m</Message></html>", "<!DOCTYPE html><Error><Message>m</Message></Error>", "<Error>",
            "<Error><Message>m", "<Error><Message></Message></Error>", "<?xml <Error><Message>m</Message></Error>", "<",
            "<>",
            "<Error/>",
        ])
    func others(body: String) async {
        #expect(await said(body) == nil)
    }

    @Test("a message is cut at 1,000 characters, and shows no secret")
    func limits() async {
        let long = String(repeating: "é", count: 3_000)
        #expect(await said(#"{"message":"\#(long)"}"#) == long.prefix(1_000) + "…")
        #expect(await said("<Error><Message>\(long)</Message></Error>") == long.prefix(1_000) + "…")
        #expect(await said(#"{"errors":["\#(long)","b"]}"#)?.unicodeScalars.count == 1_001)
        #expect(await said(#"{"message":"\#(String(repeating: "a", count: 70_000))"}"#) == nil)
        #expect(await said(#"{"errors":["GET /?api_key=s3cret failed"]}"#) == "GET /?api_key=<redacted> failed")
    }

    @Test("only the first hundred texts by field are searched and added")
    func manyFields() async {
        func body(_ count: Int) -> String {
            let texts = Array(repeating: #""x""#, count: count) + [#""y""#]
            return #"{"message":"a x","errors":{"a":[\#(texts.joined(separator: ","))]}}"#
        }
        #expect(await said(body(99)) == "a x: a y")
        #expect(await said(body(100)) == "a x")
    }

    @Test("a body of any depth is read on a small stack", arguments: [100, 500, 30_000])
    func depth(levels: Int) async {
        for (open, close) in [("[", "]"), (#"{"errors":"#, "}"), (#"{"error":"#, "}"), (#"{"detail":["#, "]}")] {
            let body =
                #"{"a":"# + String(repeating: open, count: levels) + "1" + String(repeating: close, count: levels) + "}"
            let result = await onThread {
                try NetworkResponse(statusCode: 422, body: Data(body.utf8)).checkStatus()
            }
            let error = #expect(throws: NetworkError.self) { try result.get() }
            #expect(error != nil && error?.serverMessage == nil)
        }
    }

    @Test("texts by field are searched in a message in linear time")
    func searchedFields() {
        func response(_ size: Int) -> NetworkResponse {
            let text = String(repeating: "A", count: size / 100) + "B"
            let texts = [String](repeating: "\"\(text)\"", count: 100).joined(separator: ",")
            let message = String(repeating: "A", count: size) + text
            return NetworkResponse(
                statusCode: 422, headers: ["Content-Type": "application/json"],
                body: Data(#"{"message":"\#(message)","errors":{"x":[\#(texts)]}}"#.utf8))
        }
        let growth = growth(from: 3_500, to: 28_000, of: response) { response in
            let error = #expect(throws: NetworkError.self) { try response.checked() }
            #expect(error?.serverMessage?.hasPrefix("AAA") == true)
        }
        #expect(growth < 24)
    }
}
