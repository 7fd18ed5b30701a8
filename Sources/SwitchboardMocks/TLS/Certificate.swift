import Foundation
import Switchboard

/// A certificate ([RFC 5280](https://www.rfc-editor.org/rfc/rfc5280)).
final class Certificate {
    /// The fields of a certificate, without its public key and issuer.
    struct Contents {
        var commonName: String
        /// The first and the last day of validity, in days from now.
        var days: Range<Int>
        /// The extensions, in the syntax of OpenSSL's manual page x509v3_config.
        var extensions: [(Extension, String)]
    }

    /// OpenSSL's numbers (`NID_`).
    enum Extension: Int32 {
        case subjectKeyIdentifier = 82
        case keyUsage = 83
        case subjectAlternativeName = 85
        case basicConstraints = 87
        case authorityKeyIdentifier = 90
        case extendedKeyUsage = 126
    }

    /// The OpenSSL object, valid while this instance exists.
    let pointer: OpenSSL.Object
    private let openSSL: OpenSSL

    /// Takes ownership of the certificate.
    private init(_ pointer: OpenSSL.Object, _ openSSL: OpenSSL) {
        self.pointer = pointer
        self.openSSL = openSSL
    }

    deinit {
        openSSL.certificates.free(pointer)
    }

    /// Reads the certificates in a PEM text, at least one.
    static func all(in pem: Data, _ openSSL: OpenSSL) throws(NetworkError) -> [Certificate] {
        let buffer = try openSSL.makeBuffer()
        defer { openSSL.memory.freeBuffer(buffer) }
        pem.withUnsafeBytes { openSSL.write($0, to: buffer) }
        var found: [Certificate] = []
        while let pointer = openSSL.certificates.readCertificate(buffer, nil, nil, nil) {
            found.append(Certificate(pointer, openSSL))
        }
        guard !found.isEmpty else { throw openSSL.failure("read a certificate") }
        openSSL.memory.clearErrors()
        return found
    }

    /// Creates a certificate for a key. Without an issuer the certificate is self-signed with `issuerKey`.
    static func make(
        _ contents: Contents, for key: PrivateKey, issuer: Certificate? = nil, issuerKey: PrivateKey,
        _ openSSL: OpenSSL
    ) throws(NetworkError) -> Certificate {
        guard let pointer = openSSL.certificates.new() else { throw openSSL.failure("make a certificate") }
        let certificate = Certificate(pointer, openSSL)
        let issuer = issuer ?? certificate
        try certificate.set(contents, key)
        try certificate.setIssuer(issuer)
        for (kind, value) in contents.extensions { try certificate.add(kind, value, issuer: issuer) }
        try certificate.sign(with: issuerKey)
        return certificate
    }

    private func set(_ contents: Contents, _ key: PrivateKey) throws(NetworkError) {
        let functions = openSSL.certificates
        let name = Array(contents.commonName.utf8)
        let day = 86_400
        let isSet =
            functions.setVersion(pointer, 2) == 1  // version 3
            && functions.setInteger(functions.serialNumber(pointer), .random(in: 1...UInt64(Int64.max))) == 1
            && functions.setSecondsFromNow(functions.begin(pointer), contents.days.lowerBound * day) != nil
            && functions.setSecondsFromNow(functions.end(pointer), contents.days.upperBound * day) != nil
            && functions.setKey(pointer, key.pointer) == 1
            // 0x1000 is MBSTRING_UTF8; -1 and 0 append.
            && functions.addToName(functions.subject(pointer), "CN", 0x1000, name, Int32(name.count), -1, 0) == 1
        guard isSet else { throw openSSL.failure("fill a certificate") }
    }

    private func setIssuer(_ issuer: Certificate) throws(NetworkError) {
        let functions = openSSL.certificates
        guard functions.setIssuer(pointer, functions.subject(issuer.pointer)) == 1 else {
            throw openSSL.failure("name the issuer of a certificate")
        }
    }

