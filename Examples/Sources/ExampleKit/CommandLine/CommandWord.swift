/// A program's commands: the first word that is not an option selects one.
package protocol CommandWord: RawRepresentable<String>, CaseIterable, Equatable {
    /// The command's syntax and description.
    var usage: Usage { get }
}

/// The syntax and the description of a command.
package struct Usage: Sendable {
    /// The operands after the command, such as `ID`.
    let operands: String
    /// The options of this command, in addition to those of all commands.
    let options: [Option]
    /// A few words for the list of commands.
    let summary: String
    /// The text of the command's own help page, in lines of at most 80 characters.
    let details: String

    package init(_ summary: String, operands: String = "", options: [Option] = [], details: String) {
        self.operands = operands
        self.options = options
        self.summary = summary
        self.details = details
    }
}
