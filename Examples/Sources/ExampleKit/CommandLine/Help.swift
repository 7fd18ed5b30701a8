/// The texts of `--help`.
package struct Help<Command: CommandWord>: Sendable {
    let program: String
    let about: String
    /// The options of all commands.
    package let options: [Option]
    private let moreExitCodes: String

    /// Creates the help of a program.
    ///
    /// - Parameters:
    ///   - program: The program's name.
    ///   - about: One or two sentences on what the program does, in lines of at most 80 characters.
    ///   - options: The options of all commands, listed before `--server`, `--verbose` and `--help`.
    ///   - server: The option `--server`, for a program that describes it in more detail.
    ///   - switches: More options of all commands, listed after `--server`.
    ///   - moreExitCodes: The exit codes of this program only, with a leading semicolon.
    package init(
        _ program: String, _ about: String, options: [Option] = [], server: Option = .server,
        switches: [Option] = [], moreExitCodes: String = ""
    ) {
        self.program = program
        self.about = about
        self.options = options + [server] + switches + [.verbose, .help]
        self.moreExitCodes = moreExitCodes
    }

    /// All options of the program and of its commands.
    package var allOptions: [Option] {
        var seen: Set<String> = []
        return (Command.allCases.flatMap { $0.usage.options } + options).filter { seen.insert($0.word).inserted }
    }

    /// Returns the help of a command, or of the program if `command` is nil.
    package func text(for command: Command?) -> String {
        guard let command else { return text }
        let usage = command.usage
        let words = [program, command.rawValue, usage.operands] + usage.options.map(\.call) + ["[options]"]
        let own = usage.options.map { line($0.term, $0.help) }
        return """
            Usage: \(words.filter { !$0.isEmpty }.joined(separator: " "))

            \(usage.details)

            \((own + options.map { line($0.term, help(of: $0)) }).joined(separator: "\n"))
            """
    }

    private var text: String {
        let commands = Command.allCases.map { line("\($0.rawValue) \($0.usage.operands)", $0.usage.summary) }
        let options = allOptions.map { line($0.term, help(of: $0)) }
        return """
            Usage: \(program) [command] [options]

            \(about)

            \(commands.joined(separator: "\n"))

            \(options.joined(separator: "\n"))

            Exit codes: 0 done; 1 the server said no; 64 wrong usage; 65 unreadable answer;
            69 no answer; 74 nowhere to write\(moreExitCodes).
            """
    }

    private func help(of option: Option) -> String {
        guard option.word == Option.help.word, let command = Command.allCases.dropFirst().first else {
            return option.help
        }
        return "\(option.help): \(program) \(command.rawValue) --help"
    }

    /// Returns a term and its meaning in two columns.
    private func line(_ term: String, _ text: String) -> String {
        let indent = String(repeating: " ", count: 22)
        let blanks = String(repeating: " ", count: max(1, 20 - term.count))
        return "  \(term)\(blanks)\(text.replacingLineEnds(with: "\n" + indent))"
    }
}

extension Option {
    /// `--page N`
    fileprivate var term: String { [word, placeholder].compactMap { $0 }.joined(separator: " ") }

    /// `[--page N]`, or without brackets if the option is required.
    fileprivate var call: String { isNeeded ? term : "[\(term)]" }
}

extension String {
    fileprivate func replacingLineEnds(with text: String) -> String {
        split(separator: "\n", omittingEmptySubsequences: false).joined(separator: text)
    }
}
