import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// Texts as they appear in bodies, with `hunter2` as the secret.
@Suite(.timeLimit(.minutes(10)))
struct BodyRedactionTests {
    private let redaction = Redaction.standard

    @Test(
        "secrets are masked in every format, and other text stays",
        arguments: [
            // Header fields.
            ("Authorization: Bearer hunter2", "Authorization: <redacted>"),
            ("Authorization:Bearer hunter2", "Authorization:<redacted>"),
            ("GET / HTTP/1.1\r\nX-Auth: hunter2\r\nAccept: a/b", "GET / HTTP/1.1\r\nX-Auth: <redacted>\r\nAccept: a/b"),
            ("Cookie: a=hunter2; b=hunter2\nHost: h", "Cookie: <redacted>\nHost: h"),
            (
                #"got Authorization: Digest username="hunter2", response="hunter2""# + "\nHost: h",
                "got Authorization: <redacted>\nHost: h"
            ),
            (
                "Authorization: Digest a=\"b\",\r\n response=\"hunter2\"\r\nHost: h",
                "Authorization: <redacted>\r\nHost: h"
            ),
            (#"{"sent":"Authorization: Basic hunter2=","a":"b"}"#, #"{"sent":"Authorization: <redacted>","a":"b"}"#),
            (#"{"sent":"Cookie: a=hunter2\r\nHost: h"}"#, #"{"sent":"Cookie: <redacted>\r\nHost: h"}"#),
            (#"{"sent":"a\r\nSet-Cookie: a=hunter2\r\nb"}"#, #"{"sent":"a\r\nSet-Cookie: <redacted>\r\nb"}"#),
            (#"{"sent":"a\nX-Auth: hunter2"}"#, #"{"sent":"a\nX-Auth: <redacted>"}"#),
            (#"{"sent":"a\r\nSession: hunter2\r\nb"}"#, #"{"sent":"a\r\nSession: <redacted>\r\nb"}"#),
            (
                #"{"sent":"a\r\nX-Api-Key: a, hunter2\r\nHost: h"}"#,
                #"{"sent":"a\r\nX-Api-Key: <redacted>\r\nHost: h"}"#
            ),
            (#"{"sent":"a\nX-Auth: \"hunter2\"\nb: c"}"#, #"{"sent":"a\nX-Auth: \"<redacted>\"\nb: c"}"#),
            (#"{"yaml":"a: b\npassword: hunter2 hunter2\nc: d"}"#, #"{"yaml":"a: b\npassword: <redacted>\nc: d"}"#),
            (#"{"log":"a\ntoken: Optional(\"hunter2\")\nb"}"#, #"{"log":"a\ntoken: <redacted>\nb"}"#),
            (#"{"log":"a\npassword: is too short\nb"}"#, #"{"log":"a\npassword: is too short\nb"}"#),
            (
                #"{"sent":"a\r\nSec-WebSocket-Protocol: bearer, hunter2\r\nHost: h"}"#,
                #"{"sent":"a\r\nSec-WebSocket-Protocol: bearer, <redacted>\r\nHost: h"}"#
            ),
            (#"{"sent":"a\nBearer hunter2hunter2"}"#, #"{"sent":"a\nBearer <redacted>"}"#),
            (#"{"sent":"a\nsid=hunter2\tpwd=hunter2"}"#, #"{"sent":"a\nsid=<redacted>\tpwd=<redacted>"}"#),
            (#"C:\token=hunter2 \n: a"#, #"C:\token=<redacted> \n: a"#),
            // JSON within JSON, and names with escapes.
            (
                #"{"body":"{\"password\":\"hunter2\",\"a\":\"b\"}"}"#,
                #"{"body":"{\"password\":\"<redacted>\",\"a\":\"b\"}"}"#
            ),
            (#"{"b":"{\"password\":53,\"a\":1}","c":2}"#, #"{"b":"{\"password\":\"<redacted>\",\"a\":1}","c":2}"#),
            (#"{"b":"{\"pwd\":53"}"#, #"{"b":"{\"pwd\":\"<redacted>\""}"#),
            (
                #"{"b":"{\"c\":\"{\\\"token\\\":\\\"hunter2\\\",\\\"d\\\":1}\"}"}"#,
                #"{"b":"{\"c\":\"{\\\"token\\\":\\\"<redacted>\\\",\\\"d\\\":1}\"}"}"#
            ),
            (#"{"b":"{\"token\":\"a\\\"hunter2\",\"d\":1}"}"#, #"{"b":"{\"token\":\"<redacted>\",\"d\":1}"}"#),
            (#"{"pass\u0077ord":"hunter2","a":1}"#, #"{"pass\u0077ord":"<redacted>","a":1}"#),
            (#"{"b":"{\"pass\\u0077ord\":\"hunter2\"}"}"#, #"{"b":"{\"pass\\u0077ord\":\"<redacted>\"}"}"#),
            (#"a 5" pipe: {"password":"hunter2"}"#, #"a 5" pipe: {"password":"<redacted>"}"#),
            ("{'password': 'hunter2', 'a': 'b'}", "{'password': '<redacted>', 'a': 'b'}"),
            (
                #"{"credential":"hunter2","bearer":"hunter2","passcode":1}"#,
                #"{"credential":"<redacted>","bearer":"<redacted>","passcode":"<redacted>"}"#
            ),
            (#"{"text":"the token: \"it\" is old","tokens":3}"#, #"{"text":"the token: \"it\" is old","tokens":3}"#),
            // Markup.
            (#"<user name="ann" password="hunter2"/>"#, #"<user name="ann" password="<redacted>"/>"#),
            (
                #"<a:user a:password = 'hunter2' b="c">d</a:user>"#,
                #"<a:user a:password = '<redacted>' b="c">d</a:user>"#
            ),
            (
                #"<input type="hidden" name="csrf_token" value="hunter2">"#,
                #"<input type="hidden" name="csrf_token" value="<redacted>">"#
            ),
            (#"<add value="hunter2" key="ApiKey"/>"#, #"<add value="<redacted>" key="ApiKey"/>"#),
            (
                "<r><password><![CDATA[a</b>hunter2]]></password><a>b</a></r>",
                "<r><password><redacted></password><a>b</a></r>"
            ),
            ("<secret><v>hunter2</v><secret>hunter2</secret></secret>a", "<secret><redacted></secret>a"),
            (#"{"xml":"<user password=\"hunter2\"/>"}"#, #"{"xml":"<user password=\"<redacted>\"/>"}"#),
            (#"<user password="hunter2"#, #"<user password="<redacted>"#),
            ("<r><password>hunter2", "<r><password><redacted>"),
            ("if a <b and c> d, the <token> is old", "if a <b and c> d, the <token> is old"),
            ("<item key=\"a\" code=\"b\">c</item>", "<item key=\"a\" code=\"b\">c</item>"),
            // Forms with parts.
            (
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhunter2\r\n--hunter2\r\n--b\r\n"
                    + "Content-Disposition: form-data; name=a\r\n\r\nc\r\n--b--\r\n",
                "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n<redacted>\r\n--b\r\n"
                    + "Content-Disposition: form-data; name=a\r\n\r\nc\r\n--b--\r\n"
            ),
            (
                "--b\r\ncontent-disposition: form-data; filename=\"a;b\"; name=\"api_key\"\r\nContent-Type: text/plain\r\n\r\nhunter2",
                "--b\r\ncontent-disposition: form-data; filename=\"a;b\"; name=\"api_key\"\r\nContent-Type: text/plain\r\n\r\n<redacted>"
            ),
            // YAML.
            ("user: ann\npassword: hunter2, hunter2\nage: 3", "user: ann\npassword: <redacted>\nage: 3"),
            ("a:\n  - token: 'hunter2'\n    b: c\n", "a:\n  - token: <redacted>\n    b: c\n"),
            ("secret: |\n  hunter2\n\n  hunter2\na: b", "secret: |\n<redacted>\n\na: b"),
            ("secret: >-\n  hunter2\na: b", "secret: >-\n<redacted>\na: b"),
            ("secret: | # of ann\n  hunter2\na: b", "secret: | # of ann\n<redacted>\na: b"),
            ("secret: >2-\n  hunter2\na: b", "secret: >2-\n<redacted>\na: b"),
            ("secret: |4711\nsecret: >12\na: b", "secret: <redacted>\nsecret: <redacted>\na: b"),
            ("secret: |hunter2\nsecret: >hunter2\na: b", "secret: <redacted>\nsecret: <redacted>\na: b"),
            ("password:\n  hunter2\na: b", "password:\n<redacted>\na: b"),
            ("{password: hunter2, a: b}", "{password: <redacted>, a: b}"),
            // A blank before the colon (YAML 1.2.2 §7.4).
            (
                "user : ann\n  word : a\npassword : hunter2, hunter2\nage : 3",
                "user : ann\n  word : a\npassword : <redacted>\nage : 3"
            ),
            ("- token\t: hunter2\n  a: b", "- token\t: <redacted>\n  a: b"),
            ("secret : |\n  hunter2\na: b", "secret : |\n<redacted>\na: b"),
            (#"{"yaml":"a: b\npassword : hunter2 hunter2\nc: d"}"#, #"{"yaml":"a: b\npassword : <redacted>\nc: d"}"#),
            ("the token : it is old, no token : none", "the token : it is old, no token : none"),
            // Header fields in JSON, as servers return them for tests.
            (
                #"{"headers":{"Cookie":"a=hunter2","X-Auth":"hunter2","Host":"h"}}"#,
                #"{"headers":{"Cookie":"<redacted>","X-Auth":"<redacted>","Host":"h"}}"#
            ),
            (
                #"{"set-cookie":["a=hunter2; Path=/","b=hunter2"],"x-key":"hunter2","cookie_policy":"a","auth-type":"b"}"#,
                #"{"set-cookie":"<redacted>","x-key":"<redacted>","cookie_policy":"a","auth-type":"b"}"#
            ),
            ("bad request, password: it is too short", "bad request, password: it is too short"),
            // URLs in text.
            ("see postgres://me:hunter2@h/db?a=b", "see postgres://<redacted>@h/db?a=b"),
            ("at https://h/a;jsessionid=hunter2?b=c", "at https://h/a;jsessionid=<redacted>"),
            ("mail a@b.example: at 10:15 https://h/@c", "mail a@b.example: at 10:15 https://h/@c"),
            // Escapes of JSON (RFC 8259 §7), also in JSON within JSON.
            (#"{"n":"https:\/\/h\/?token=ab12\/hunter2"}"#, #"{"n":"https:\/\/h\/?token=<redacted>"}"#),
            (#"{"n":"?token=ab12\u002bhunter2\u0026a=b"}"#, #"{"n":"?token=<redacted>\u0026a=b"}"#),
            (#"{"n":"?token\u003dhunter2"}"#, #"{"n":"?token\u003d<redacted>"}"#),
            (#"{"n":"?a=1\u0026key=hunter2"}"#, #"{"n":"?a=1\u0026key=<redacted>"}"#),
            (#"{"n":"?a\u003D1\u0026code\u003Dhunter2"}"#, #"{"n":"?a\u003D1\u0026code\u003D<redacted>"}"#),
            (#"{"n":"https:\/\/me:hunter2@h\/"}"#, #"{"n":"https:\/\/<redacted>@h\/"}"#),
            (#"{"n":"https\u003a//me:hunter2\u0040h/"}"#, #"{"n":"https\u003a//<redacted>\u0040h/"}"#),
            (
                #"{"b":"{\"n\":\"https:\\\/\\\/h\\\/?a=1\\u0026key=c\\\/hunter2\"}"}"#,
                #"{"b":"{\"n\":\"https:\\\/\\\/h\\\/?a=1\\u0026key=<redacted>\"}"}"#
            ),
            (
                #"{"b":"{\u0022password\u0022:\u0022hunter2\u0022,\u0022a\u0022:1}"}"#,
                #"{"b":"{\u0022password\u0022:\u0022<redacted>\u0022,\u0022a\u0022:1}"}"#
            ),
            (
                #"{"b":"{\"c\":\"{\\u0022token\\u0022:\\u0022hunter2\\u0022}\"}"}"#,
                #"{"b":"{\"c\":\"{\\u0022token\\u0022:\\u0022<redacted>\\u0022}\"}"}"#
            ),
            (
                #"{"b":"\u003ctoken\u003ehunter2\u003c/token\u003e\u003ca\u003e"}"#,
                #"{"b":"\u003ctoken\u003e<redacted>\u003c/token\u003e\u003ca\u003e"}"#
            ),
            (#"{"a":"\u0026 \/ \u00e9 \n \\","b":"\u003c"}"#, #"{"a":"\u0026 \/ \u00e9 \n \\","b":"\u003c"}"#),
            // An escaped character ends no secret.
            (#"{"sent":"X-Api-Key: ab\u003chunter2"}"#, #"{"sent":"X-Api-Key: <redacted>"}"#),
            (#"{"sent":"Cookie: a=b\u003ehunter2"}"#, #"{"sent":"Cookie: <redacted>"}"#),
            (#"{'password':'ab\u0027hunter2'}"#, "{'password':'<redacted>'}"),
            (#"see token='ab\u0027hunter2' now"#, "see token='<redacted>' now"),
            (#"<input name="token" value="ab\u0022hunter2">"#, #"<input name="token" value="<redacted>">"#),
            (#"{"n":"?token=ab\u00e9hunter2\u0026a=b"}"#, #"{"n":"?token=<redacted>\u0026a=b"}"#),
            (#"{"n":"postgres://me:\ud83d\ude00hunter2@h/"}"#, #"{"n":"postgres://<redacted>@h/"}"#),
            (#"{"b":"{\"n\":\"?token=ab\\u20achunter2\"}"}"#, #"{"b":"{\"n\":\"?token=<redacted>\"}"}"#),
            // Numeric references of markup.
            (#"<a href="?token=ab&#233;&#x1F600;hunter2">"#, #"<a href="?token=<redacted>">"#),
            (
                #"<a href="https:&#x2F;&#x2F;h&#47;?token&#x3D;ab&#43;hunter2&amp;a=b">"#,
                #"<a href="https:&#x2F;&#x2F;h&#47;?token&#x3D;<redacted>&amp;a=b">"#
            ),
        ])
    func texts(text: String, expected: String) { redaction.check(text, expected) }

    // RFC 7468 §10 and §11, RFC 1421 §4.6 and RFC 9580 §6.2: the labels and the lines of keys.
    @Test(
        "a private key in PEM is masked without a name, up to its last line",
        arguments: [
            ("…", "<redacted>"), ("a …, b", "a <redacted>, b"), ("a: b\n…\nc: d", "a: b\n<redacted>\nc: d"),
            (#"{"a":"…\n","b":1}"#, #"{"a":"<redacted>\n","b":1}"#),
            (#"{"private_key":"…\n","b":1}"#, #"{"private_key":"<redacted>","b":1}"#),
            (#"{"a":"{\"b\":\"…\"}"}"#, #"{"a":"{\"b\":\"<redacted>\"}"}"#),
            ("export PRIVATE_KEY=\"…\"\nA=b", "export PRIVATE_KEY=\"<redacted>\"\nA=b"),
            ("a:\n  b: |\n    …\n  c: d", "a:\n  b: |\n    <redacted>\n  c: d"),
            ("<a>…</a>", "<a><redacted></a>"), ("… and …", "<redacted> and <redacted>"),
        ])
    func privateKeys(text: String, expected: String) {
        let lines = ["hunter2/hunter2+Mb=", "hunter2=="]
        let head = ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,A1", ""]
        let comment = ["Version: 1 (a.b)", "Comment: <a@b.example>", ""]
        let isJSON = text.contains("{")
        let backslashes = text.contains(#"{\"#) ? #"\\"# : #"\"#
        let ends = isJSON ? ["\(backslashes)n", "\(backslashes)r\(backslashes)n"] : ["\n", "\r\n", " "]
        for (label, lines) in [
            ("PRIVATE KEY", lines), ("RSA PRIVATE KEY", head + lines), ("OPENSSH PRIVATE KEY", lines),
            ("PGP PRIVATE KEY BLOCK", comment + lines), ("ENCRYPTED PRIVATE KEY", lines),
        ] {
            for end in ends {
                let key = (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----"]).joined(separator: end)
                for key in isJSON ? [key, key.replacingOccurrences(of: "/", with: "\(backslashes)/")] : [key] {
                    redaction.check(text.replacingOccurrences(of: "…", with: key), expected)
                }
            }
        }
    }

    @Test("a form and a field with a private key in PEM are masked")
    func privateKeysInForms() {
        let key = "-----BEGIN EC PRIVATE KEY-----\nhunter2+hunter2/hunter2\n-----END EC PRIVATE KEY-----"
        let form = URLEncodedFormEncoder().encode([
            URLQueryItem(name: "a", value: key), URLQueryItem(name: "b", value: "c"),
        ])
        for form in [form, form.replacingOccurrences(of: "+", with: "%20")] {
            #expect(redaction.form(form) == "a=<redacted>&b=c")
            #expect(redaction.text(form) == "a=<redacted>&b=c")
        }
        let field = key.replacingOccurrences(of: "\n", with: " ")
        #expect(redaction.value(field, ofHeader: "X-Client-Cert") == "<redacted>")
    }

    @Test(
        "a private key that is cut is masked as far as its lines go",
        arguments: [
            ("-----BEGIN PRIVATE KEY-----\nhunter2\nhun", "<redacted>"),
            (#"{"a":"-----BEGIN PRIVATE KEY-----\nhunter2","b":"c"}"#, #"{"a":"<redacted>","b":"c"}"#),
            (
                #"{"a":"{\"b\":\"-----BEGIN PRIVATE KEY-----\\nhunter2\"}"}"#,
                #"{"a":"{\"b\":\"<redacted>\"}"}"#
            ),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END",
                "<redacted><redacted>"
            ),
        ])
    func cutPrivateKeys(text: String, expected: String) { redaction.check(text, expected) }

    @Test(
        "text about private keys and other PEM stay",
        arguments: [
            "expected '-----BEGIN PRIVATE KEY-----'", "no -----BEGIN RSA PRIVATE KEY-----",
            "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----", "----- BEGIN PRIVATE KEY", "-----BEGIN ",
        ])
    func otherPEM(text: String) { redaction.check(text, text) }

    @Test(
        "an escaped delimiter in a secret shows no part of it",
        arguments: [
            #"{"sent":"X-Api-Key: ab…"}"#, #"{"sent":"Cookie: a=ab…"}"#, #"{"sent":"Authorization: Digest ab…"}"#,
            #"{"password":"ab…","a":"b"}"#, #"{"name":"password","value":"ab…"}"#,
            #"{"b":"{\"password\":\"ab…\",\"a\":1}"}"#, "{'password': 'ab…', 'a': 'b'}",
            "see password='ab…' now", #"see password="ab…" now"#,
            #"<input name="token" value="ab…">"#, "<input name='token' value='ab…'>", "<input name=token value=ab…>",
            #"{"html":"<input name=\"token\" value=\"ab…\">"}"#, "<r><token>ab…</token></r>",
            "password: ab…", "{password: ab…}", "password=ab…&a=b",
        ])
    func escapedDelimiters(text: String) {
        let codes = ["3c", "3e", "27", "22", "29", "7d", "20", "26", "3b", "2c", "3a", "3d", "2f"]
        var escapes = codes.flatMap { [#"\u00"# + $0, #"\\u00"# + $0] }
        escapes += [#"\u00e9"#, #"\\u20ac"#, #"\ud83d\ude00"#]
        var values = escapes.flatMap { escape in ["hunter2", "a=hunter2", "a:hunter2"].map { escape + $0 } }
        // In a form, the ampersand of a reference begins another pair.
        if !text.hasPrefix("password=") {
            values += codes.map { "&#x\($0);hunter2" } + ["&#39;hunter2", "&#60;hunter2", "&#233;hunter2"]
        }
        for value in values {
            let masked = redaction.text(text.replacingOccurrences(of: "…", with: value))
            #expect(masked.contains("<redacted>") && !masked.contains("hunter2"), "\(masked)")
        }
    }

    @Test(
        "secret path and semicolon parameters are masked",
        arguments: [
            ("https://h/a;jsessionid=hunter2/b?c=d", "https://h/a;jsessionid=<redacted>/b?c=d"),
            ("https://h/a;JSESSIONID=hunter2", "https://h/a;JSESSIONID=<redacted>"),
            ("https://h/a;v=1;token=hunter2#b", "https://h/a;v=1;token=<redacted>#b"),
            (
                "https://h/?auth_key=hunter2&access_code=hunter2",
                "https://h/?auth_key=<redacted>&access_code=<redacted>"
            ),
            ("https://h/?a=1;token=hunter2;hunter2&b=c", "https://h/?a=1;token=<redacted>&b=c"),
            ("https://h/?a;token=hunter2&b=c", "https://h/?a;token=<redacted>&b=c"),
            ("https://h/?token=hunter2;hunter2", "https://h/?token=<redacted>"),
            ("https://h/a;v=1/b;w?c=d;e", "https://h/a;v=1/b;w?c=d;e"),
        ])
    func urls(text: String, expected: String) {
        #expect(redaction.url(text) == expected)
    }

    @Test(
        "fields of credentials, sessions and one-time codes are masked",
        arguments: [
            "X-Authorization", "X-Forwarded-Authorization", "X-Auth", "X-Session", "X-Session-Id", "Session",
            "X-GitHub-OTP", "DPoP", "X-Goog-IAP-JWT-Assertion", "X-Access-Code", "X-Pin", "X-Key", "X-Csrf",
            "X-CSRF-Token",
        ])
    func secretFields(name: String) {
        #expect(redaction.value("hunter2", ofHeader: name) == "<redacted>")
        #expect(redaction.value("hunter2", ofHeader: name.lowercased()) == "<redacted>")
    }

    @Test(
        "similar field names without secrets are shown",
        arguments: [
            "Access-Control-Allow-Credentials", "Access-Control-Expose-Headers", "Idempotency-Key", "Session-Timeout",
            "X-Authored-By", "Key-Id", "ETag", "X-Pinned", "Author",
        ])
    func harmlessFields(name: String) throws {
        #expect(redaction.value("true", ofHeader: name) == "true")
        #expect(redaction.text("\(name): true") == "\(name): true")
        #expect(redaction.text("{\"\(name)\":\"true\"}") == "{\"\(name)\":\"true\"}")
        let headers: HTTPHeaders = [name: "true"]
        #expect(headers.description == "\(name): true")
    }

    @Test("random text is masked without a trap")
    func anyText() {
        var random = SeededGenerator(seed: 11)
        let pieces = [
            "\"", "'", "\\", "{", "}", ":", ": ", ",", "=", ";", "&", "<", ">", "</", "/>", "\n", "\r\n", " ", "  ",
            "- ", "--", "token",
            "Authorization", "X-Key", "Content-Disposition", "name=", "://", "@", "|", "é", "\u{301}", "\0", "x", "%22",
        ]
        for _ in 0..<cases(2_000) {
            let text = (0..<Int.random(in: 0...16, using: &random)).map { _ in pieces.randomElement(using: &random)! }
                .joined()
            let masked = redaction.text(text)
            _ = (redaction.url(text), redaction.form(text), text.isEmpty)
            if Redaction.none.text(text) != text { Issue.record("\(text.debugDescription)") }
            if !masked.contains("<redacted>"), masked != text {
                Issue.record("\(text.debugDescription): \(masked.debugDescription)")
            }
        }
    }

    @Test("truncated text shows no part of a secret in any format")
    func cutShort() {
        let texts = [
            #"{"body":"{\"password\":\"hunter2\",\"pass\\u0077ord\":\"hunter2\"}"}"#,
            #"<a token="hunter2"><token>hunter2</token></a>"#,
            "Authorization: Digest a=\"hunter2\", b=\"hunter2\"\r\nCookie: a=hunter2",
            "token: hunter2\nsecret:\n  hunter2",
            "--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nhunter2\r\n--b--",
            // Pairs.
            #"[{"value":"hunter2","name":"pwd"}]"#, #"{"name":"password","value":{"a":"hunter2"}}"#,
            #"{"b":"{\"name\":\"password\",\"value\":\"hunter2\"}"}"#, "{'token': {'a': 'x}hunter2'}}",
            "<r><password><![CDATA[a</password>hunter2]]></password></r>", "with password: hunter2",
            "password = hunter2", "password:\n- hunter2", "X-Auth-Token: a,hunter2",
        ]
        for text in texts {
            for count in 0...text.utf8.count {
                let cut = redaction.text(String(decoding: text.utf8.prefix(count), as: UTF8.self))
                #expect(!cut.contains("hu"), "\(cut)")
            }
        }
    }
}
