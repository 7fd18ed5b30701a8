import Foundation
import SwitchboardPlatform

/// A URL as text, which Foundation parses when somebody asks for it. libcurl takes the text.
struct LazyURL: Sendable {
    private let state: Protected<(text: String, url: URL?)>

    /// Makes one of a text that is a URL: a checked base URL, and what was escaped behind it.
    init(_ text: String) {
        state = Protected((text, nil))
    }

    var text: String { state.withLock { $0.text } }

    /// Nil when Foundation does not take the text for a URL.
    var url: URL? {
        let (text, known) = state.value
        if let known { return known }
        let url = URL(string: text)
        state.withLock { $0.url = url }
        return url
    }
}
