/// The state of reading a connection, by its task, or on the session's thread while the task waits for bytes.
final class Reading: @unchecked Sendable {  // the lock of the response's bytes orders the two
    /// A reason to stop amid the bytes: a full inbox or the server's Close frame.
    enum Stop { case full, closed }

    @exclusivity(unchecked) var reader: MessageReader
    /// The stop or the violation on the session's thread, at which the task continues.
    @exclusivity(unchecked) var stop: Result<Stop, WebSocketViolation>?
    /// Whether the bytes that follow no longer matter.
    @exclusivity(unchecked) var isOver = false

    init(_ reader: sending MessageReader) { self.reader = reader }

    func takeStop() throws(WebSocketViolation) -> Stop? {
        defer { stop = nil }
        return try stop?.get()
    }
}
