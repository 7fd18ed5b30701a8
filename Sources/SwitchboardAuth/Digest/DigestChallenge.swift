import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// A `Digest` challenge that can be answered ([RFC 7616 §3.3](https://www.rfc-editor.org/rfc/rfc7616#section-3.3)).
struct DigestChallenge: Sendable, Hashable {
    /// The reason why a challenge cannot be answered.
    enum Refusal: Error {
        /// The challenge is invalid, has another scheme, or has an unknown algorithm.
        case useless
        /// The server requires a hash of the body.
        case onlyIntegrity
    }

    var realm: String
    var nonce: String
    var opaque: String?
    var isStale: Bool
    var digest: MessageDigest
    /// The algorithm as the server wrote it, or nil when it wrote none.
    var algorithm: String?
    var isSession: Bool
    /// Whether the answer contains `qop=auth`, which servers of RFC 2069 do not support.
    var hasQOP: Bool
    var hashesUser: Bool

    /// The limit for all texts of a challenge together, in bytes. They are sent back with each request.
    private static let limit = 8 << 10

    init(_ challenge: AuthenticationChallenge) throws(Refusal) {
        guard challenge.isScheme("Digest"), let realm = challenge["realm"], let nonce = challenge["nonce"],
            !nonce.isEmpty
        else { throw .useless }
        (self.realm, self.nonce, opaque, algorithm) = (realm, nonce, challenge["opaque"], challenge["algorithm"])
        let texts = [realm, nonce, opaque ?? ""]
        guard texts.reduce(0, { $0 + $1.utf8.count }) <= Self.limit,
            !texts.contains(where: { $0.utf8.contains(where: \.breaksFieldValue) })
        else { throw .useless }
        switch (algorithm ?? "MD5").uppercased() {
        case "MD5": (digest, isSession) = (.md5, false)
        case "MD5-SESS": (digest, isSession) = (.md5, true)
        case "SHA-256": (digest, isSession) = (.sha256, false)
        case "SHA-256-SESS": (digest, isSession) = (.sha256, true)
        case "SHA-512-256": (digest, isSession) = (.sha512Over256, false)
        case "SHA-512-256-SESS": (digest, isSession) = (.sha512Over256, true)
        default: throw .useless
        }
        isStale = challenge["stale"]?.equalsIgnoringCase("true") ?? false
        hashesUser = challenge["userhash"]?.equalsIgnoringCase("true") ?? false
        let qops = (challenge["qop"] ?? "").split { ", \t".contains($0) }.map { $0.lowercased() }
        hasQOP = qops.contains("auth")
        if !hasQOP, qops.contains("auth-int") { throw .onlyIntegrity }
    }

    /// Returns the challenge with the strongest hash that this system has, or nil when none can be answered.
    ///
    /// - Throws: `NetworkError.Code.cannotAuthenticate` when the server requires `auth-int`,
    ///   `NetworkError.Code.unsupported` for a hash that this system lacks.
    static func strongest(of challenges: [AuthenticationChallenge]) throws(NetworkError) -> DigestChallenge? {
        var best: DigestChallenge?
        var failure: NetworkError?
        for challenge in challenges {
            do throws(Refusal) {
                let digest = try DigestChallenge(challenge)
                do throws(NetworkError) {
                    _ = try digest.digest.checkedHash(Data())
                    if best.map({ $0.strength < digest.strength }) ?? true { best = digest }
                } catch { failure = error }
            } catch .onlyIntegrity {
                failure = NetworkError(
                    .cannotAuthenticate,
                    reason: "Digest: the server wants the quality of protection auth-int (RFC 7616 §3.4)")
            } catch {}
        }
        if best == nil, let failure { throw failure }
        return best
    }

    private var strength: Int {
        switch digest {
        case .md5, .sha1: 0
        case .sha256: 1
        case .sha512Over256: 2
        }
    }
}