    private func add(_ kind: Extension, _ value: String, issuer: Certificate) throws(NetworkError) {
        let functions = openSSL.certificates
        // An X509V3_CTX: two certificates, and a few words more that stay zero.
        let isAdded = withUnsafeTemporaryAllocation(byteCount: 256, alignment: 16) { context in
            guard let address = context.baseAddress else { return false }
            context.initializeMemory(as: UInt8.self, repeating: 0)
            functions.setExtensionContext(address, issuer.pointer, pointer, nil, nil, 0)
            guard let made = functions.newExtension(nil, address, kind.rawValue, value) else { return false }
            defer { functions.freeExtension(made) }
            return functions.addExtension(pointer, made, -1) == 1
        }
        guard isAdded else { throw openSSL.failure("make a certificate that says \"\(value)\"") }
    }

    private func sign(with key: PrivateKey) throws(NetworkError) {
        guard openSSL.certificates.sign(pointer, key.pointer, openSSL.certificates.sha256()) > 0 else {
            throw openSSL.failure("sign a certificate")
        }
    }

    /// Returns the certificate as PEM text.
    func pem() throws(NetworkError) -> Data {
        try openSSL.pem("a certificate") { openSSL.certificates.writeCertificate($0, pointer) }
    }
}

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

/// An authority created for one server, which issues the server's certificates.
struct CertificateAuthority {
    let certificate: Certificate
    private let key: PrivateKey
    private let openSSL: OpenSSL

    init(_ openSSL: OpenSSL) throws(NetworkError) {
        self.openSSL = openSSL
        key = try PrivateKey(openSSL)
        // The name is unique, because clients look up authorities by name.
        let mark = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        let contents = Certificate.Contents(
            commonName: "MockServer authority \(mark)", days: -10..<30,
            extensions: [
                (.basicConstraints, "critical,CA:TRUE"), (.keyUsage, "critical,keyCertSign,cRLSign"),
                (.subjectKeyIdentifier, "hash"),
            ])
        certificate = try Certificate.make(contents, for: key, issuerKey: key, openSSL)
    }

    /// Issues a server certificate for these host names and addresses.
    func serverCertificate(
        for key: PrivateKey, names: [String], validity: MockServer.TLS.Validity
    ) throws(NetworkError) -> Certificate {
        var extensions = leafExtensions("serverAuth")
        var alternatives: [String] = []
        for name in names { alternatives.append(try Self.alternative(name)) }
        if !alternatives.isEmpty {
            extensions.append((.subjectAlternativeName, alternatives.joined(separator: ",")))
        }
        let days =
            switch validity {
            case .valid: -1..<20
            case .expired: -3 ..< -1
            case .notYetValid: 1..<20
            }
        return try issue(.init(commonName: "MockServer", days: days, extensions: extensions), for: key)
    }

    /// Issues a certificate for a client.
    func clientCertificate(for key: PrivateKey) throws(NetworkError) -> Certificate {
        let extensions = leafExtensions("clientAuth")
        return try issue(.init(commonName: "MockServer client", days: -1..<20, extensions: extensions), for: key)
    }

    private func issue(_ contents: Certificate.Contents, for key: PrivateKey) throws(NetworkError) -> Certificate {
        try Certificate.make(contents, for: key, issuer: certificate, issuerKey: self.key, openSSL)
    }

    /// Returns the extensions that strict clients require.
    private func leafExtensions(_ usage: String) -> [(Certificate.Extension, String)] {
        [
            (.basicConstraints, "critical,CA:FALSE"), (.keyUsage, "critical,digitalSignature"),
            (.extendedKeyUsage, usage), (.subjectKeyIdentifier, "hash"), (.authorityKeyIdentifier, "keyid"),
        ]
    }

    /// Returns a name in OpenSSL's syntax. Throws for other characters, such as a comma, which would begin another
    /// name.
    private static func alternative(_ name: String) throws(NetworkError) -> String {
        let isAddress = name.contains(":") || name.allSatisfy { $0 == "." || $0.isNumber }
        let isClean = name.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "*": true
            default: scalar == ":" && isAddress
            }
        }
        guard isClean, !name.isEmpty else {
            throw NetworkError(
                .insecureConnection, reason: "MockServer: \"\(name)\" is neither a host name nor an address")
        }
        return (isAddress ? "IP:" : "DNS:") + name
    }
}
