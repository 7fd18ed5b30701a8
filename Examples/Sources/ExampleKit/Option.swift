/// A word of a command line that begins with a dash.
package struct Option: Sendable {
    package let word: String
    /// What stands for its value in a help text, such as `N`; nil for a switch.
    let placeholder: String?
    /// What its value has to be, as an error says it.
    let expected: String
    /// What it does, as a help text says it.
    private(set) var help: String
    /// Whether its command makes no sense without it.
    private(set) var isNeeded = false

    /// A switch.
    package init(_ word: String, help: String) {
        self.init(word, nil, expected: "", help: help)
    }

    /// An option with a value.
    package init(_ word: String, _ placeholder: String?, expected: String, help: String) {
        self.word = word
        self.placeholder = placeholder
        self.expected = expected
        self.help = help
    }

    package static let page = Option(
        "--page", "N", expected: "a whole number from 1", help: "the page, from 1 (default: 1)")
    package static let output = Option(
        "--output", "FILE", expected: "the file to write", help: "the file to write; one that is there is replaced")
    package static let server = Option(
        "--server", "URL", expected: "a URL such as http://127.0.0.1:8080", help: "ask a server that runs already")
    package static let verbose = Option(
        "--verbose", help: "log requests and answers to standard error, no secrets")
    package static let help = Option("--help", help: "show this help, or a command's")

    /// The same with another text in the help.
    package func saying(_ help: String) -> Option {
        var option = self
        option.help = help
        return option
    }

    /// The same for a command that makes no sense without it.
    package var needed: Option {
        var option = self
        option.isNeeded = true
        return option
    }
}
