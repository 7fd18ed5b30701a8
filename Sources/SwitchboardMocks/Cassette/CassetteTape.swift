import Foundation
import Switchboard
import SwitchboardHAR

/// How far a cassette is played and what it recorded, under its one lock.
struct CassetteTape: Sendable {
    /// Which entries of the file have answered.
    private(set) var isUsed: [Bool]
    /// What was not as it was recorded, in words.
    private(set) var faults: [String] = []
    /// Whether there is something that was not saved.
    var isChanged = false
    private var recordings: [Recording] = []

    /// One exchange, in the order in which the requests were sent.
    private struct Recording {
        /// Nil while there is no answer; for good after an error.
        var entry: HAR.Entry?
        /// The body as far as it is there: a stream's grows.
        var body = Data()
    }

    init(entryCount: Int) {
        isUsed = Array(repeating: false, count: entryCount)
    }

    // MARK: Playing

    /// The entry that all before have answered to, in their order.
    var next: Int { isUsed.firstIndex(of: false) ?? isUsed.count }

    /// Uses the first of these entries that has not answered yet, or, where entries repeat, the last one again.
    mutating func use(firstOf candidates: [Int], repeats: Bool) -> Int? {
        let unused = candidates.first { !isUsed[$0] }
        guard let number = unused ?? (repeats ? candidates.last : nil) else { return nil }
        isUsed[number] = true
        return number
    }

    /// Notes a fault, once.
    mutating func note(_ fault: String) {
        if !faults.contains(fault) { faults.append(fault) }
    }

    // MARK: Recording

    /// A place for an exchange that begins.
    mutating func open() -> Int {
        recordings.append(Recording())
        return recordings.count - 1
    }

    mutating func fill(_ place: Int, with entry: HAR.Entry, _ body: Data) {
        recordings[place] = Recording(entry: entry, body: body)
        isChanged = true
    }

    mutating func append(_ chunk: Data, at place: Int) {
        recordings[place].body += chunk
        isChanged = true
    }

    /// Forgets an exchange whose body ended in an error.
    mutating func drop(_ place: Int) {
        recordings[place] = Recording()
    }

    /// What was recorded, secrets included.
    var recorded: [HAR.Entry] {
        recordings.compactMap { recording in
            guard var entry = recording.entry else { return nil }
            let content = HAR.Content(recording.body, mimeType: entry.response.content.mimeType)
            entry.response.content = content
            if entry.response.bodySize >= 0 { entry.response.bodySize = content.size }
            return entry
        }
    }
}
