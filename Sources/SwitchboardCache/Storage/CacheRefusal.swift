/// The reason why a response is not stored, and what to do.
struct CacheRefusal: Error, ExpressibleByStringInterpolation {
    let text: String

    init(stringLiteral text: String) {
        self.text = text
    }

    /// Creates the reason that the storage reported.
    init(reported note: String) {
        text = note.hasPrefix("not stored: ") ? String(note.dropFirst(12)) : note
    }

    /// The event for the monitors.
    var note: String { "not stored: \(text)" }
}
