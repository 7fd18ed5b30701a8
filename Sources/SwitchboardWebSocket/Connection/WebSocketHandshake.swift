import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardText

/// The opening handshake of a client ([RFC 6455 §4.1](https://www.rfc-editor.org/rfc/rfc6455#section-4.1)).
struct WebSocketHandshake: Sendable {
    let key: String
    let options: WebSocketOptions
    private var subprotocols: [String]

    init(_ options: WebSocketOptions, key: String = Data.random(16).base64EncodedString()) {
        self.options = options
        self.key = key
        subprotocols = options.subprotocols
    }

    /// Creates the handshake that a request has sent. It has offered the subprotocols of its header field.
    init(_ options: WebSocketOptions, of request: NetworkRequest) {
        self.init(options, key: request.headers["Sec-WebSocket-Key"] ?? "")
        subprotocols = request.headers.listMembers(of: "Sec-WebSocket-Protocol")
    }

    var headers: HTTPHeaders {
        var headers: HTTPHeaders = [
            "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key,
        ]
        if !subprotocols.isEmpty { headers.set("Sec-WebSocket-Protocol", subprotocols.joined(separator: ", ")) }
        if let compression = options.compression { headers.set("Sec-WebSocket-Extensions", compression.offer) }
        return headers
    }

    /// Checks a 101 and returns the values that the server chose, nil without one. Without a key, URLSession has checked
    /// all but the subprotocol.
    func negotiation(
        _ headers: HTTPHeaders
    ) throws(NetworkError) -> (subprotocol: String?, compression: AcceptedCompression?) {
        guard !key.isEmpty else { return (try subprotocol(headers), nil) }
        guard headers.listMembers(of: "Upgrade").contains(where: { $0.equalsIgnoringCase("websocket") }) else {
            throw .handshake("the 101 has no Upgrade: websocket")
        }
        guard headers.listMembers(of: "Connection").contains(where: { $0.equalsIgnoringCase("upgrade") }) else {
            throw .handshake("the 101 has no Connection: Upgrade")
        }
        let accepts = headers.values(for: "Sec-WebSocket-Accept").map(\.trimmedOfBlanks)
        guard accepts == [try Self.accept(for: key)] else {
            throw .handshake("Sec-WebSocket-Accept does not belong to the key (RFC 6455 §4.1)")
        }
        return (try subprotocol(headers), try compression(headers))
    }

    static func accept(for key: String) throws(NetworkError) -> String {
        try MessageDigest.sha1.checkedHash(Data((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
            .base64EncodedString()
    }

    private func subprotocol(_ headers: HTTPHeaders) throws(NetworkError) -> String? {
        let names = headers.values(for: "Sec-WebSocket-Protocol").map(\.trimmedOfBlanks)
        guard let name = names.first else { return nil }
        guard names.count == 1, subprotocols.contains(where: { $0.hasBytes(of: name) }) else {
            throw .handshake("the subprotocol \(name.quotedForMessage) was not offered")
        }
        return name
    }

    private func compression(_ headers: HTTPHeaders) throws(NetworkError) -> AcceptedCompression? {
        let extensions = headers.listMembers(of: "Sec-WebSocket-Extensions")
        guard let first = extensions.first else { return nil }
        let parts = first.split(separator: ";", omittingEmptySubsequences: false).map { String($0).trimmedOfBlanks }
        guard extensions.count == 1, let offer = options.compression, parts.first == "permessage-deflate" else {
            throw .handshake("the extension \(first.quotedForMessage) was not offered")
        }
        let parameters = parts.dropFirst().map { part in
            let pair = part.split(separator: "=", maxSplits: 1).map { String($0).trimmedOfBlanks }
            let value = pair.count > 1 ? pair[1].trimmingQuotes : nil
            return (name: pair.first ?? "", value: value)
        }
        return try AcceptedCompression(Array(parameters), to: offer)
    }
}

extension String {
    fileprivate var trimmingQuotes: String {
        count > 1 && hasPrefix("\"") && hasSuffix("\"") ? String(dropFirst().dropLast()) : self
    }
}

extension NetworkError {
    /// Returns the error of a response that does not open a WebSocket.
    static func handshake(_ reason: String) -> NetworkError {
        var error = NetworkError(.invalidResponse, reason: reason)
        error.title = "The server's answer opens no WebSocket"
        return error
    }
}

/// The parameters of `permessage-deflate` that the server accepted.
struct AcceptedCompression: Equatable {
    var allowsClientContextTakeover: Bool
    var allowsServerContextTakeover: Bool
    /// The binary logarithm of the window for sent messages.
    var windowBits = 15

    /// Parses the response to an offer ([RFC 7692 §7.1](https://www.rfc-editor.org/rfc/rfc7692#section-7.1)).
    ///
    /// - Throws: An error for a parameter that the offer does not allow.
    init(_ parameters: [(name: String, value: String?)], to offer: WebSocketCompression) throws(NetworkError) {
        (allowsClientContextTakeover, allowsServerContextTakeover) = (offer.allowsClientContextTakeover, true)
        var seen: Set<String> = []
        for (name, value) in parameters {
            guard seen.insert(name).inserted else { throw .handshake("permessage-deflate repeats \(name)") }
            switch (name, value) {
            case ("client_no_context_takeover", nil): allowsClientContextTakeover = false
            case ("server_no_context_takeover", nil): allowsServerContextTakeover = false
            case ("client_max_window_bits", let bits?): windowBits = try Self.bits(bits)
            case ("server_max_window_bits", let bits?): _ = try Self.bits(bits)
            case ("", _): throw .handshake("permessage-deflate has an empty parameter")
            default: throw .handshake("permessage-deflate has an unknown parameter \(name.quotedForMessage)")
            }
        }
        guard offer.allowsServerContextTakeover || !allowsServerContextTakeover else {
            throw .handshake("the server did not accept server_no_context_takeover")
        }
    }

    private static func bits(_ text: String) throws(NetworkError) -> Int {
        guard let bits = Int(text), (8...15).contains(bits), "\(bits)" == text else {
            throw .handshake("permessage-deflate has a window of \(text.quotedForMessage) bits")
        }
        return bits
    }
}
