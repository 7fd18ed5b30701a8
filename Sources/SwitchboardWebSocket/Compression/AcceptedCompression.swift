/// The compression that a server accepted.
struct AcceptedCompression: Equatable {
    var keepsOwnContext: Bool
    var keepsServerContext: Bool
    /// The binary logarithm of the window of messages that are sent.
    var windowBits = 15

    /// Reads the answer to an offer ([RFC 7692 §7.1](https://www.rfc-editor.org/rfc/rfc7692#section-7.1)).
    ///
    /// - Throws: A text for an answer that the offer does not allow.
    init(_ parameters: [(name: String, value: String?)], to offer: WebSocketCompression) throws(HandshakeFault) {
        (keepsOwnContext, keepsServerContext) = (offer.keepsOwnContext, true)
        var seen: Set<String> = []
        for (name, value) in parameters {
            guard seen.insert(name).inserted else { throw HandshakeFault("permessage-deflate repeats \(name)") }
            switch (name, value) {
            case ("client_no_context_takeover", nil): keepsOwnContext = false
            case ("server_no_context_takeover", nil): keepsServerContext = false
            case ("client_max_window_bits", let bits?): windowBits = try Self.bits(bits)
            case ("server_max_window_bits", let bits?): _ = try Self.bits(bits)
            case ("", _): throw HandshakeFault("permessage-deflate has an empty parameter")
            default: throw HandshakeFault("permessage-deflate has an unknown parameter \(name)")
            }
        }
        guard offer.keepsServerContext || !keepsServerContext else {
            throw HandshakeFault("the server did not accept server_no_context_takeover")
        }
    }

    private static func bits(_ text: String) throws(HandshakeFault) -> Int {
        guard let bits = Int(text), (8...15).contains(bits), "\(bits)" == text else {
            throw HandshakeFault("permessage-deflate has a window of \(text) bits")
        }
        return bits
    }
}
