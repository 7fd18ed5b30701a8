#if os(Linux)
import SwitchboardPlatform

/// The handles of a session that are not in use.
final class CurlHandlePool: Sendable {
    private struct State {
        var handles: [CurlHandle] = []
        var isClosed = false
    }

    private let settings: CurlSettings
    private let state = Protected(State())
    /// More than this many are not kept.
    private static let capacity = 256

    init(_ settings: CurlSettings) {
        self.settings = settings
    }

    /// A handle that was used before, or a new one, made known to the loop.
    func take(for loop: CurlLoop) throws(NetworkError) -> CurlHandle {
        if let handle = state.withLock({ $0.handles.popLast() }) { return handle }
        let handle = try CurlHandle(settings)
        loop.adopt(handle)
        return handle
    }

    /// Keeps a handle whose exchange ended well; any other is let go.
    func giveBack(_ handle: CurlHandle) {
        state.withLock { state in
            if !state.isClosed, state.handles.count < Self.capacity { state.handles.append(handle) }
        }
    }

    func removeAll() {
        let handles = state.withLock { state in
            state.isClosed = true
            defer { state.handles = [] }
            return state.handles
        }
        _ = handles
    }
}
#endif
