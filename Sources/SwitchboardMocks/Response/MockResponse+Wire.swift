import Foundation
import Switchboard
import SwitchboardPlatform

// Responses that break or strain the rules of HTTP/1.1. A stub throws `unsupported` for scripted bytes.
extension MockResponse {
    /// Creates a response of these bytes and no others, for messages that no server should send. The
    /// connection then ends.
    public static func raw(_ bytes: Data) -> MockResponse { script(.send(bytes)) }

    /// Creates a response of this text in UTF-8 and nothing else, line ends as written. The connection then ends; see
    /// ``raw(_:)-(Data)``.
    public static func raw(_ text: String) -> MockResponse { script(.send(text)) }

    /// Creates a response of bytes and pauses. The first `close`, `reset`, `stall` or `keepAlive` ends the script.
    /// Without one, the connection ends after the last step.
    ///
    /// ```swift
    /// let cut = MockResponse.script(
    ///     .send("HTTP/1.1 200 OK\r\n"), .pause(.milliseconds(20)),
    ///     .send("Content-Le"), .reset)
    /// ```
    public static func script(_ steps: Step...) -> MockResponse { MockResponse(outcome: .script(steps)) }

    /// Creates a response of `count` bytes that are not HTTP, by default 1,024, and the same for the same seed. The
    /// connection then ends.
    public static func garbage(_ count: Int = 1_024, seed: UInt64 = 1) -> MockResponse {
        var generator = SplitMix64(seed: seed)
        return raw(Data((0..<max(0, count)).map { _ in UInt8(truncatingIfNeeded: generator.next() >> 56) }))
    }

    /// Creates a 200 with a header field of `count` bytes, by default 1 MiB.
    public static func oversizedHeader(_ count: Int = 1 << 20) -> MockResponse {
        .text("", headers: ["X-Filler": String(repeating: "x", count: max(0, count))])
    }
}

extension MockResponse {
    /// A step of ``MockResponse/script(_:)``.
    public struct Step: Sendable, Hashable {
        enum Action: Sendable, Hashable {
            case send(Data)
            case pause(Duration)
            /// The end of the connection, or nil for one that stays open.
            case end(MockResponse.Break?)
        }

        let action: Action

        var isEnd: Bool {
            if case .end = action { true } else { false }
        }

        /// Sends these bytes, in one write.
        public static func send(_ bytes: Data) -> Step { Step(action: .send(bytes)) }

        /// Sends this text in UTF-8, line ends as written, in one write.
        public static func send(_ text: String) -> Step { send(Data(text.utf8)) }

        /// Stays silent for a time.
        public static func pause(_ time: Duration) -> Step { Step(action: .pause(time.clamped)) }

        /// The end of the connection, which also follows the last step of any script.
        public static let close = Step(action: .end(.close))
        /// The end of the connection by a TCP RST.
        public static let reset = Step(action: .end(.reset))
        /// Silence until the client leaves or the server stops.
        public static let stall = Step(action: .end(.stall))
        /// The end of the answer on a connection that stays open for the next request.
        public static let keepAlive = Step(action: .end(nil))
    }
}

extension MockResponse.Step: CustomReflectable {
    /// A mirror with the numbers of bytes, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["action": "\(action)"]) }
}
