import Foundation
import Switchboard
import SwitchboardText
import Testing

/// Places where secrets were shown, with `hunter2` as the secret, and texts that were damaged.
struct SecretPlaceTests {
    private let redaction = Redaction.standard
    private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.hunter2"

    private static func part(_ disposition: String, _ value: String) -> String {
        "--b\r\nContent-Disposition: form-data\(disposition)\r\n\r\n\(value)\r\n--b--\r\n"
    }

    @Test(
        "parts of forms are masked, whatever the spelling of their name",
        arguments: [
            "; name=password", ";name=password", "; name = password", "; name=\"password\"",
            ";\r\n\tname=\"password\"", ";\r\n name=password", "; filename=a;\r\n  name=password",
            "; name*=UTF-8''password", "; name*=utf-8'en'pass%77ord", "; name=a; name*=UTF-8''password",
            "; NAME=password",
        ])
    func parts(disposition: String) {
        let text = Self.part(disposition, "hunter2")
        #expect(redaction.text(text) == Self.part(disposition, "<redacted>"))
        let other = Self.part(disposition.replacing("pass", with: "cross"), "hunter2")
        if !other.contains("%77") { #expect(redaction.text(other) == other) }
    }

    @Test(
        "a token in the list of WebSocket subprotocols is masked",
        arguments: [
            ("bearer, hunter2", "bearer, <redacted>"), ("graphql-ws, bearer,hunter2", "graphql-ws, bearer,<redacted>"),
            ("access_token, hunter2, chat", "access_token, <redacted>, <redacted>"),
            ("base64url.bearer.authorization.k8s.io.hunter2, v4.channel.k8s.io", "<redacted>, <redacted>"),
            ("\(String(repeating: "hunter2", count: 8)), chat", "<redacted>, chat"),
            ("chat, \(token)", "chat, <redacted>"),
            (
                "graphql-transport-ws, mqtt, v12.stomp, wamp.2.json",
                "graphql-transport-ws, mqtt, v12.stomp, wamp.2.json"
            ),
        ])
    func subprotocols(list: String, expected: String) {
        #expect(redaction.value(list, ofHeader: "sec-websocket-protocol") == expected)
        #expect(
            redaction.text("GET / HTTP/1.1\r\nSec-WebSocket-Protocol: \(list)\r\nHost: h")
                == "GET / HTTP/1.1\r\nSec-WebSocket-Protocol: \(expected)\r\nHost: h")
        #expect(Redaction.none.value(list, ofHeader: "Sec-WebSocket-Protocol") == list)
    }

    @Test("a JSON Web Token is masked without a name")
    func tokens() {
        let token = Self.token
        #expect(redaction.url("https://h/verify/\(token)?a=b") == "https://h/verify/<redacted>?a=b")
        #expect(redaction.url("https://h/?next=\(token)&a=b") == "https://h/?next=<redacted>&a=b")
        #expect(redaction.text("GET /verify/\(token) HTTP/1.1") == "GET /verify/<redacted> HTTP/1.1")
        #expect(redaction.text(#"["\#(token)"]"#) == #"["<redacted>"]"#)
        #expect(redaction.form("a=\(token)") == "a=<redacted>")
        #expect(redaction.value(token, ofHeader: "X-Anything") == "<redacted>")
        #expect(redaction.text("eyJ is no token, nor is eyJhbGci.OiJ") == "eyJ is no token, nor is eyJhbGci.OiJ")
        #expect(Redaction.none.text(token) == token)
    }

    @Test("a field needs no space, and a secret follows the name of its scheme")
    func schemes() {
        #expect(
            redaction.text("GET / HTTP/1.1\r\nX-Api-Key:hunter2\r\n") == "GET / HTTP/1.1\r\nX-Api-Key:<redacted>\r\n")
        #expect(redaction.text("authorization=Bearer hunter2 next") == "authorization=<redacted> next")
    }

    @Test("an escaped name hides no secret", arguments: ["%74oken", "%2574oken", "access%5Ftoken"])
    func escapedNames(name: String) {
        #expect(redaction.text("GET /a?\(name)=hunter2 HTTP/1.1") == "GET /a?\(name)=<redacted> HTTP/1.1")
        #expect(redaction.url("https://h/?\(name)=hunter2") == "https://h/?\(name)=<redacted>")
    }

    @Test(
        "sentences of this package and of servers stay whole",
        arguments: [
            "the token came without a refresh token: sign in again", "your password: log in again",
            "signed in again", "expired session token: try again", "missing API key: set it in the environment",
        ])
    func sentences(text: String) {
        #expect(redaction.text(text) == text)
    }

    @Test("of a large body, only the beginning and a margin are read")
    func beginning() throws {
        let redactor = Redactor.standard
        let limit = 100
        // Behind the margin: bytes that are no text, which would be noticed if they were read.
        let body = Data((String(repeating: "a", count: limit + Redactor.margin)).utf8) + Data([0xFF, 0, 0xFF])
        #expect(redactor.beginning(of: body, limit: limit) == String(repeating: "a", count: limit))
        #expect(redactor.beginning(of: body.dropFirst(4), limit: limit) == nil)
        #expect(redactor.beginning(of: Data("token=hunter2".utf8), limit: 100) == "token=<redacted>")
    }

    @Test("no cut of a body shows a part of a secret", arguments: 0...200)
    func cuts(limit: Int) {
        let tail = String(repeating: "x", count: Redactor.margin * 2)
        let texts = [
            #"{"a":"b","password":"hunter2 hunter2","c":"é","name":"\#(tail)"}"#,
            #"{"a":"b","list":[{"value":"hunter2","name":"token"}],"c":"\#(tail)"}"#,
            #"<form><input value="hunter2" type="hidden" name="csrf_token"><p>\#(tail)</p></form>"#,
            "a=b&token=hunter2hunter2&c=\(tail)", "a: b\npassword: hunter2\nc: \(tail)",
            Self.part("; name=a\r\nContent-Disposition: form-data;\r\n name=password", "hunter2") + tail,
            "GET /verify/\(Self.token)?\(tail)",
        ]
        for text in texts {
            let shown = Redactor.standard.beginning(of: Data(text.utf8), limit: limit)
            #expect(shown?.contains("hu") == false && (shown?.utf8.count ?? 0) <= limit)
        }
    }
}
