import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardText

/// One event of a stream of server-sent events
/// ([HTML §9.2](https://html.spec.whatwg.org/multipage/server-sent-events.html)).
public struct ServerSentEvent: Sendable, Hashable {
    /// What the server calls it; `message` when it says nothing.
    public var type: String
    /// Its data, lines joined by LF.
    public var data: String
    /// The last event ID that the server gave, with this event or before; empty when it gave none.
    public var id: String
    /// How long the server wants a client to wait before it connects again, as last said; nil when it never did.
    public var retry: Duration?

    /// Makes an event, for a test for instance.
    public init(type: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.type = type
        self.data = data
        self.id = id
        self.retry = retry
    }

    /// The data decoded from JSON.
    ///
    /// - Throws: `NetworkError.Code.decodingFailed` with the key path when it is something else.
    public func decode<Value: Decodable>(
        _ type: Value.Type, decoder: any ResponseDecoder = FastJSONDecoder()
    ) throws(NetworkError) -> Value {
        do {
            return try decoder.decode(type, from: Data(data.utf8))
        } catch {
            let reason = DecodingFailure.describe(error, in: Data(data.utf8))
            throw NetworkError(.decodingFailed, reason: reason, underlying: error)
        }
    }
}
