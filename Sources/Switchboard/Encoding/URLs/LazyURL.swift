import Foundation
import SwitchboardPlatform

/// A URL as text, which Foundation parses on first use. libcurl uses the text.
struct LazyURL: Sendable {
    let text: String
    private let parsed = Protected<URL?>(nil)

    /// Creates a URL from a text that is known to be valid: a checked base URL followed by escaped text.
    init(_ text: String) {
        self.text = text
    }

    /// The parsed URL, or nil if Foundation rejects the text.
    var url: URL? {
        if let url = parsed.value { return url }
        let url = URL(string: text)
        parsed.withLock { $0 = url }
        return url
    }
}
