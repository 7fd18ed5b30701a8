import Switchboard

/// The behavior of the server that a request meets.
enum Scene: String, CaseIterable {
    case small, slowHead, slowBody, large, queued, download
    case stall, stallInside, cut, drop
    case upload, uploadInChunks, uploadSlowly, uploadFromMemory, uploadWaiting, refused
    case stream, streamInPart, streamPaused, streamStalled
    case connecting, closedPort, lookup

    /// Whether only cancellation ends the request.
    var isEndless: Bool {
        switch self {
        case .stall, .stallInside, .uploadWaiting, .streamStalled, .connecting: true
        default: false
        }
    }

    /// Returns whether the request may fail with this error: by a cancellation, or without one.
    func permits(_ error: any Error) -> Bool {
        guard let code = (error as? NetworkError)?.code else { return error is CancellationError }
        return switch self {
        case .cut: code == .truncatedBody || code == .connectionLost
        // libcurl may reuse a connection that such a server has just closed, and it does not send a POST twice.
        case .drop, .upload, .uploadInChunks, .uploadSlowly, .uploadFromMemory, .refused: code == .connectionLost
        case .closedPort: code == .cannotConnect
        case .lookup: code == .cannotFindHost
        default: false
        }
    }
}
