import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

extension Redaction {
    /// Checks the masked text, and that neither a second pass nor a redaction without names changes anything.
    func check(_ text: String, _ expected: String, at location: SourceLocation = #_sourceLocation) {
        #expect(self.text(text) == expected, sourceLocation: location)
        #expect(self.text(expected) == expected, sourceLocation: location)
        #expect(Redaction.none.text(text) == text, sourceLocation: location)
    }
}

struct RedactionTests {
    private let redaction = Redaction.standard

    @Test(
        "secret URL parameters are masked in any case and spelling",
        arguments: [
            ("https://h/p?api_key=s3cret&page=1", "https://h/p?api_key=<redacted>&page=1"),
            ("https://h/p?page=1&API_KEY=s3cret#top", "https://h/p?page=1&API_KEY=<redacted>#top"),
            ("https://h/p?%74oken=s3cret", "https://h/p?%74oken=<redacted>"),
            ("https://h/p?token=", "https://h/p?token=<redacted>"),
            ("https://h/p?user%5Bpassword%5D=s3cret", "https://h/p?user%5Bpassword%5D=<redacted>"),
            (
                "https://h/p?user[token]=s3cret&user.secret=s3cret",
                "https://h/p?user[token]=<redacted>&user.secret=<redacted>"
            ),
            ("https://h/p?token=s3cret?more=s3cret", "https://h/p?token=<redacted>"),
            ("https://h/p?tokens=3&x=token", "https://h/p?tokens=3&x=token"),
            ("https://h/cb?x=1#access_token=s3cret&state=5", "https://h/cb?x=1#access_token=<redacted>&state=5"),
            ("https://h/cb#access_token=s3cret&state=5", "https://h/cb#access_token=<redacted>&state=5"),
            ("https://h/cb#/route?token=s3cret", "https://h/cb#/route?token=<redacted>"),
            ("/p?token=s3cret", "/p?token=<redacted>"), ("https://h/p", "https://h/p"), ("", ""), ("?", "?"),
            ("#", "#"),
        ])
    func urls(text: String, expected: String) {
        #expect(redaction.url(text) == expected)
    }

    @Test(
        "the user and password of a URL are masked",
        arguments: [
            ("https://ann:s3cret@h/p", "https://<redacted>@h/p"), ("https://s3cret@h", "https://<redacted>@h"),
            ("https://ann:s3c@ret@h/", "https://<redacted>@h/"), ("https://h/p@q", "https://h/p@q"),
            ("https://h?a@b", "https://h?a@b"),
        ])
    func userInfo(text: String, expected: String) {
        #expect(redaction.url(text) == expected)
    }

    @Test("secret headers are masked in any case; URLs in headers are redacted")
    func headers() {
        for name in ["Authorization", "COOKIE", "set-cookie", "X-Api-Key", "Proxy-Authorization"] {
            #expect(redaction.value("s3cret", ofHeader: name) == "<redacted>")
        }
        #expect(redaction.value("a/b", ofHeader: "Accept") == "a/b")
        #expect(redaction.value("https://h/?token=s3cret", ofHeader: "location") == "https://h/?token=<redacted>")
    }

    @Test(
        "secrets are found by name in any spelling and by suffix",
        arguments: [
            "accessToken", "client-secret", "CLIENT_SECRET", "newPassword", "x-goog-signature", "passphrase", "jwt",
            "apiKey",
            "user[access_token]",
        ])
    func spellings(name: String) {
        #expect(redaction.form("\(name)=s3cret&a=b") == "\(name)=<redacted>&a=b")
        let json = name.contains("[") ? "access_token" : name
        #expect(redaction.text("{\"\(json)\":\"s3cret\"}") == "{\"\(json)\":\"<redacted>\"}")
    }

    @Test("other vendors' headers are masked by suffix, Idempotency-Key is not")
    func headerEndings() {
        for name in ["X-Vault-Token", "Private-Token", "Ocp-Apim-Subscription-Key", "X-Goog-Api-Key", "Cookie2"] {
            #expect(redaction.value("s3cret", ofHeader: name) == "<redacted>", "\(name)")
        }
        #expect(redaction.value("k", ofHeader: "Idempotency-Key") == "k")
    }

