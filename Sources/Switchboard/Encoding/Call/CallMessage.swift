import Foundation

package struct CallMessage: Sendable {
    package enum Kind: String, Sendable {
        case text, binary, close, event
        /// The end of a connection of a WebSocket. Its payload describes the first Close frame, and is empty without
        /// one.
        case end
    }

    package let kind: Kind
    package let isSent: Bool
    package let payload: Data
    /// The error of an ``Kind/end``. Nil after a Close frame and after a cancellation.
    package let error: NetworkError?

    package init(_ kind: Kind, isSent: Bool, _ payload: Data, _ error: NetworkError? = nil) {
        self.kind = kind
        self.isSent = isSent
        self.payload = payload
        self.error = error
    }
}

/// A monitor that also receives the messages of WebSockets and event streams.
package protocol MessageMonitor: EventMonitor {
    /// Whether the monitor receives anything. A router leaves out a monitor that is off.
    var isOn: Bool { get }
    /// Returns a closure that receives each message of a call, on any thread. Nil if the monitor records none.
    func messageRecorder(of id: NetworkRequest.ID) -> (@Sendable (CallMessage) -> Void)?
}

extension RequestOptions {
    /// Records the messages of a WebSocket and its end, for a cassette. Default nil.
    package var messageRecorder: (@Sendable (CallMessage) -> Void)? {
        get { self[MessageRecorderOption.self] }
        set { self[MessageRecorderOption.self] = newValue }
    }
}

private enum MessageRecorderOption: RequestOption {
    static let defaultValue: (@Sendable (CallMessage) -> Void)? = nil
}

extension NetworkRequest {
    /// A closure that passes messages to the monitors of the call and to a cassette. Nil if none records them.
    package var messageRecorder: (@Sendable (CallMessage) -> Void)? {
        let monitors = options.monitors.compactMap { ($0 as? any MessageMonitor)?.messageRecorder(of: id) }
        let recorders = monitors + [options.messageRecorder].compactMap { $0 }
        guard !recorders.isEmpty else { return nil }
        return { message in
            for record in recorders { record(message) }
        }
    }
}
