import Foundation
import Switchboard

/// TLS of one ``MockServer``: its certificate, and how its connections begin.
final class ServerTLS: Sendable {
    /// The authority to trust.
    let authorityPEM: Data
    /// What a client has to show, when it has to and this server's authority issues it.
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

    /// Does the handshake. False when the connection is over with it.
    ///
    /// - Throws: ``RequestFault`` for a client that does not speak TLS, ``ByteChannel/Interruption``.
    func begin(on channel: ByteChannel) throws -> Bool {
        guard let first = try channel.peek() else { throw ByteChannel.Interruption.clientLeft }
        // A record of the handshake (RFC 8446 §5.1); a request begins with a letter.
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
            try channel.secure(with: TLSConversation(context))
            return true
        } catch ByteChannel.Interruption.tlsFailed {
            // The alert shall arrive, also at a client that has sent its request already.
            channel.close(waitingForRest: .seconds(1))
            return false
        }
    }
}
