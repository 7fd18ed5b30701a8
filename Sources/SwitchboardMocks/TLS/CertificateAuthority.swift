import Switchboard

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
