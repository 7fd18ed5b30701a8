import Foundation
import Switchboard
import SwitchboardText
import SwitchboardTestSupport
import Testing

/// Regressions: texts in which secrets were visible, with `hunter2` as the secret, and texts that were damaged.
@Suite(.timeLimit(.minutes(10)))
struct RedactionRegressionTests {
    private let redaction = Redaction.standard
    private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.hunter2"

    private static func part(_ disposition: String, _ value: String) -> String {
        "--b\r\nContent-Disposition: form-data\(disposition)\r\n\r\n\(value)\r\n--b--\r\n"
    }

    @Test("any mask hides a token after its scheme, and the next secret", arguments: ["REDACTED", "***", "<>", ""])
    func masks(mask: String) {
        var redaction = Redaction.standard
        redaction.mask = mask
        for token in ["hunter2", "hunter2hunter2", mask] {
            #expect(redaction.text("token=Bearer \(token)") == "token=\(mask)")
            #expect(redaction.text("token=Bearer \(token)&password=hunter2") == "token=\(mask)&password=\(mask)")
        }
    }

    @Test(
        "a field that begins its line is masked to its end",
        arguments: ["X-Api-Key: ", "Authorization: ", "Authorization: Bearer ", "Cookie: a=1; sid=", "X-Auth-Token:"],
        [
            "abc\"hunter2", "it's)hunter2", "a<b>hunter2", "a}\"hunter2\"", "\"abc\"hunter2; hunter2",
            "\"abc\" hunter2", "\"abc\", hunter2", "\"abc\":hunter2", "'abc' (hunter2)",
            "abc; b=hunter2", "\"abc\", b: hunter2", "|hunter2", ">hunter2", "|11223344", ">12-34",
        ])
    func fieldsWithQuotes(name: String, value: String) {
        let text = redaction.text("GET / HTTP/1.1\r\n\(name)\(value)\r\nHost: a.example\r\n")
        let space = name.hasSuffix(":") ? "" : " "
        #expect(text == "GET / HTTP/1.1\r\n\(name.prefix { $0 != ":" }):\(space)<redacted>\r\nHost: a.example\r\n")
    }

