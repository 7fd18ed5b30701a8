import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardText

/// A `Digest` challenge that can be answered ([RFC 7616 §3.3](https://www.rfc-editor.org/rfc/rfc7616#section-3.3)).
struct DigestChallenge: Sendable, Hashable {
    /// The reason why a challenge cannot be answered.
    enum Rejection: Error {
        /// The challenge is invalid, has another scheme, or has an unknown algorithm.
        case unusable
        /// The server requires a hash of the body.
        case requiresIntegrity
    }

    var realm: String
    var nonce: String
    var opaque: String?
    var isStale: Bool
    var digest: MessageDigest
    /// The algorithm as the server wrote it, or nil when it wrote none.
    var algorithm: String?
    var isSession: Bool
    /// Whether the response contains `qop=auth`, which servers of RFC 2069 do not support.
    var hasQOP: Bool
    var hashesUser: Bool

    /// The limit for all texts of a challenge together, in bytes. They are sent back with each request.
    private static let limit = 8 << 10

    init(_ challenge: AuthenticationChallenge) throws(Rejection) {
        guard challenge.isScheme("Digest"), let realm = challenge["realm"], let nonce = challenge["nonce"],
            !nonce.isEmpty
        else { throw .unusable }
        (self.realm, self.nonce, opaque, algorithm) = (realm, nonce, challenge["opaque"], challenge["algorithm"])
        let texts = [realm, nonce, opaque ?? ""]
        guard texts.reduce(0, { $0 + $1.utf8.count }) <= Self.limit,
            !texts.contains(where: { $0.utf8.contains(where: \.breaksFieldValue) })
        else { throw .unusable }
        switch (algorithm ?? "MD5").uppercased() {
        case "MD5": (digest, isSession) = (.md5, false)
        case "MD5-SESS": (digest, isSession) = (.md5, true)
        case "SHA-256": (digest, isSession) = (.sha256, false)
        case "SHA-256-SESS": (digest, isSession) = (.sha256, true)
        case "SHA-512-256": (digest, isSession) = (.sha512Over256, false)
        case "SHA-512-256-SESS": (digest, isSession) = (.sha512Over256, true)
        default: throw .unusable
        }
        isStale = challenge["stale"]?.equalsIgnoringCase("true") ?? false
        hashesUser = challenge["userhash"]?.equalsIgnoringCase("true") ?? false
        let qops = (challenge["qop"] ?? "").split { ", \t".contains($0) }.map { $0.lowercased() }
        hasQOP = qops.contains("auth")
        if !hasQOP, qops.contains("auth-int") { throw .requiresIntegrity }
    }

    /// Returns the challenge with the strongest hash that this system has, or nil when none can be answered.
    ///
    /// - Throws: `NetworkError.Code.cannotAuthenticate` when the server requires `auth-int`,
    ///   `NetworkError.Code.unsupported` for a hash that this system lacks.
    static func strongest(of challenges: [AuthenticationChallenge]) throws(NetworkError) -> DigestChallenge? {
        var best: DigestChallenge?
        var failure: NetworkError?
        for challenge in challenges {
            do throws(Rejection) {
                let digest = try DigestChallenge(challenge)
                do throws(NetworkError) {
                    _ = try digest.digest.checkedHash(Data())
                    if best.map({ $0.strength < digest.strength }) ?? true { best = digest }
                } catch { failure = error }
            } catch .requiresIntegrity {
                failure = NetworkError(
                    .cannotAuthenticate,
                    reason: "DigestAuth does not support qop=auth-int, which the server requires (RFC 7616 §3.4)")
            } catch {}
        }
        if best == nil, let failure { throw failure }
        return best
    }

    /// Returns whether another challenge rejects the response to this one. A server may use a nonce for several realms.
    func isRepeated(by other: DigestChallenge) -> Bool { nonce == other.nonce && realm == other.realm }

    private var strength: Int {
        switch digest {
        case .md5, .sha1: 0
        case .sha256: 1
        case .sha512Over256: 2
        }
    }
}

/// The value of an `Authorization` field with `Digest` ([RFC 7616
/// §3.4](https://www.rfc-editor.org/rfc/rfc7616#section-3.4)).
struct DigestResponse {
    let challenge: DigestChallenge
    /// The random `cnonce`. It is used as long as the nonce.
    let clientNonce: String
    /// The number of uses of the nonce, including this one.
    let count: UInt32

    /// Returns the value for a target: the path and query of the request.
    func value(
        for credentials: BasicCredentials, _ method: HTTPMethod, _ target: String
    ) throws(NetworkError) -> String {
        let user = credentials.user.precomposedStringWithCanonicalMapping
        try credentials.refuseControlCharacters("the user's name or password for Digest contains a control character")
        var fields = try userFields(user)
        fields += [
            ("realm", quoted(challenge.realm)), ("nonce", quoted(challenge.nonce)), ("uri", quoted(target)),
            ("response", quoted(try response(credentials, user, method, target))),
        ]
        if let algorithm = challenge.algorithm { fields.append(("algorithm", algorithm)) }
        if let opaque = challenge.opaque { fields.append(("opaque", quoted(opaque))) }
        if challenge.hasQOP { fields += [("qop", "auth"), ("nc", count.hexText), ("cnonce", quoted(clientNonce))] }
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
        let escaped = user.percentEncoded(allowed: .alphanumerics.union(ASCIISet("!#$&+-.^_`|~")))
        return [("username*", "UTF-8''" + escaped)]
    }

    private func response(
        _ credentials: BasicCredentials, _ user: String, _ method: HTTPMethod, _ target: String
    ) throws(NetworkError) -> String {
        let password = credentials.password.precomposedStringWithCanonicalMapping
        var secret = try hash("\(user):\(challenge.realm):\(password)")
        if challenge.isSession { secret = try hash("\(secret):\(challenge.nonce):\(clientNonce)") }
        let subject = try hash("\(method.rawValue):\(target)")
        guard challenge.hasQOP else { return try hash("\(secret):\(challenge.nonce):\(subject)") }
        return try hash("\(secret):\(challenge.nonce):\(count.hexText):\(clientNonce):auth:\(subject)")
    }

    private func hash(_ text: String) throws(NetworkError) -> String {
        try challenge.digest.checkedHash(Data(text.utf8)).hexText
    }

    private func quoted(_ text: String) -> String {
        "\"" + text.replacingBytes([.backslash: #"\\"#, .quote: #"\""#]) + "\""
    }
}
