import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// Names and values that are not adjacent, or that end unusually, with `hunter2` as the secret.
@Suite(.timeLimit(.minutes(10)))
struct SecretPairTests {
    private let redaction = Redaction.standard

    @Test(
        "a secret in a sentence, a setting or a field with commas is masked",
        arguments: [
            ("cannot log in with password: hunter2", "cannot log in with password: <redacted>"),
            ("cannot log in with token: hunter2, try again", "cannot log in with token: <redacted>, try again"),
            ("sent \"with password: 'hunter2' and\" more", "sent \"with password: '<redacted>' and\" more"),
            ("the password: field is required, token: it is old", "the password: field is required, token: it is old"),
            ("a passenger: ann, a compass: b, the tokenizer: c", "a passenger: ann, a compass: b, the tokenizer: c"),
            // Settings.
            ("password = hunter2 hunter2\nuser = ann", "password = <redacted>\nuser = ann"),
            ("[a]\n  db.password = 'hunter2'\nuser = ann", "[a]\n  db.password = '<redacted>'\nuser = ann"),
            ("run with secret = hunter2 and a = b", "run with secret = <redacted> and a = b"),
            ("password =hunter2, a= b", "password =<redacted>"),
            ("if token == nil, key = 5", "if token == nil, key = 5"),
            ("password =\nuser = ann", "password =\nuser = ann"),
            // Brackets.
            ("log [token=abc123][password=hunter2]", "log [token=<redacted>][password=<redacted>]"),
            ("args=[token=abc][api_key=hunter2]", "args=[token=<redacted>][api_key=<redacted>]"),
            // YAML.
            ("password:\n- hunter2\n- hunter2\na: b", "password:\n<redacted>\na: b"),
            ("a:\n  token:\n  - hunter2\n  b: c", "a:\n  token:\n<redacted>\n  b: c"),
            ("a:\n- token:\n- b: c", "a:\n- token:\n- b: c"), ("token: hunter2\n- a\n", "token: <redacted>\n- a\n"),
            // Fields.
            ("X-Auth-Token: hunter1,hunter2\nHost: h", "X-Auth-Token: <redacted>\nHost: h"),
            ("got X-Auth-Token: hunter1; hunter2, hunter3", "got X-Auth-Token: <redacted>"),
            ("{X-Auth-Token: hunter1,hunter2, Host: h}", "{X-Auth-Token: <redacted>, Host: h}"),
            (#"{"sent":"X-Auth-Token: hunter1, hunter2","a":1}"#, #"{"sent":"X-Auth-Token: <redacted>","a":1}"#),
        ])
    func text(text: String, expected: String) { redaction.check(text, expected) }

    @Test(
        "a line after an escaped line end is masked to its own end",
        arguments: [
            (#"{"log":"a\r\npassword: ab\\nhunter2"}"#, #"{"log":"a\r\npassword: <redacted>"}"#),
            (#"{"log":"a\nX-Auth: ab\\r\"hunter2\nb: c"}"#, #"{"log":"a\nX-Auth: <redacted>\nb: c"}"#),
            (
                #"{"b":"{\"log\":\"a\\nCookie: a=hunter2\\r\\nHost: h\"}"}"#,
                #"{"b":"{\"log\":\"a\\nCookie: <redacted>\\r\\nHost: h\"}"}"#
            ),
            (#"{"log":"a\nX-Api-Key:hunter2\nb: c"}"#, #"{"log":"a\nX-Api-Key:<redacted>\nb: c"}"#),
            (#"{"ini":"a = 1\npassword = ab \\nhunter2\nb = c"}"#, #"{"ini":"a = 1\npassword = <redacted>\nb = c"}"#),
            // Blanks, tabs and the marks of a list begin a line.
            (#"{"a":"b:\n\tpassword: ab hunter2\nc: d"}"#, #"{"a":"b:\n\tpassword: <redacted>\nc: d"}"#),
            (#"{"a":"b:\n  - password: ab hunter2\n    c: d"}"#, #"{"a":"b:\n  - password: <redacted>\n    c: d"}"#),
            (
                #"{"a":"b:\n  tls_key: |\n    hunter2\n\n    hunter2\n  c: d"}"#,
                #"{"a":"b:\n  tls_key: <redacted>\n  c: d"}"#
            ),
            (
                #"{"a":"b:\n  password:\n    hunter2\n  token:\n  c: d"}"#,
                #"{"a":"b:\n  password:<redacted>\n  token:\n  c: d"}"#
            ),
            (#"{"a":"b\n  token: is too old\n"}"#, #"{"a":"b\n  token: is too old\n"}"#),
            // A line after a word.
            (
                #"{"log":"sent token: ab12\r\nX-Api-Key: hunter2"}"#,
                #"{"log":"sent token: <redacted>\r\nX-Api-Key: <redacted>"}"#
            ),
            (#"{"log":"no token: \nX-Key: hunter2"}"#, #"{"log":"no token: \nX-Key: <redacted>"}"#),
            // A column after a tab.
            (#"{"log":"a\tSession: hunter2, hunter2\nb: c"}"#, #"{"log":"a\tSession: <redacted>\nb: c"}"#),
            (#"{"b":"{\"log\":\"a\\tX-Key: hunter2\"}"}"#, #"{"b":"{\"log\":\"a\\tX-Key: <redacted>\"}"}"#),
        ])
    func escapedLines(text: String, expected: String) { redaction.check(text, expected) }

    @Test(
        "a field of a text within JSON is masked, whatever its value is",
        arguments: [
            "X-Api-Key: ", "X-Auth-Token:", "Authorization: Bearer ", "Cookie: a=", "password: ", "  - token: ",
        ],
        [
            #"ab\nhunter2"#, #"ab\\rhunter2"#, #"ab"hunter2"#, "ann's hunter2", "ab<b>hunter2", "ab, b: hunter2",
            "ab)}hunter2",
        ])
    func fieldsInJSON(name: String, value: String) throws {
        var text = "a\r\n\(name)\(value)\r\nHost: h"
        for _ in 0..<3 {
            text = String(decoding: try JSONEncoder().encode(["log": text]), as: UTF8.self)
            let masked = redaction.text(text)
            #expect(!masked.contains("hunter2"), "\(masked)")
            let object = try JSONDecoder().decode([String: String].self, from: Data(masked.utf8))
            #expect(object["log"]?.contains("Host: h") == true, "\(masked)")
        }
    }

    @Test(
        "a value next to a secret's name is masked",
        arguments: [
            (#"{"name":"password","value":"hunter2"}"#, #"{"name":"password","value":"<redacted>"}"#),
            (#"[{"value":"hunter2","a":1,"name":"Token"}]"#, #"[{"value":"<redacted>","a":1,"name":"Token"}]"#),
            (
                #"{"headers":[{"name":"X-Auth","value":"hunter2"},{"name":"Accept","value":"a/b"}]}"#,
                #"{"headers":[{"name":"X-Auth","value":"<redacted>"},{"name":"Accept","value":"a/b"}]}"#
            ),
            (
                #"{"n\u0061me":"pass\u0077ord","v\u0061lue":53}"#,
                #"{"n\u0061me":"pass\u0077ord","v\u0061lue":"<redacted>"}"#
            ),
            (
                #"{"key":"secret","value":{"a":["hunter2","}"]},"enabled":true}"#,
                #"{"key":"secret","value":"<redacted>","enabled":true}"#
            ),
            (
                #"{"value":"x}y","b":{"name":"a"},"name":"pwd"}"#,
                #"{"value":"<redacted>","b":{"name":"a"},"name":"pwd"}"#
            ),
            (#"{"value":1,"b":{"name":"pwd"}}"#, #"{"value":1,"b":{"name":"pwd"}}"#),
            (
                #"{"b":"{\"name\":\"password\",\"value\":\"hunter2\"}","value":1}"#,
                #"{"b":"{\"name\":\"password\",\"value\":\"<redacted>\"}","value":1}"#
            ),
            (
                #"{"b":"[{\"c\":\"{\\\"value\\\":\\\"hunter2\\\",\\\"name\\\":\\\"pwd\\\"}\"}]"}"#,
                #"{"b":"[{\"c\":\"{\\\"value\\\":\\\"<redacted>\\\",\\\"name\\\":\\\"pwd\\\"}\"}]"}"#
            ),
            ("{'name': 'password', 'value': 'it\\'s hunter2'}", "{'name': 'password', 'value': '<redacted>'}"),
            (
                #"a 5" pipe {"name":"password","value":"hunter2"}"#,
                #"a 5" pipe {"name":"password","value":"<redacted>"}"#
            ),
            (#"{"name":"password","value":"hunter2"#, #"{"name":"password","value":"<redacted>""#),
            (#"{"name":"password","type":"string"}"#, #"{"name":"password","type":"string"}"#),
            (#"{"name":"passenger","value":"ann"}"#, #"{"name":"passenger","value":"ann"}"#),
        ])
    func pairs(text: String, expected: String) { redaction.check(text, expected) }

    @Test(
        "members called pass and tokens are masked, a count of tokens is not",
        arguments: [
            (
                #"{"pass":"hunter2","tokens":["hunter2"],"access_tokens":{"a":"hunter2"}}"#,
                #"{"pass":"<redacted>","tokens":"<redacted>","access_tokens":"<redacted>"}"#
            ),
            (
                #"{"tokens":3,"total_tokens":"3","passenger":"a","compass":"b","tokenizer":"c"}"#,
                #"{"tokens":3,"total_tokens":"3","passenger":"a","compass":"b","tokenizer":"c"}"#
            ),
            ("<a><pass>hunter2</pass><compass>b</compass></a>", "<a><pass><redacted></pass><compass>b</compass></a>"),
            ("user=ann&pass=hunter2&passenger=b", "user=ann&pass=<redacted>&passenger=b"),
            // Strings in single quotes, and strings in double quotes within.
            ("{'token': {'a': 'x}hunter2'}, 'b': 'c'}", "{'token': '<redacted>', 'b': 'c'}"),
            ("{'token': ['it', \"it's ]hunter2\"], 'b': 'c'}", "{'token': '<redacted>', 'b': 'c'}"),
            // An end tag within text.
            (
                "<r><password><![CDATA[a</password>hunter2]]></password><a>b</a></r>",
                "<r><password><redacted></password><a>b</a></r>"
            ),
            (
                "<r><password>a<!-- </password> -->hunter2</password><a>b</a></r>",
                "<r><password><redacted></password><a>b</a></r>"
            ),
            ("<r><password><![CDATA[a</password>hunter2", "<r><password><redacted>"),
            (
                "<r><![CDATA[<password>hunter2</password> b]]><a>c</a></r>",
                "<r><![CDATA[<password><redacted></password> b]]><a>c</a></r>"
            ),
        ])
    func names(text: String, expected: String) { redaction.check(text, expected) }
}
