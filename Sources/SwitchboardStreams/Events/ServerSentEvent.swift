import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardText

/// One server-sent event ([HTML §9.2](https://html.spec.whatwg.org/multipage/server-sent-events.html)).
public struct ServerSentEvent: Sendable, Hashable {
    /// The event's type, or `message` if the server states none.
    public var type: String
    /// The data, with its lines joined by LF.
    public var data: String
    /// The last event ID that the server sent, with this event or before. Empty if it sent none. It may contain control
    /// characters other than NUL, CR and LF.
    public var id: String
    /// The time that the server last asked clients to wait before they reconnect. Nil if it sent none.
    public var retry: Duration?

    /// Creates an event, for instance for a test.
    public init(type: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.type = type
        self.data = data
        self.id = id
        self.retry = retry
    }

    /// Decodes the data from JSON.
    ///
    /// - Throws: `NetworkError.Code.decodingFailed` with the key path.
    public func decode<Value: Decodable>(
        _ type: Value.Type, decoder: any ResponseDecoder = FastJSONDecoder.ofResponses
    ) throws(NetworkError) -> Value {
        do {
            return try decoder.decode(type, from: Data(data.utf8))
        } catch {
            let reason = DecodingFailure.describe(error, in: Data(data.utf8), as: type, called: "the data")
            throw NetworkError(.decodingFailed, reason: reason, underlying: error)
        }
    }
}
