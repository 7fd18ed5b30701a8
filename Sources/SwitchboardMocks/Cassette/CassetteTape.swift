import Foundation
import Switchboard
import SwitchboardHAR

/// The position of a cassette and its recordings, guarded by one lock.
struct CassetteTape: Sendable {
    private(set) var isUsed: [Bool]
    /// The differences from the recording, in words.
    private(set) var faults: [String] = []
    var isChanged = false
    /// The rules for secrets, with the fields in which interceptors wrote credentials.
    var redaction: Redaction
    private var recordings: [Recording] = []
    private var sockets: [PlayedSocket] = []

    /// A WebSocket that is played.
    private struct PlayedSocket {
        let path: String
        /// The number of messages that the client sent in the recording.
        let expectedCount: Int
        var sentCount = 0
    }

    /// One exchange, in the order in which the requests were sent.
    struct Recording {
        /// The exchange. Nil until the answer arrives, and always after an error.
        var entry: HAR.Entry?
        /// The body received so far. A stream's body grows.
        var body = Data()
        /// The messages of a WebSocket received and sent so far. Nil otherwise.
        var messages: [HAR.WebSocketMessage]?
    }

    init(entryCount: Int, _ redaction: Redaction) {
        isUsed = Array(repeating: false, count: entryCount)
        self.redaction = redaction
    }

    // MARK: Playing

    /// The index of the first entry that has not answered yet. All entries before it have.
    private(set) var next = 0

    mutating func use(_ index: Int) -> Bool {
        guard !isUsed[index] else { return false }
        isUsed[index] = true
        while next < isUsed.count, isUsed[next] { next += 1 }
        return true
    }

    mutating func record(_ fault: String) {
        if !faults.contains(fault) { faults.append(fault) }
    }

    /// Adds a WebSocket that begins, and returns its index.
    mutating func openSocket(_ path: String, expecting count: Int) -> Int {
        sockets.append(PlayedSocket(path: path, expectedCount: count))
        return sockets.count - 1
    }

    /// Counts a message that the client sent. A wrong one is a fault itself, and ends the WebSocket.
    mutating func recordMessage(of socket: Int, fault: String?) {
        sockets[socket].sentCount = fault == nil ? sockets[socket].sentCount + 1 : sockets[socket].expectedCount
        if let fault { record(fault) }
    }

    /// One message per WebSocket whose client sent too few messages.
    var unsentMessages: [String] {
        sockets.filter { $0.sentCount < $0.expectedCount }.map {
            "cassette: message \($0.sentCount + 1) of \($0.expectedCount) to \($0.path) was not sent"
        }
    }

    // MARK: Recording

    /// Adds an empty recording for an exchange that begins, and returns its index.
    mutating func open() -> Int {
        recordings.append(Recording())
        return recordings.count - 1
    }

    mutating func change(_ index: Int, _ change: (inout Recording) -> Void) {
        change(&recordings[index])
        isChanged = true
    }

    var recorded: [HAR.Entry] {
        recordings.compactMap { recording in
            guard var entry = recording.entry else { return nil }
            let content = HAR.Content(recording.body, mimeType: entry.response.content.mimeType)
            entry.response.content = content
            if entry.response.bodySize >= 0 { entry.response.bodySize = content.size }
            entry.webSocketMessages = recording.messages
            return entry
        }
    }
}
