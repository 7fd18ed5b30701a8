@testable import SwitchboardAuth
import Foundation
import Testing

import SwitchboardTestSupport
@testable import Switchboard

@Suite(.timeLimit(.minutes(10)))
struct AuthenticationChallengeTests {
    private func shown(_ field: String) -> [String] {
        AuthenticationChallenge.parse(field).map { challenge in
            let parameters = challenge.parameters.map { "\($0.name)=<\($0.value)>" }
            return ([challenge.scheme] + (challenge.token68.map { ["[\($0)]"] } ?? []) + parameters).joined(
                separator: " ")
        }
    }

    @Test(
        "parses challenges by the grammar of RFC 9110 §11.6.1",
        arguments: [
            // RFC 9110 §11.6.1
            (
                #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
                ["Basic realm=<simple>", #"Newauth realm=<apps> type=<1> title=<Login to "apps">"#]
            ),
            // RFC 7617 §2.1, RFC 6750 §3
            (#"Basic realm="foo", charset="UTF-8""#, ["Basic realm=<foo> charset=<UTF-8>"]),
            (
                #"Bearer realm="example", error="invalid_token", error_description="The access token expired""#,
                ["Bearer realm=<example> error=<invalid_token> error_description=<The access token expired>"]
            ),
            ("Negotiate", ["Negotiate"]), ("Negotiate, NTLM", ["Negotiate", "NTLM"]),
            ("Negotiate YII=, Basic realm=x", ["Negotiate [YII=]", "Basic realm=<x>"]), ("A b+/==", ["A [b+/==]"]),
            ("Basic REALM = \"a\" , Title=b", ["Basic realm=<a> title=<b>"]),
            (",, ,Basic , ,realm=\"a\",", ["Basic realm=<a>"]), ("Basic realm=\"a, Digest b=\"c", ["Basic"]),
            (#"Digest qop="auth, auth-int", nonce="""#, ["Digest qop=<auth, auth-int> nonce=<>"]),
            ("", []), (" , ,", []), ("=", []), ("\"Basic\"", []), ("realm=\"x\"", []),
            ("Basic realm", ["Basic [realm]"]),
            ("Basic realm=\"open", ["Basic"]), ("Basic realm=\"a\\", ["Basic"]),
            ("Basic realm=a b, x=y", ["Basic x=<y>"]),
            ("Basic realm=\"ü\"", ["Basic realm=<ü>"]), ("Ba(sic realm=x, Basic realm=y", ["Basic realm=<y>"]),
        ])
    func parse(field: String, challenges: [String]) {
        #expect(shown(field) == challenges)
    }

    @Test("reads parameters without case, the first of repeats, and all fields")
    func reading() {
        var response = NetworkResponse(statusCode: 401)
        response.headers.add("WWW-Authenticate", #"basic Realm="a", realm="b""#)
        response.headers.add("www-authenticate", "Negotiate")
        #expect(response.challenges.map(\.scheme) == ["basic", "Negotiate"])
        #expect(response.challenges[0]["REALM"] == "a")
        #expect(response.challenges[0].isScheme("Basic"))
        #expect(response.challenges[0]["none"] == nil)
        #expect(NetworkResponse(statusCode: 200).challenges.isEmpty)
    }

    @Test("random fields parse to at most three times their size", arguments: 0..<20)
    func fuzz(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "Digest", "Basic", " ", ",", "=", "\"", "\\", "realm", "nonce", "a", "ü", "\t", ";", "==", "/", "\u{0}",
        ]
        for _ in 0..<cases(200) {
            let count = Int.random(in: 0...40, using: &generator)
            let field = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let challenges = AuthenticationChallenge.parse(field)
            let size = challenges.reduce(0) { sum, challenge in
                challenge.parameters.reduce(sum + challenge.scheme.utf8.count) {
                    $0 + $1.name.utf8.count + $1.value.utf8.count
                }
            }
            #expect(size <= field.utf8.count * 3)
            for challenge in challenges { _ = try? DigestChallenge(challenge) }
        }
    }

    @Test("a challenge has any number of parameters")
    func long() {
        let long = "Digest " + String(repeating: "a=\"b\\\"\", ", count: 50_000)
        #expect(AuthenticationChallenge.parse(long).first?.parameters.count == 50_000)
    }
}
