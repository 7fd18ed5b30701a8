/// The texts of `--help`.
package struct Help<Command: CommandWord>: Sendable {
    let program: String
    let about: String
    /// The options of all commands.
    package let options: [Option]
    private let moreExitCodes: String

    /// Makes the help of a program.
    ///
    /// - Parameters:
    ///   - program: Its name.
    ///   - about: What it does, in a sentence or two. Lines of 80 characters at most.
    ///   - options: Those of all its commands, in front of `--server`, `--verbose` and `--help`.
    ///   - server: The option `--server`, where there is more to say about it.
    ///   - switches: More options of all its commands, behind `--server`.
    ///   - moreExitCodes: Those that not every example has, with a semicolon in front.
    package init(
        _ program: String, _ about: String, options: [Option] = [], server: Option = .server,
        switches: [Option] = [], moreExitCodes: String = ""
    ) {
        self.program = program
        self.about = about
        self.options = options + [server] + switches + [.verbose, .help]
        self.moreExitCodes = moreExitCodes
    }

    /// Every option there is.
    package var allOptions: [Option] {
        var seen: Set<String> = []
        return (Command.allCases.flatMap { $0.usage.options } + options).filter { seen.insert($0.word).inserted }
    }

    /// The help on a command, or on the whole program.
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

    /// A term and what it means, in two columns.
    private func line(_ term: String, _ text: String) -> String {
        let indent = String(repeating: " ", count: 22)
        let blanks = String(repeating: " ", count: max(1, 20 - term.count))
        return "  \(term)\(blanks)\(text.replacingLineEnds(with: "\n" + indent))"
    }
}

extension Option {
    /// `--page N`
    fileprivate var term: String { [word, placeholder].compactMap { $0 }.joined(separator: " ") }

    /// `[--page N]`, or without brackets when it may not be left out.
    fileprivate var call: String { isNeeded ? term : "[\(term)]" }
}

extension String {
    fileprivate func replacingLineEnds(with text: String) -> String {
        split(separator: "\n", omittingEmptySubsequences: false).joined(separator: text)
    }
}
