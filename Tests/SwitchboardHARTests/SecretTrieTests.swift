import Foundation
import SwitchboardTestSupport
import Testing

@testable import Switchboard
@testable import SwitchboardHAR

struct SecretTrieTests {
    private func trie(_ secrets: [String]) -> SecretTrie {
        var masking = ExchangeMasking(.standard)
        for secret in secrets { masking.add(secret) }
        return masking.storedSecrets
    }

    /// Returns the number of characters compared for each byte of a text.
    private func effort(_ secrets: [String], _ text: String) -> Int {
        var steps = 0
        _ = trie(secrets).masked(Data(text.utf8), steps: &steps)
        return steps / text.utf8.count
    }

    @Test(
        "a search costs the same for each byte, whatever the secrets are",
        arguments: [
            (["a"], "a"), (["a", "b"], "a"), (["a", "%61"], "a"), (["\\"], "\\"), (["\\", "\\\\"], "\\\\"),
            (["%"], "%25"), (["+", " "], "+"), (["&", "&amp;"], "&amp;"), (["é"], "é"),
        ])
    func effort(pieces: [String], text: String) {
        let limit = SecretTrie.prefixLength * SecretTrie.maximumReadings * 2
        for length in [6, 64, 3_000] {
            let secrets = pieces.map { String(repeating: $0, count: length) + "!" }
            let long = String(repeating: text, count: 4_000 / text.utf8.count)
            #expect(effort(secrets, long) <= limit)
            #expect(effort(secrets, String(repeating: String(repeating: text, count: 5) + "?", count: 200)) <= limit)
        }
        let many = (0..<200).map { "aaaaaa\($0)" }
        #expect(effort(many, String(repeating: "a", count: 4_000)) <= limit)
    }

    @Test("both forms of a secret with an accent are masked")
    func accents() {
        let (composed, decomposed) = ("p\u{E4}sswort-1", "pa\u{308}sswort-1")
        for secrets in [[composed], [decomposed], [composed, decomposed], [decomposed, composed]] {
            for form in [composed, decomposed] {
                #expect(trie(secrets).masked("no account with \(form)") == "no account with REDACTED")
            }
        }
    }

    @Test("the texts behind several masks are found")
    func hidden() {
        let masked = MaskedText("token=<redacted>&page=1&key=<redacted>!", mask: "<redacted>")
        #expect(masked.hidden(in: "token=abc&page=1&key=de!") == ["abc", "de"])
        #expect(masked.hidden(in: "token=abc&page=2&key=de!") == [])
        #expect(masked.hidden(in: "token=abc&page=1&key=de?") == ["abc"])
    }

    @Test("a long secret is replaced completely, and so is its beginning")
    func longSecret() {
        let secret = (0..<40).map { "part\($0)" }.joined()
        let trie = trie([secret])
        #expect(trie.masked("a \(secret) b \(secret)") == "a REDACTED b REDACTED")
        #expect(trie.masked("a \(secret.prefix(100)) b") == "a REDACTED b")
        #expect(trie.masked("a \(secret.prefix(20)) b") == "a \(secret.prefix(20)) b")
    }

    @Test(
        "a secret is replaced in every form",
        arguments: [
            "hunter+2/é", "hunter%2B2%2F%C3%A9", "hunter%252B2%252f%25c3%25a9", #"hunter+2\/\u00e9"#,
            #"hunter\u002b2\\u002f\u00E9"#, Data("hunter+2/é".utf8).base64EncodedString(),
            Data("me:hunter+2/é".utf8).base64EncodedString(), "hunter&#43;2&#x2F;é",
        ])
    func forms(written: String) {
        let shown = trie(["hunter+2/é"]).masked("a=\(written)&b=c")
        #expect(shown.contains("REDACTED") && !shown.contains("hunter") && shown.hasSuffix("&b=c"))
    }

    @Test(
        "JSON with masks stays JSON", .requirement("S3.14"),
        arguments: [
            // Whole numbers.
            (#"[1748291300, 17482913005.5e1,-1748291300]"#, #"["REDACTED", "REDACTED","REDACTED"]"#),
            (#"{"a1748291300":[true,1748291300]}"#, #"{"aREDACTED":[true,"REDACTED"]}"#),
            // Whole escapes: a line feed, é and a quote are next to the bytes of secrets.
            (#"["a\n12345x"]"#, #"["aREDACTED"]"#), (#"["\u00e9zzz!"]"#, #"["REDACTED!"]"#),
            (#"["abcdef\"g"]"#, #"["REDACTEDg"]"#),
            // Strings and objects.
            (#"{"t":"quoted","u":"\"quoted\""}"#, #"{"t":"REDACTED","u":"REDACTED"}"#),
            (#"[{"a":1},2]"#, #"["REDACTED",2]"#),
            // No JSON, or only a number.
            ("a 1748291300 b", "a REDACTED b"), ("1748291300", "REDACTED"),
        ])
    func json(text: String, masked: String) throws {
        let trie = trie(["1748291300", "n12345x", "00e9zzz", #"abcdef\"#, #""quoted""#, #"{"a":1}"#])
        for encoding in [String.Encoding.utf8, .utf16LittleEndian, .utf32BigEndian] {
            let body = try #require(text.data(using: encoding))
            #expect(trie.masked(body: body, type: "application/json") == masked.data(using: encoding))
        }
    }
}
