import Foundation
import Switchboard
import SwitchboardMocks
import SwitchboardPlatform

/// Shows the calls of the running app in a browser: attempts, exchanges, bodies, decisions and errors, live.
///
/// ```swift
/// let inspector = try await NetworkInspector.start()
/// let manager = NetworkManager(monitors: [inspector])
/// ```
///
/// It prints the page's URL, such as `http://127.0.0.1:53124/?key=…`, to standard error. Only this device reaches the
/// page, and only with the random key of that URL. Secrets are replaced as in logs and in a
/// ``/SwitchboardHAR/HARRecorder``. Nothing is written to disk. The inspector stores the last calls in about 32 MiB of
/// memory at most, and removes the oldest first. It stops when it is released.
public final class NetworkInspector: EventMonitor, MessageMonitor {
    /// The URL of the page, with its key. Nil when the inspector is off.
    public let url: URL?
    /// Nil when the inspector is off.
    let server: InspectorServer?

    private init(_ server: InspectorServer?) {
        self.server = server
        url = server?.url
    }

    deinit {
        server?.beginStopping()
    }

    /// Starts an inspector on a free port of 127.0.0.1, and prints the URL of its page to standard error.
    ///
    /// - Parameters:
    ///   - isEnabled: Whether the inspector is on. Nil, the default, turns it on in debug builds only. An inspector that
    ///     is off opens no port, prints nothing and records nothing.
    ///   - maximumCalls: The number of calls to keep. The oldest is removed first. Default 1,000.
    ///   - bodyLimit: The largest body to store, in bytes. For a longer body only its size is stored. Default
    ///     64 KiB. Bodies of streams and downloads, and compressed bodies of requests, are not stored.
    ///   - redaction: The names of secrets. Default `Redaction.standard`.
    /// - Returns: The inspector, to be listed among the monitors of a manager or a router.
    /// - Throws: `NetworkError.Code.cannotConnect` when the system refuses a socket or a thread.
    public static func start(
        isEnabled: Bool? = nil, maximumCalls: Int = 1_000, bodyLimit: Int = 64 << 10,
        redaction: Redaction = .standard
    ) async throws(NetworkError) -> NetworkInspector {
        guard isEnabled ?? isDebugBuild else { return NetworkInspector(nil) }
        let limits = CallLimits(calls: maximumCalls, bodySize: bodyLimit, redaction: redaction)
        let inspector = try NetworkInspector(limits)
        if let url = inspector.url { StandardError.write("NetworkInspector: \(url.absoluteString)\n") }
        return inspector
    }

    convenience init(
        _ limits: CallLimits, _ times: InspectorServer.Times = InspectorServer.Times()
    ) throws(NetworkError) {
        do throws(Socket.Failure) {
            self.init(try InspectorServer(CallStore(limits), times))
        } catch {
            throw NetworkError(.cannotConnect, reason: "NetworkInspector: \(error.text)")
        }
    }

    /// Records an event of a call.
    public func record(_ event: CallEvent) {
        server?.calls.record(event)
    }

    package var isOn: Bool { server != nil }

    /// Returns a closure that stores the messages of a call. Nil when the inspector is off.
    package func messageRecorder(of id: NetworkRequest.ID) -> (@Sendable (CallMessage) -> Void)? {
        guard let calls = server?.calls else { return nil }
        return { message in calls.record(message, of: id) }
    }

    /// Closes the port and each connection, and removes the calls. Later events are ignored. Stopping again does
    /// nothing.
    public func stop() {
        server?.stop()
    }
}
