import Foundation
import Switchboard

/// A new private key, for ECDSA on the curve P-256.
final class PrivateKey {
    /// The OpenSSL object, valid while this instance exists.
    let pointer: OpenSSL.Object
    private let openSSL: OpenSSL

    init(_ openSSL: OpenSSL) throws(NetworkError) {
        self.openSSL = openSSL
        let functions = openSSL.certificates
        let context = functions.newKeyContext(408, nil)  // EVP_PKEY_EC
        defer { functions.freeKeyContext(context) }
        var key: OpenSSL.Object?
        guard context != nil, functions.beginKey(context) == 1,
            functions.setKeyOption(context, "ec_paramgen_curve", "P-256") == 1, functions.makeKey(context, &key) == 1,
            let key
        else { throw openSSL.failure("make a key") }
        pointer = key
    }

    deinit {
        openSSL.certificates.freeKey(pointer)
    }

    /// Returns the key as PEM text, not encrypted.
    func pem() throws(NetworkError) -> Data {
        try openSSL.pem("a key") { openSSL.certificates.writeKey($0, pointer, nil, nil, 0, nil, nil) }
    }
}
