import Foundation

/// A step of ``MockResponse/script(_:)``.
public struct RawStep: Sendable, Hashable {
    enum Action: Sendable, Hashable {
        case send(Data)
        case pause(Duration)
        case close, reset, stall, keepAlive
    }

    let action: Action

    /// Sends these bytes, in one write.
    public static func send(_ bytes: Data) -> RawStep { RawStep(action: .send(bytes)) }

    /// Sends this text in UTF-8, line ends as written, in one write.
    public static func send(_ text: String) -> RawStep { send(Data(text.utf8)) }

    /// Stays silent for a time.
    public static func pause(_ time: Duration) -> RawStep { RawStep(action: .pause(time)) }

    /// The end of the connection, which also follows the last step of any script.
    public static let close = RawStep(action: .close)
    /// The end of the connection by a TCP RST.
    public static let reset = RawStep(action: .reset)
    /// Silence until the client leaves or the server stops.
    public static let stall = RawStep(action: .stall)
    /// The end of the answer on a connection that stays open for the next request.
    public static let keepAlive = RawStep(action: .keepAlive)
}

extension RawStep: CustomReflectable {
    /// A mirror with the numbers of bytes, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["action": "\(action)"]) }
}
