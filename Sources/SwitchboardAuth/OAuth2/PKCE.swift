import SwitchboardPlatform
import Foundation
import Switchboard

/// The secret of one authorization, which makes a stolen code useless ([RFC
/// 7636](https://www.rfc-editor.org/rfc/rfc7636)). It uses the method `S256`.
struct PKCE: Sendable, Hashable {
    /// 43 characters from 256 random bits.
    let verifier: String

    init(verifier: String = Data.random(32).base64URLText) {
        self.verifier = verifier
    }

    /// The hash of the verifier, which the authorization request contains.
    var challenge: String {
        get throws(NetworkError) { try MessageDigest.sha256.checkedHash(Data(verifier.utf8)).base64URLText }
    }
}