    @Test("a URL's query is masked wherever the URL appears")
    func embeddedURLs() {
        let url = "https://h/p?a=1&api_key=s3cret"
        #expect(
            redaction.value("<\(url)>; rel=next", ofHeader: "Link") == "<https://h/p?a=1&api_key=<redacted>>; rel=next")
        #expect(redaction.value("5; url=\(url)", ofHeader: "Refresh") == "5; url=https://h/p?a=1&api_key=<redacted>")
        #expect(redaction.text("{\"next\":\"\(url)\"}") == "{\"next\":\"https://h/p?a=1&api_key=<redacted>\"}")
        #expect(redaction.text("Not found: \(url) today") == "Not found: https://h/p?a=1&api_key=<redacted> today")
    }

    @Test(
        "secret JSON members are masked at every depth, whatever their value",
        arguments: [
            (#"{"password":"s3cret","a":1}"#, #"{"password":"<redacted>","a":1}"#),
            (
                #"{ "Token" : 53 , "a": [ {"secret": [true]}, {"pwd":5.0} ] }"#,
                #"{ "Token" : "<redacted>", "a": [ {"secret": "<redacted>"}, {"pwd":"<redacted>"} ] }"#
            ),
            (#"{"auth":{"x":"}","y":["s3cret","]"]},"z":"auth"}"#, #"{"auth":"<redacted>","z":"auth"}"#),
            (#"["token","s3cret?"]"#, #"["token","s3cret?"]"#),
            (#"{"a\"tokens":"x","token":"q\"uo\\te"}"#, #"{"a\"tokens":"x","token":"<redacted>"}"#),
            (#"{"api_key":"a","api_keys":"b"}"#, #"{"api_key":"<redacted>","api_keys":"<redacted>"}"#), ("{}", "{}"),
            ("[]", "[]"),
            // A body's `key`, `code` and `session` are rarely secrets. In a query they are.
            (#"{"key":"a","code":5,"session":"s"}"#, #"{"key":"a","code":5,"session":"s"}"#),
        ])
    func json(text: String, expected: String) {
        #expect(redaction.text(text) == expected)
    }

    @Test("truncated JSON shows no part of a secret")
    func cutShort() throws {
        let text =
            #"{"user":"ann","password":"s3cret \" s3cret","token":{"a":["s3cret"]},"nested":[{"api_key":"s3cret"}],"pwd":53}"#
        for count in 0...text.utf8.count {
            let cut = redaction.text(String(decoding: text.utf8.prefix(count), as: UTF8.self))
            #expect(!cut.contains("s3") && !cut.contains("53"))
            #expect(count < 13 || cut.hasPrefix(#"{"user":"ann""#))
        }
    }

    @Test("random text is redacted without a trap; a second pass changes nothing")
    func anyText() {
        var random = SeededGenerator(seed: 7)
        let pieces = [
            "\"", "{", "}", "[", "]", ":", ",", "\\", "token", "=", "&", "?", "#", "://", "@", " ", "é", "\0", "x", "<",
        ]
        var wrong: [String] = []
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...14, using: &random)).map { _ in pieces.randomElement(using: &random)! }
                .joined()
            if redaction.form(redaction.form(text)) != redaction.form(text) { wrong.append(text) }
            _ = (redaction.text(text), redaction.url(text))
            if Redaction.none.text(text) != text || Redaction.none.url(text) != text { wrong.append(text) }
        }
        #expect(wrong.isEmpty)
    }

    @Test(
        "forms and secrets in markup are masked; other text stays",
        arguments: [
            ("user=ann&password=s3cret", "user=ann&password=<redacted>"),
            ("password=a<b&c=d", "password=<redacted>&c=d"),
            ("grant_type=refresh_token&refresh_token=s3cret", "grant_type=refresh_token&refresh_token=<redacted>"),
            // A separator and a combining mark after it form one `Character`.
            ("token=\u{301}s3cret&\u{301}token=s3cret", "token=<redacted>&\u{301}token=<redacted>"),
            ("<a href=\"?page=1&token=x\">", "<a href=\"?page=1&token=<redacted>\">"),
            (
                "<r><access_token>s3cret</access_token><a>b</a></r>",
                "<r><access_token><redacted></access_token><a>b</a></r>"
            ), ("plain text", "plain text"), ("", ""),
        ])
    func forms(text: String, expected: String) {
        #expect(redaction.text(text) == expected)
    }

    @Test("a byte-order mark or a guard before JSON hides no secret", arguments: ["\u{FEFF}", ")]}',\n", "while(1);"])
    func prefixes(prefix: String) {
        #expect(redaction.text(prefix + #"{"token":"s3cret"}"#) == prefix + #"{"token":"<redacted>"}"#)
    }

    @Test("custom names and a custom mask are used")
    func ownNames() {
        var own = Redaction.standard.adding(headerNames: ["X-Tenant"], parameterNames: ["SSN"])
        own.mask = "***"
        #expect(own.value("t", ofHeader: "x-tenant") == "***")
        #expect(own.form("ssn=1&token=2&a=3") == "ssn=***&token=***&a=3")
        #expect(own.text(#"{"ssn":1}"#) == #"{"ssn":"***"}"#)
        #expect(Redaction.none.url("https://u:p@h/?token=x") == "https://u:p@h/?token=x")
    }
}
