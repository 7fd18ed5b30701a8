/// An option of a command line, such as `--page`.
package struct Option: Sendable {
    package let word: String
    /// The placeholder of the value in a help text, such as `N`. Nil for a switch.
    let placeholder: String?
    /// The values that the option accepts, as an error message lists them.
    let expected: String
    /// The description in a help text.
    private(set) var help: String
    /// Whether the command fails without the option.
    private(set) var isNeeded = false

    /// Creates a switch.
    package init(_ word: String, help: String) {
        self.init(word, nil, expected: "", help: help)
    }

    /// Creates an option with a value.
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
    package static let inspect = Option(
        "--inspect", help: "show the calls on a page until Return is pressed")
    package static let help = Option("--help", help: "show this help, or a command's")

    /// Returns a copy with another description.
    package func saying(_ help: String) -> Option {
        var option = self
        option.help = help
        return option
    }

    /// A copy that its command requires.
    package var needed: Option {
        var option = self
        option.isNeeded = true
        return option
    }
}
