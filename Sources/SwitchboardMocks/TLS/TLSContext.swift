import Switchboard

/// The settings shared by a server's connections: certificate, versions and trusted client authorities.
final class TLSContext: @unchecked Sendable {  // only SSL_new uses `pointer`, and threads may call it concurrently
    let openSSL: OpenSSL
    /// The OpenSSL object, valid while this instance exists.
    let pointer: OpenSSL.Object

    init(
        _ openSSL: OpenSSL, certificate: Certificate, key: PrivateKey, options: MockServer.TLS
    ) throws(NetworkError) {
        self.openSSL = openSSL
        let functions = openSSL.connections
        guard let context = functions.newContext(functions.serverMethod()) else { throw openSSL.failure("speak TLS") }
        pointer = context
        // OpenSSL counts the references to both, so they may be released afterwards.
        let isUsed = withExtendedLifetime((certificate, key)) {
            functions.useCertificate(context, certificate.pointer) == 1 && functions.useKey(context, key.pointer) == 1
        }
        guard isUsed else { throw openSSL.failure("use a certificate") }
        try setVersions(from: options.minimumVersion, through: options.maximumVersion)
        setHabits()
    }

    deinit {
        openSSL.connections.freeContext(pointer)
    }

    private func setVersions(from minimum: TLSVersion, through maximum: TLSVersion) throws(NetworkError) {
        guard minimum.number <= maximum.number else {
            throw NetworkError(
                .insecureConnection, reason: "MockServer: the minimum version of TLS is above the maximum")
        }
        let functions = openSSL.connections
        // SSL_CTRL_SET_MIN_PROTO_VERSION and SSL_CTRL_SET_MAX_PROTO_VERSION
        var isSet = functions.control(pointer, 123, minimum.number, nil) == 1
        isSet = functions.control(pointer, 124, maximum.number, nil) == 1 && isSet
        if minimum.number < TLSVersion.tls12.number {
            // OpenSSL rejects their signature algorithms as too weak since 3.0.
            isSet = functions.setCiphers(pointer, "DEFAULT@SECLEVEL=0") == 1 && isSet
        }
        guard isSet else { throw openSSL.failure("speak these versions of TLS") }
    }

    /// Disables session resumption and renegotiation, and offers only HTTP/1.1.
    private func setHabits() {
        let functions = openSSL.connections
        _ = functions.control(pointer, 44, 0, nil)  // SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF
        _ = functions.setOptions(pointer, 1 << 14 | 1 << 30)  // SSL_OP_NO_TICKET, SSL_OP_NO_RENEGOTIATION
        _ = functions.setTickets(pointer, 0)
        functions.setProtocolChoice(pointer, chooseHTTP1, nil)
    }

    /// Requires client certificates from these authorities, and refuses clients without one.
    func requireClientCertificates(of authorities: [Certificate]) throws(NetworkError) {
        let functions = openSSL.connections
        for authority in authorities {
            let isAdded =
                functions.addTrusted(functions.trustedCertificates(pointer), authority.pointer) == 1
                && functions.nameClientAuthority(pointer, authority.pointer) == 1
            guard isAdded else { throw openSSL.failure("trust the authority of the clients") }
        }
        functions.setVerification(pointer, 3, nil)  // SSL_VERIFY_PEER, SSL_VERIFY_FAIL_IF_NO_PEER_CERT
    }
}

/// Chooses `http/1.1` from a client's list of length-prefixed names. Without it the two sides share no protocol, and
/// the server sends an alert ([RFC 7301 §3.2](https://www.rfc-editor.org/rfc/rfc7301#section-3.2)).
private let chooseHTTP1: OpenSSL.ConnectionFunctions.ProtocolChoice = { _, chosen, chosenLength, list, length, _ in
    let names = UnsafeBufferPointer(start: list, count: Int(length))
    var position = 0
    while position < names.count {
        let name = names[(position + 1)...].prefix(Int(names[position]))
        if name.elementsEqual("http/1.1".utf8) {
            chosen?.pointee = list.map { $0 + name.startIndex }
            chosenLength?.pointee = names[position]
            return 0  // SSL_TLSEXT_ERR_OK
        }
        position = name.endIndex
    }
    return 2  // SSL_TLSEXT_ERR_ALERT_FATAL
}

extension TLSVersion {
    /// The version's number on the wire.
    fileprivate var number: Int {
        switch self {
        case .tls10: 0x0301
        case .tls11: 0x0302
        case .tls12: 0x0303
        case .tls13: 0x0304
        }
    }
}
