import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// What a server asks for by `Digest` ([RFC 7616 §3.3](https://www.rfc-editor.org/rfc/rfc7616#section-3.3)), as far as it can be
/// answered.
struct DigestChallenge: Sendable, Hashable {
    /// One that cannot be: why.
    enum Refusal: Error {
        /// It is of another scheme, or broken: an answer to it is worth nothing.
        case useless
        /// It wants the body hashed, and nothing less.
        case onlyIntegrity
    }

    var realm: String
    var nonce: String
    var opaque: String?
    var isStale: Bool
    var digest: MessageDigest
    /// As the server wrote it; nil when it did not.
    var algorithm: String?
    var isSession: Bool
    /// Whether `qop=auth` is to be sent; servers of RFC 2069 know none.
    var hasQOP: Bool
    var hashesUser: Bool

    /// What the texts of a challenge may have together; they are sent back with each request.
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

    /// The one with the strongest hash that this system has; nil when none can be answered.
    ///
    /// - Throws: `NetworkError.Code.cannotAuthenticate` when the server wants no less than `auth-int`,
    ///   `NetworkError.Code.unsupported` for a hash that this system does not have.
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
        case .md5: 0
        case .sha256: 1
        case .sha512Over256: 2
        }
    }
}
