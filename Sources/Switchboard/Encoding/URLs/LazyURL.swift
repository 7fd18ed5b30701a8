import Foundation
import SwitchboardPlatform

/// A URL as text, which Foundation parses on first use. libcurl takes the text.
struct LazyURL: Sendable {
    private let state: Protected<(text: String, url: URL?)>

    /// Creates a URL from a text that is known to be valid: a checked base URL followed by escaped text.
    init(_ text: String) {
        state = Protected((text, nil))
    }

    var text: String { state.withLock { $0.text } }

    /// The parsed URL, or nil if Foundation rejects the text.
    var url: URL? {
        let (text, known) = state.value
        if let known { return known }
        let url = URL(string: text)
        state.withLock { $0.url = url }
        return url
    }
}
