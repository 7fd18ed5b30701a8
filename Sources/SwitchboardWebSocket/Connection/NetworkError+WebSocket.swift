import Foundation
import Switchboard

extension NetworkError {
    static let noCloseFrame = "the server closed the connection without a Close frame"

    /// The error of a transport that lost a WebSocket. Its own words are about a response.
    var ofWebSocket: NetworkError {
        guard code == .connectionLost || code == .truncatedBody else { return self }
        let cause = reason?.lowercased() ?? ""
        func says(_ words: String...) -> Bool { words.contains(where: cause.contains) }
        let text: String?
        if says("reset", "broken pipe", "failure when receiving") {
            text = "the server reset the WebSocket connection"
        } else if code == .truncatedBody || says("clos") {
            text = Self.noCloseFrame
        } else {
            text = reason?.components(separatedBy: ", while ").first
        }
        return NetworkError(.connectionLost, reason: text, underlying: underlying ?? self)
    }
}
