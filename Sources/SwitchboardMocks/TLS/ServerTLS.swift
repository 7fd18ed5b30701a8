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
            try channel.secure(with: TLSConversation(context))
            return true
        } catch ByteChannel.Interruption.tlsFailed {
            // The alert must arrive, even if the client has already sent its request.
            channel.close(waitingForRest: .seconds(1))
            return false
        }
    }
}