    @Test("a combining mark before the user of a URL hides no password", arguments: ["Location", "Referer", "X"])
    func userAfterMark(header: String) {
        let text = redaction.value("https://\u{301}me:hunter2@h.example/a", ofHeader: header)
        #expect(!text.contains("hunter2") && text.hasSuffix("@h.example/a"))
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

    @Test(
        "a secret in a query is masked beside invalid escapes",
        arguments: [
            (
                "https://h/?next=%2Fcb%3Ftoken%3Dhunter2%26part%3D100%",
                "https://h/?next=%2Fcb%3Ftoken%3D<redacted>%26part%3D100%"
            ),
            (
                "https://h/?next=%2Fcb%3Ftoken%3Dhunter2%26name%3Dcaf%E9",
                "https://h/?next=%2Fcb%3Ftoken%3D<redacted>%26name%3Dcaf%E9"
            ),
            ("https://h/?caf%E9%5Btoken%5D=hunter2", "https://h/?caf%E9%5Btoken%5D=<redacted>"),
            ("https://h/?100%%5Btoken%5D=hunter2", "https://h/?100%%5Btoken%5D=<redacted>"),
        ])
    func malformedEscapes(url: String, expected: String) {
        #expect(redaction.url(url) == expected)
    }

    @Test(
        "a secret in an escaped URL is masked in any text",
        arguments: [
            (
                #"{"next":"/in?to=%2Fcb%3Ftoken%3Dhunter2%26a%3D1"}"#,
                #"{"next":"/in?to=%2Fcb%3Ftoken%3D<redacted>%26a%3D1"}"#
            ),
            ("see /in?to=%252Fcb%253Ftoken%253dhunter2%2526a", "see /in?to=%252Fcb%253Ftoken%253d<redacted>%2526a"),
            ("%26a%3D1%26token%3Dhunter2 and on", "%26a%3D1%26token%3D<redacted> and on"),
            ("50 % of a%3Dtoken%26b%3D%3D", "50 % of a%3Dtoken%26b%3D%3D"), ("%", "%"), ("%3D%25%2", "%3D%25%2"),
        ])
    func escapedURL(text: String, expected: String) {
        #expect(redaction.text(text) == expected)
    }

    // RFC 3986 §3.4: a query may contain these characters.
    @Test(
        "a URL in a query is masked although it is not escaped",
        arguments: [
            ("https://h/?next=/cb?access_token=hunter2&a=b", "https://h/?next=/cb?access_token=<redacted>&a=b"),
            ("https://h/?next=https://me:hunter2@h/&a=b", "https://h/?next=https://<redacted>@h/&a=b"),
            ("https://h/?next=a=b=c:d", "https://h/?next=a=b=c:d"),
        ])
    func nestedURL(url: String, expected: String) {
        #expect(redaction.url(url) == expected)
        #expect(redaction.form(String(url.dropFirst(11))) == String(expected.dropFirst(11)))
    }

    /// Checks that a text of any number of elements is masked in linear time: eight times the elements would take 64
    /// times as long if the rest of the text were read for each.
    private func checkGrowth(_ text: (Int) -> String) {
        let growth = growth(from: 1_000, to: 8_000, of: text) {
            #expect(!redaction.text($0).contains("hunter2"))
        }
        #expect(growth < 24)
    }

    @Test("thousands of elements that are not closed are masked in linear time")
    func unclosedElements() {
        checkGrowth { count in
            "<a>" + (0..<count).map { "<t\($0)token>hunter2<t\($0)token></t\($0)token>" }.joined() + "</a>"
        }
    }

    @Test("named elements in thousands of comments are masked in linear time")
    func namedElementsInComments() {
        checkGrowth { "x " + String(repeating: "<!-- <a name=\"token\">hunter2 -->", count: $0) }
        checkGrowth { "<i>" + String(repeating: "<a name=\"token\"><!--hunter2", count: $0) }
    }

    @Test("thousands of escapes of JSON are read in linear time")
    func escapes() {
        checkGrowth { String(repeating: #"?a\u003d1\u0026key=c\/hunter2 "#, count: $0) }
        checkGrowth { String(repeating: #"?token=ab\u00e9hunter2 "#, count: $0) }
        checkGrowth { String(repeating: #"\nSession: hunter2"#, count: $0) }
        checkGrowth { String(repeating: #"\n\t- X-Key:a\\nX-Key:hunter2"#, count: $0) }
        checkGrowth { String(repeating: #"\nsecret: >\n  hunter2\n    hunter2"#, count: $0) }
        checkGrowth { "no token: " + String(repeating: #"a:\\n"#, count: $0) + #"X-Key:hunter2"# }
        checkGrowth { #"\nX-Key:hunter2"# + String(repeating: #"\\nX-Key:hunter2"#, count: $0) }
        checkGrowth { String(repeating: #"\"#, count: $0 * 8) + #"u0022?token\u003dhunter2"# }
    }

    @Test("thousands of private keys without an end are masked in linear time")
    func privateKeys() {
        let begin = "-----BEGIN PRIVATE KEY-----"
        checkGrowth { String(repeating: "\(begin)\nhunter2 ", count: $0) }
        checkGrowth { String(repeating: "\(begin)-", count: $0) + "\nhunter2" }
        checkGrowth { "\(begin)\nhunter2" + String(repeating: ".", count: $0 * 8) }
        checkGrowth { String(repeating: "-", count: $0 * 8) + "token=hunter2" }
        checkGrowth {
            String(repeating: " :", count: $0 * 4) + String(repeating: " ", count: $0 * 4) + ": token=hunter2"
        }
    }

    @Test("thousands of names in apostrophes are read in linear time")
    func namesInApostrophes() {
        checkGrowth { String(repeating: "'token': it's hunter2, ", count: $0) }
        checkGrowth { "'token': bb" + String(repeating: "b'", count: $0) + "hunter2" }
    }

    @Test("a secret element in thousands of comments is masked in linear time")
    func elementAcrossComments() {
        checkGrowth { "x " + String(repeating: "<!--<token>hunter2-->", count: $0) + "<!--</token>-->" }
    }

    @Test("an end tag in an attribute of a secret element ends no masking")
    func endTagInAttribute() {
        let text = #"<!--<token a="</token>">hunter2</token>-->"#
        #expect(!redaction.text(text).contains("hunter2"))
    }

    @Test("a secret element that ends in a later section is masked up to there")
    func elementAcrossSections() {
        let text = "<a><![CDATA[<token>hunter2]]><b/><![CDATA[hunter2</token>c]]></a>"
        #expect(redaction.text(text) == "<a><![CDATA[<token><redacted></token>c]]></a>")
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

    @Test(
        "a credential behind the name of its scheme is masked in prose",
        arguments: [
            // Examples of RFC 6750 §2.1 and of RFC 7617 §2.
            "Bearer mF_9.B5f-4.1JqM", "bearer 2YotnFZFEjr1zCsicMWpAA==", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
            "Basic dXNlcjpwYXNz", "basic dXNlcjpwYXNzdw", "(Basic  dXNlcjpwYXNz", "Bearer \tmF_9.B5f-4.1JqM",
        ])
    func credentials(text: String) throws {
        let secret = try #require(text.split(whereSeparator: \.isWhitespace).last)
        let masked = text.replacingOccurrences(of: secret, with: "<redacted>")
        #expect(redaction.text("cannot use \(text).") == "cannot use \(masked).")
        #expect(redaction.text("cannot use \(text)... ok") == "cannot use \(masked)... ok")
        #expect(redaction.text("cannot use '\(text)', sorry") == "cannot use '\(masked)', sorry")
        #expect(redaction.text(#"{"message": "\#(text)"}"#) == #"{"message": "\#(masked)"}"#)
        #expect(redaction.value(text, ofHeader: "X-Echo") == masked)
    }

    @Test(
        "words after the name of a scheme stay",
        arguments: [
            "Bearer authentication-required", "Basic authentication", "a basic line: done", "Bearer  token", "basic ",
            "Bearer realm=\"0123456789abcdef\", error=\"invalid_token\"", "Basic Overview", "Bearer Only",
            "Bearer realm=api2.example.com", "Basic charset=UTF-8-1234", "forebearer 2YotnFZFEjr1zCsicMWpAA",
        ])
    func wordsAfterSchemes(text: String) {
        #expect(redaction.text(text) == text)
    }

    @Test("a field needs no space, and a secret follows the name of its scheme")
    func schemes() {
        #expect(
            redaction.text("GET / HTTP/1.1\r\nX-Api-Key:hunter2\r\n") == "GET / HTTP/1.1\r\nX-Api-Key:<redacted>\r\n")
        for secret in ["hunter2", "mF_9.B5f-4.1JqM"] {
            #expect(redaction.text("authorization=Bearer \(secret) next") == "authorization=<redacted> next")
        }
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

    @Test(
        "a message about a name in apostrophes leaves JSON valid",
        arguments: [
            (
                #"{"message":"value of \u0027password\u0027: too short","a":1}"#,
                #"{"message":"value of \u0027password\u0027: too short","a":1}"#
            ),
            (#"{"message":"'password': can't be blank","a":1}"#, #"{"message":"'password': can't be blank","a":1}"#),
            (#"{"error":"'token': expired"}"#, #"{"error":"'token': expired"}"#),
            (#"{"error":"'token': hunter2"}"#, #"{"error":"'token': '<redacted>'"}"#),
            (#"{"error":"'token': it's hunter2","a":1}"#, #"{"error":"'token': '<redacted>'","a":1}"#),
            (#"{"error":"'token': \"hunter2\" is old"}"#, #"{"error":"'token': '<redacted>'"}"#),
            // The quote that ends the text may follow a character before which a string begins.
            (#"{"error":"'token': aHVudGVyMg==","a":1}"#, #"{"error":"'token': '<redacted>'","a":1}"#),
            (#"{"error":"'token': hunter2:","a":"b"}"#, #"{"error":"'token': '<redacted>'","a":"b"}"#),
            (#"{"error":"'token': hunter2 "}"#, #"{"error":"'token': '<redacted>'"}"#),
        ])
    func messagesWithApostrophes(text: String, expected: String) throws {
        redaction.check(text, expected)
        let object = try JSONSerialization.jsonObject(with: Data(expected.utf8))
        #expect(object is [String: Any])
    }

    @Test(
        "a string after letters or a name is masked, as Python prints it",
        arguments: [
            (#"{'token': b"it's hunter2", 'a': 1}"#, "{'token': '<redacted>', 'a': 1}"),
            ("'token': hun\"ter2\n'a': b", "'token': '<redacted>'\n'a': b"),
            (#"{'token': rb'hunter2, hunter2', 'a': 1}"#, "{'token': '<redacted>', 'a': 1}"),
            (#"{\'token\': u\"hunter2, hunter2\"}"#, #"{\'token\': \'<redacted>\'}"#),
            (#"{'token': Token "it's hunter2, hunter2"}"#, "{'token': '<redacted>'}"),
        ])
    func stringsWithPrefix(text: String, expected: String) { redaction.check(text, expected) }

    @Test(
        "a secret in a sentence that begins like a word is masked",
        arguments: [
            ("sent with token: a8f5f167, then it failed", "sent with token: <redacted>, then it failed"),
            ("Login(user: \"ann\", token: \"is-hunter2\")", "Login(user: \"ann\", token: \"<redacted>\")"),
            ("bad api_key: use_hunter2", "bad api_key: <redacted>"),
            (
                #"{"query":"mutation { login(password: \"get2hunter2\") { id } }"}"#,
                #"{"query":"mutation { login(password: \"<redacted>\") { id } }"}"#
            ),
            ("the token: it's old, the password: can't be blank", "the token: it's old, the password: can't be blank"),
        ])
    func words(text: String, expected: String) { redaction.check(text, expected) }

    @Test(
        "a quoted secret directly after the colon of its name is masked",
        arguments: [
            (
                #"{"query":"mutation{login(mail:\"a\",password:\"hunter2\"){id}}"}"#,
                #"{"query":"mutation{login(mail:\"a\",password:\"<redacted>\"){id}}"}"#
            ),
            ("load({user:'ann',token:'hunter2'})", "load({user:'ann',token:'<redacted>'})"),
            ("the token:'it is old'", "the token:'it is old'"),
        ])
    func quotesAfterColon(text: String, expected: String) { redaction.check(text, expected) }

    @Test(
        "a secret in brackets in the description of a Swift value is masked",
        arguments: [
            (
                "Login(user: Optional(\"ann\"), token: Optional(\"hunter2\"))",
                "Login(user: Optional(\"ann\"), token: <redacted>)"
            ),
            ("{token: Optional(\"hunter2\"), a: b}", "{token: <redacted>, a: b}"),
            ("Login(token: [\"hunter2\", \"hunter2\"], a: 1)", "Login(token: <redacted>, a: 1)"),
            ("Login(token: Token(value: \"hunter2)\"), a: 1)", "Login(token: <redacted>\"), a: 1)"),
            (#"{"log":"for token: Optional(\"hunter2\")","a":1}"#, #"{"log":"for token: <redacted>","a":1}"#),
            ("with token: Optional(\"hunter2", "with token: <redacted>"),
            ("sent Authorization: Optional(\"Bearer hunter2\")", "sent Authorization: <redacted>"),
        ])
    func brackets(text: String, expected: String) { redaction.check(text, expected) }

    @Test(
        "a secret in the description of a dictionary of Foundation is masked",
        arguments: [
            (
                "{\n    \"access_token\" = \"a hunter2\";\n    \"a_b\" = \"c d\";\n}",
                "{\n    \"access_token\" = \"<redacted>\";\n    \"a_b\" = \"c d\";\n}"
            ),
            (
                "{\n    \"access_token\" =     (\n        hunter2,\n        hunter2\n    );\n    a = b;\n}",
                "{\n    \"access_token\" =     \"<redacted>\"\n    a = b;\n}"
            ),
            (
                #"[AnyHashable("token"): hunter2, AnyHashable("a"): b]"#,
                #"[AnyHashable("token"): "<redacted>", AnyHashable("a"): b]"#
            ),
            (#"if "token" == "a" {}"#, #"if "token" == "a" {}"#),
            (#"["password"] = hunter2"#, #"["password"] = "<redacted>""#),
            (#"{"password" := "hunter2"}"#, #"{"password" :"<redacted>"}"#),
            (#"{"password": =hunter2}"#, #"{"password": "<redacted>"}"#),
            (#"no field ("password"): at [line 3]"#, #"no field ("password"): at [line 3]"#),
            (#"["token"]: denied [errno 13]"#, #"["token"]: denied [errno 13]"#),
        ])
    func dictionaries(text: String, expected: String) {
        redaction.check(text, expected)
        #expect(NetworkError(.custom, reason: text).description.contains(expected))
    }

    @Test("a secret in JSON within a URL, a field or a message is masked")
    func json() {
        let json = #"{"a":1,"password":"hunter2"}"#
        let masked = #"{"a":1,"password":"<redacted>"}"#
        #expect(redaction.url("https://h/?v=\(json)&b=c") == "https://h/?v=\(masked)&b=c")
        #expect(
            redaction.url("https://h/?v=%7B%22a%22%3A1%2C%22password%22%3A%22hunter2%22%7D&b=c")
                == "https://h/?v=%7B%22a%22%3A1%2C%22password%22%3A%22<redacted>%22%7D&b=c")
        #expect(redaction.value(json, ofHeader: "X-Arguments") == masked)
        let error = NetworkError(.custom, reason: "refused \(json)")
        #expect(error.description.contains("refused \(masked)"))
        let body = Data(#"{"message":"refused {\"password\":\"hunter2\"}"}"#.utf8)
        #expect(ServerMessage(keys: ["message"]).text(in: body) == #"refused {"password":"<redacted>"}"#)
    }

    @Test(
        "the text of an element whose attribute names a secret is masked",
        arguments: [
            (
                #"<resources><string name="api_key">hunter2</string><string name="a">b</string></resources>"#,
                #"<resources><string name="api_key"><redacted></string><string name="a">b</string></resources>"#
            ),
            (
                #"<entry key="db.password"><![CDATA[hunter2]]></entry>"#,
                #"<entry key="db.password"><redacted></entry>"#
            ),
            (
                #"<entry key="db.password">a<!-- <a name="token">b</a> -->c</entry>d"#,
                #"<entry key="db.password"><redacted></entry>d"#
            ),
            (#"<div id="token"><p>a</p></div>"#, #"<div id="token"><p>a</p></div>"#),
            (#"<input name="token" value="hunter2"> a"#, #"<input name="token" value="<redacted>"> a"#),
        ])
    func namedElements(text: String, expected: String) { redaction.check(text, expected) }

    @Test(
        "a secret after an arrow is masked, as Ruby and PHP print it",
        arguments: [
            (#"{"password"=>"hunter2", "a"=>"b"}"#, #"{"password"=>"<redacted>", "a"=>"b"}"#),
            (
                #"{"user" => {"password" => "a hunter2", "b" => "c"}, "pin" => 53}"#,
                #"{"user" => {"password" => "<redacted>", "b" => "c"}, "pin" => "<redacted>"}"#
            ),
            (#"{:password=>"hunter2", :code=>5}"#, #"{:password=>"<redacted>", :code=>5}"#),
            (#"{"log":"{\"token\"=>\"hunter2\"}","a":1}"#, #"{"log":"{\"token\"=>\"<redacted>\"}","a":1}"#),
            ("array('token' => 'hunter2', 'a' => 'b')", "array('token' => '<redacted>', 'a' => 'b')"),
            (
                "array (\n 'tokens' =>\n array (\n 0 => 'hunter2',\n 1 => 'hunter2',\n ),\n 'a' => 1)",
                "array (\n 'tokens' =>\n '<redacted>',\n 'a' => 1)"
            ),
            (
                "[\"password\"]=>\n  string(7) \"hunter2\"\n  [\"a\"]=>\n  int(1)",
                "[\"password\"]=>\n  \"<redacted>\"\n  [\"a\"]=>\n  int(1)"
            ),
            ("[password] => hunter2 hunter2\n[a] => b", "[password] => <redacted>\n[a] => b"),
            (
                #"{"password"=>nil, :csrf=>"<redacted>", "a"=>"token"}"#,
                #"{"password"=>nil, :csrf=>"<redacted>", "a"=>"token"}"#
            ),
            ("<a href=https://h/?token=>text</a>", "<a href=https://h/?token=>text</a>"),
        ])
    func arrows(text: String, expected: String) { redaction.check(text, expected) }

    @Test(
        "the value after an element that names a secret is masked",
        arguments: [
            (
                "<plist><dict><key>password</key><string>hunter2</string><key>a</key><string>b</string></dict></plist>",
                "<plist><dict><key>password</key><string><redacted></string><key>a</key><string>b</string></dict></plist>"
            ),
            (
                "<dict>\n\t<key> api_key </key>\n\t<data>\n\thunter2\n\t</data>\n</dict>",
                "<dict>\n\t<key> api_key </key>\n\t<data><redacted></data>\n</dict>"
            ),
            (
                "<key>tokens</key><array><string>hunter2</string><string>hunter2</string></array><a>b</a>",
                "<key>tokens</key><array><redacted></array><a>b</a>"
            ),
            (
                "<member><name>password</name><value><string>hunter2</string></value></member>",
                "<member><name>password</name><value><redacted></value></member>"
            ),
            ("<key>password</key><string>hunter2", "<key>password</key><string><redacted>"),
            ("<key>password</key><true/><string>a</string>", "<key>password</key><true/><string>a</string>"),
            ("<key>a</key><string>token</string>", "<key>a</key><string>token</string>"),
            (
                "<name>password</name><type>text</type><value>b</value>",
                "<name>password</name><type>text</type><value>b</value>"
            ),
            // Elements and attributes with the name of a secret.
            (
                "<ns:client_secret a=\"1\">hunter2</ns:client_secret>",
                "<ns:client_secret a=\"1\"><redacted></ns:client_secret>"
            ),
            ("<user password='hunter2' a=\"b\"/>", "<user password='<redacted>' a=\"b\"/>"),
        ])
    func elements(text: String, expected: String) { redaction.check(text, expected) }

    @Test(
        "a message about a secret and a value that is none are shown",
        arguments: [
            "password: required", "token: is invalid", "Token: has expired.",
            "email: a\npassword: can't be blank\nb: c",
            "password: is too short (minimum is 8 characters)", "  - password: must be at least 12 characters, not 8",
            "password: \"is invalid\"", "password: null\ncsrf: false\n", "token: nil",
            #"{"password":null,"csrf":true,"otp":false}"#, "{\"token\" : null\r\n}", "{'password': None, 'csrf': True}",
            #"{"b":"{\"password\":null}"}"#, #"[{"name":"password","value":null},{"value":true,"name":"csrf"}]"#,
        ])
    func harmless(text: String) { redaction.check(text, text) }

    @Test(
        "a value that resembles a message, a number and a string are masked",
        arguments: [
            ("Token: abc123", "Token: <redacted>"), ("token: required1", "token: <redacted>"),
            ("password: is hunter2", "password: <redacted>"),
            ("password: is 1234", "password: <redacted>"), ("password: is abc", "password: <redacted>"),
            ("password: login", "password: <redacted>"),
            ("password: value", "password: <redacted>"), ("pin: 123", "pin: <redacted>"),
            ("password: correct horse is invalid", "password: <redacted>"),
            ("X-Auth-Token: required", "X-Auth-Token: <redacted>"),
            (
                #"{"pin":1234,"cvv":123,"otp":0,"mfa_code":12,"password":1}"#,
                #"{"pin":"<redacted>","cvv":"<redacted>","otp":"<redacted>","mfa_code":"<redacted>","password":"<redacted>"}"#
            ),
            (#"{"password":"null","csrf":"true"}"#, #"{"password":"<redacted>","csrf":"<redacted>"}"#),
            (#"{"password":nullhunter2,"csrf":[true]}"#, #"{"password":"<redacted>","csrf":"<redacted>"}"#),
        ])
    func values(text: String, expected: String) { redaction.check(text, expected) }

    @Test("of a large body, only the beginning and a margin are read")
    func beginning() throws {
        let redactor = Redactor.standard
        let limit = 100
        // After the margin: bytes that are no text, which would be noticed if they were read.
        let body = Data((String(repeating: "a", count: limit + Redactor.margin)).utf8) + Data([0xFF, 0, 0xFF])
        #expect(redactor.beginning(of: body, limit: limit) == String(repeating: "a", count: limit))
        #expect(redactor.beginning(of: body.dropFirst(4), limit: limit) == nil)
        #expect(redactor.beginning(of: Data("token=hunter2".utf8), limit: 100) == "token=<redacted>")
    }

    @Test("no cut of a body shows a part of a secret", arguments: 0...120)
    func cuts(limit: Int) {
        let tail = String(repeating: "x", count: Redactor.margin * 2)
        let texts = [
            #"{"a":"b","password":"hunter2 hunter2","c":"é","name":"\#(tail)"}"#,
            #"{"a":"b","list":[{"value":"hunter2","name":"token"}],"c":"\#(tail)"}"#,
            #"<form><input value="hunter2" type="hidden" name="csrf_token"><p>\#(tail)</p></form>"#,
            "a=b&token=hunter2hunter2&c=\(tail)", "a: b\npassword: hunter2\nc: \(tail)",
            Self.part("; name=a\r\nContent-Disposition: form-data;\r\n name=password", "hunter2") + tail,
            "GET /verify/\(Self.token)?\(tail)", #"{"a"=>"b", "password"=>"hunter2 hunter2", "c"=>"\#(tail)"}"#,
            "<dict><key>a</key><string>b</string><key>token</key><string>hunter2</string><a>\(tail)</a></dict>",
        ]
        for text in texts {
            let shown = Redactor.standard.beginning(of: Data(text.utf8), limit: limit)
            #expect(shown?.contains("hu") == false && (shown?.utf8.count ?? 0) <= limit)
        }
    }
}
