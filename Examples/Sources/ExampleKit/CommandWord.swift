/// The first word that is not an option: an enum of such words.
package protocol CommandWord: RawRepresentable<String>, CaseIterable, Equatable, Sendable {
    /// How it is called, and what for.
    var usage: Usage { get }
}

/// How a command is called, and what for.
package struct Usage: Sendable {
    /// What follows the command: `ID`.
    let operands: String
    /// The options that it takes besides those of all commands.
    let options: [Option]
    /// A few words, for the list of commands.
    let summary: String
    /// Sentences, for its own help. Lines of 80 characters at most.
    let details: String

    package init(_ summary: String, operands: String = "", options: [Option] = [], details: String) {
        self.operands = operands
        self.options = options
        self.summary = summary
        self.details = details
    }
}
