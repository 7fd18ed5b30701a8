import SwitchboardPlatform
import Foundation
import Switchboard

/// The secret of one authorization, which makes its code worthless to others ([RFC
/// 7636](https://www.rfc-editor.org/rfc/rfc7636)), by the method `S256`.
struct PKCE: Sendable, Hashable {
    /// 43 characters of 256 random bits.
    let verifier: String

    init(verifier: String = Data.random(32).base64URLText) {
        self.verifier = verifier
    }

    /// What the authorization request shows of the verifier.
    var challenge: String {
        get throws(NetworkError) { try MessageDigest.sha256.checkedHash(Data(verifier.utf8)).base64URLText }
    }
}
