import Foundation
import Switchboard

/// The TLS of one ``MockServer``: a self-signed certificate, and the settings of its connections.
final class ServerTLS: @unchecked Sendable {  // only SSL_new uses `context`, and threads may call it concurrently
    let openSSL: OpenSSL
    /// The OpenSSL object, valid while this instance exists.
    let context: OpenSSL.Object
    let certificatePEM: Data

    init(names: [String]) throws(NetworkError) {
        let openSSL = try OpenSSL.load()
        self.openSSL = openSSL
        let key = try openSSL.makeKey()
        defer { openSSL.freeKey(key) }
        let certificate = try openSSL.makeCertificate(for: names, key)
        defer { openSSL.freeCertificate(certificate) }
        certificatePEM = try openSSL.pem(certificate)
        guard let context = openSSL.newContext(openSSL.serverMethod()) else { throw openSSL.failure("speak TLS") }
        self.context = context
        // SSL_CTRL_SET_MIN_PROTO_VERSION, TLS 1.2. OpenSSL counts the references to the certificate and the key.
        guard openSSL.control(context, 123, 0x0303, nil) == 1, openSSL.useCertificate(context, certificate) == 1,
            openSSL.useKey(context, key) == 1
        else { throw openSSL.failure("use a certificate") }
        // Disables session resumption and renegotiation, and offers only HTTP/1.1.
        _ = openSSL.control(context, 44, 0, nil)  // SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF
        _ = openSSL.setOptions(context, 1 << 14 | 1 << 30)  // SSL_OP_NO_TICKET, SSL_OP_NO_RENEGOTIATION
        _ = openSSL.setTickets(context, 0)
        openSSL.setProtocolChoice(context, chooseHTTP1, nil)
    }

    deinit {
        openSSL.freeContext(context)
    }

    /// Performs the handshake. Returns false when the connection has ended.
    ///
    /// - Throws: ``RequestError`` for a client that does not use TLS, ``ByteChannel/Interruption``, or `NetworkError`
    ///   when OpenSSL cannot begin.
    func begin(on channel: ByteChannel) throws -> Bool {
        guard let first = try channel.peek() else { throw ByteChannel.Interruption.clientLeft }
        // 22 is a handshake record (RFC 8446 §5.1). A request begins with a letter.
        guard first == 22 else { throw RequestError("this port expects TLS; use an https URL") }
        do {
            try channel.secure(with: TLSConnection(self))
            return true
        } catch ByteChannel.Interruption.tlsFailed {
            // The alert must arrive, even if the client has already sent its request.
            channel.close(waitingForRest: .seconds(30))
            return false
        }
    }
}

extension OpenSSL {
    /// Creates a key for ECDSA on the curve P-256. The caller frees it.
    fileprivate func makeKey() throws(NetworkError) -> Object {
        let context = newKeyContext(408, nil)  // EVP_PKEY_EC
        defer { freeKeyContext(context) }
        var key: Object?
        guard context != nil, beginKey(context) == 1, setKeyOption(context, "ec_paramgen_curve", "P-256") == 1,
            generateKey(context, &key) == 1, let key
        else { throw failure("make a key") }
        return key
    }

    /// Creates a self-signed certificate ([RFC 5280](https://www.rfc-editor.org/rfc/rfc5280)), valid from yesterday for
    /// three weeks. It can sign no other one. The caller frees it.
    fileprivate func makeCertificate(for names: [String], _ key: Object) throws(NetworkError) -> Object {
        var alternatives: [String] = []
        for name in names { alternatives.append(try Self.alternative(name)) }
        // The name is unique, because clients look up authorities by name.
        let name = Array("MockServer \(String(UInt64.random(in: 0...UInt64.max), radix: 16))".utf8)
        guard let certificate = newCertificate() else { throw failure("make a certificate") }
        let day = 86_400
        var isMade =
            setVersion(certificate, 2) == 1  // version 3
            && setInteger(serialNumber(certificate), .random(in: 1...UInt64(Int64.max))) == 1
            && setSecondsFromNow(begin(certificate), -day) != nil
            && setSecondsFromNow(end(certificate), 20 * day) != nil && setKey(certificate, key) == 1
            // 0x1000 is MBSTRING_UTF8; -1 and 0 append.
            && addToName(subject(certificate), "CN", 0x1000, name, Int32(name.count), -1, 0) == 1
            && setIssuer(certificate, subject(certificate)) == 1
            // NID_basic_constraints and NID_ext_key_usage
            && add(87, "critical,CA:FALSE", to: certificate) && add(126, "serverAuth", to: certificate)
        if isMade, !alternatives.isEmpty {
            isMade = add(85, alternatives.joined(separator: ","), to: certificate)  // NID_subject_alt_name
        }
        guard isMade, sign(certificate, key, sha256()) > 0 else {
            defer { freeCertificate(certificate) }
            throw failure("make a certificate")
        }
        return certificate
    }

    /// Adds an extension, in the syntax of OpenSSL's manual page x509v3_config.
    private func add(_ number: Int32, _ value: String, to certificate: Object) -> Bool {
        guard let made = newExtension(nil, nil, number, value) else { return false }
        defer { freeExtension(made) }
        return addExtension(certificate, made, -1) == 1
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

    fileprivate func pem(_ certificate: Object) throws(NetworkError) -> Data {
        let buffer = newBuffer(inMemory())
        defer { freeBuffer(buffer) }
        guard let buffer, writeCertificate(buffer, certificate) == 1 else { throw failure("write a certificate") }
        return readAll(from: buffer)
    }
}

/// Chooses `http/1.1` from a client's list of length-prefixed names. Without it the two sides share no protocol, and
/// the server sends an alert ([RFC 7301 §3.2](https://www.rfc-editor.org/rfc/rfc7301#section-3.2)).
private let chooseHTTP1: OpenSSL.ProtocolChoice = { _, chosen, chosenLength, list, length, _ in
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
