import Foundation
import Switchboard
import SwitchboardText

/// The value of an `Authorization` field with `Digest` ([RFC 7616
/// §3.4](https://www.rfc-editor.org/rfc/rfc7616#section-3.4)).
struct DigestAnswer {
    let challenge: DigestChallenge
    /// A random text that the client chooses. It stays the same as long as the nonce.
    let clientNonce: String
    /// The number of uses of the nonce, including this one.
    let count: UInt32

    /// Returns the value for a target: path and query as they are sent.
    func value(
        for credentials: BasicCredentials, _ method: HTTPMethod, _ target: String
    ) throws(NetworkError) -> String {
        let user = credentials.user.precomposedStringWithCanonicalMapping
        guard
            !(user + credentials.password).unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw NetworkError(
                .invalidRequest, reason: "the user's name or password for Digest holds a control character")
        }
        var fields = try userFields(user)
        fields += [
            ("realm", quoted(challenge.realm)), ("nonce", quoted(challenge.nonce)), ("uri", quoted(target)),
            ("response", quoted(try response(credentials, user, method, target))),
        ]
        if let algorithm = challenge.algorithm { fields.append(("algorithm", algorithm)) }
        if let opaque = challenge.opaque { fields.append(("opaque", quoted(opaque))) }
        if challenge.hasQOP { fields += [("qop", "auth"), ("nc", countText), ("cnonce", quoted(clientNonce))] }
        // Without `qop`, only a session algorithm needs the client's nonce.
        if !challenge.hasQOP, challenge.isSession { fields.append(("cnonce", quoted(clientNonce))) }
        return "Digest " + fields.map { "\($0.0)=\($0.1)" }.joined(separator: ", ")
    }

    private func userFields(_ user: String) throws(NetworkError) -> [(String, String)] {
        if challenge.hashesUser {
            return [("username", quoted(try hash("\(user):\(challenge.realm)"))), ("userhash", "true")]
        }
        guard !user.utf8.allSatisfy({ $0 < 0x80 }) else { return [("username", quoted(user))] }
        // The `attr-char` of RFC 8187.
        var escaped: [UInt8] = []
        escaped.appendEscaped(user, allowed: .alphanumerics.union(ASCIISet("!#$&+-.^_`|~")))
        return [("username*", "UTF-8''" + String(decoding: escaped, as: UTF8.self))]
    }

    private func response(
        _ credentials: BasicCredentials, _ user: String, _ method: HTTPMethod, _ target: String
    ) throws(NetworkError) -> String {
        let password = credentials.password.precomposedStringWithCanonicalMapping
        var secret = try hash("\(user):\(challenge.realm):\(password)")
        if challenge.isSession { secret = try hash("\(secret):\(challenge.nonce):\(clientNonce)") }
        let subject = try hash("\(method.rawValue):\(target)")
        guard challenge.hasQOP else { return try hash("\(secret):\(challenge.nonce):\(subject)") }
        return try hash("\(secret):\(challenge.nonce):\(countText):\(clientNonce):auth:\(subject)")
    }

    private var countText: String {
        let text = String(count, radix: 16)
        return String(repeating: "0", count: 8 - text.count) + text
    }

    private func hash(_ text: String) throws(NetworkError) -> String {
        try challenge.digest.checkedHash(Data(text.utf8)).hexText
    }

    private func quoted(_ text: String) -> String {
        "\"" + text.replacingBytes([UInt8(ascii: "\\"): #"\\"#, UInt8(ascii: "\""): #"\""#]) + "\""
    }
}
