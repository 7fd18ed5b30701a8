import Foundation

/// A step of ``MockResponse/script(_:)``.
public struct RawStep: Sendable, Hashable {
    enum Action: Sendable, Hashable {
        case send(Data)
        case pause(Duration)
        case close, reset, stall, keepAlive
    }

    let action: Action

    /// These bytes, in one write.
    public static func send(_ bytes: Data) -> RawStep { RawStep(action: .send(bytes)) }

    /// This text in UTF-8, line ends as written, in one write.
    public static func send(_ text: String) -> RawStep { send(Data(text.utf8)) }

    /// Silence for a time.
    public static func pause(_ time: Duration) -> RawStep { RawStep(action: .pause(time)) }

    /// The end of the connection, as behind the last step of any script.
    public static let close = RawStep(action: .close)
    /// The end of the connection by a TCP RST.
    public static let reset = RawStep(action: .reset)
    /// Silence until the client leaves or the server stops.
    public static let stall = RawStep(action: .stall)
    /// The next request of the connection is read and answered.
    public static let keepAlive = RawStep(action: .keepAlive)
}
