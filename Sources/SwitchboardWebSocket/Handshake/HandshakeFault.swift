/// The reason why a server's answer does not open a WebSocket.
struct HandshakeFault: Error {
    let text: String

    init(_ text: String) { self.text = text }
}
