import Switchboard

/// What a request can meet with.
enum Scene: String, CaseIterable {
    case small, slowHead, slowBody, large, queued, download
    case stall, stallInside, cut, drop
    case upload, uploadInChunks, uploadSlowly, uploadFromMemory, uploadWaiting, refused
    case stream, streamInPart, streamPaused, streamStalled
    case connecting, closedPort, lookup

    /// Whether nothing but cancellation ends it.
    var isEndless: Bool {
        switch self {
        case .stall, .stallInside, .uploadWaiting, .streamStalled, .connecting: true
        default: false
        }
    }

    /// Whether it may end in this way, nobody having cancelled it.
    func permits(_ code: NetworkError.Code) -> Bool {
        switch self {
        case .cut: code == .truncatedBody || code == .connectionLost
        // libcurl may take a connection that such a server has just closed, and a POST is not sent again.
        case .drop, .upload, .uploadInChunks, .uploadSlowly, .uploadFromMemory, .refused: code == .connectionLost
        case .closedPort: code == .cannotConnect
        case .lookup: code == .cannotFindHost
        default: false
        }
    }
}
