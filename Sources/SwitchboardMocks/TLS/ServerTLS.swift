import Foundation
import Switchboard

/// The TLS of one ``MockServer``: its certificate, and the handshake of its connections.
final class ServerTLS: Sendable {
    /// The certificate of the authority that clients should trust.
    let authorityPEM: Data
    /// A client certificate with its key, if the server requires one from its authority.
    let clientIdentity: ClientIdentity?
    private let handshake: MockServer.TLS.Handshake
    private let context: TLSContext

    init(_ options: MockServer.TLS) throws(NetworkError) {
        let openSSL = try OpenSSL.load()
        let authority = try CertificateAuthority(openSSL)
        let issuer = options.isTrusted ? authority : try CertificateAuthority(openSSL)
        let key = try PrivateKey(openSSL)
        let certificate = try issuer.serverCertificate(for: key, names: options.names, validity: options.validity)
        context = try TLSContext(openSSL, certificate: certificate, key: key, options: options)
        authorityPEM = try authority.certificate.pem()
        handshake = options.handshake
        switch options.clientCertificate {
        case .notAsked: clientIdentity = nil
        case .requiredOf(let pem):
            try context.requireClientCertificates(of: Certificate.all(in: pem, openSSL))
            clientIdentity = nil
        case .required:
            try context.requireClientCertificates(of: [authority.certificate])
            let key = try PrivateKey(openSSL)
            let certificate = try authority.clientCertificate(for: key)
            clientIdentity = ClientIdentity(certificate: .data(try certificate.pem()), key: .data(try key.pem()))
        }
    }

    /// Performs the handshake. Returns false when the connection has ended.
    ///
    /// - Throws: ``RequestFault`` for a client that does not use TLS, ``ByteChannel/Interruption``.
    func begin(on channel: ByteChannel) throws -> Bool {
        guard let first = try channel.peek() else { throw ByteChannel.Interruption.clientLeft }
        // 22 is a handshake record (RFC 8446 §5.1). A request begins with a letter.
        guard first == 22 else { throw RequestFault("this port speaks TLS; an http URL, perhaps?") }
        switch handshake {
        case .complete: return try secure(channel)
        case .stalls: try channel.pause(until: nil)
        case .resets: channel.reset()
        case .closes: channel.close()
        case .garbage:
            try channel.send(Data("MockServer: this is not TLS\r\n".utf8))
            channel.close()
        }
        return false
    }

    private func secure(_ channel: ByteChannel) throws -> Bool {
        do {
            try channel.secure(with: TLSConnection(context))
            return true
        } catch ByteChannel.Interruption.tlsFailed {
            // The alert must arrive, even if the client has already sent its request.
            channel.close(waitingForRest: .seconds(1))
            return false
        }
    }
}

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
        setOptions()
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
    private func setOptions() {
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
                && functions.addClientAuthority(pointer, authority.pointer) == 1
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
