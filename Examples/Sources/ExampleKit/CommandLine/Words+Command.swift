import Foundation

extension Words {
    /// Takes the command from the operands. Returns nil if there are no operands.
    package mutating func takeCommand<Command: CommandWord>(_ type: Command.Type) throws(Failure) -> Command? {
        guard let word = operands.first else { return nil }
        guard let command = Command(rawValue: word) else {
            throw Failure(.usage, "unknown command '\(word)': use \(choice(Command.allCases.map(\.rawValue)))")
        }
        _ = takeOperand()
        return command
    }

    /// Throws if the words contain an option of another command.
    package func checkOptions<Command: CommandWord>(of command: Command) throws(Failure) {
        for option in Command.allCases.flatMap({ $0.usage.options }) where has(option) && !command.takes(option) {
            let others = Command.allCases.filter { $0.takes(option) }.map(\.rawValue)
            throw Failure(
                .usage, "\(command.rawValue) takes no \(option.word): it goes with \(choice(others, "and"))")
        }
    }

    /// Throws if operands are left over.
    package func checkEnd(of command: some CommandWord) throws(Failure) {
        guard let extra = operands.first else { return }
        let taken = command.usage.operands.split(separator: " ").map(String.init)
        let allowed = taken.isEmpty ? "options only" : taken.count == 1 ? "one \(taken[0])" : choice(taken, "and")
        throw Failure(.usage, "unexpected argument '\(extra)': \(command.rawValue) takes \(allowed)")
    }

    /// Takes the next operand as a positive integer: `takeID(of: "a movie", for: command)`.
    package mutating func takeID(of thing: String, for command: some CommandWord) throws(Failure) -> Int {
        guard let word = operands.first else {
            throw Failure(.usage, "\(command.rawValue) needs the ID of \(thing): a whole number from 1")
        }
        guard let id = Int(word), id >= 1 else {
            throw Failure(.usage, "'\(word)' is not the ID of \(thing): use a whole number from 1")
        }
        _ = takeOperand()
        return id
    }

    /// Takes the next operand unchanged: `takeText("the title", for: command)`.
    package mutating func takeText(_ name: String, for command: some CommandWord) throws(Failure) -> String {
        guard let word = takeOperand(), !word.isEmpty else {
            throw Failure(.usage, "\(command.rawValue) needs \(name)")
        }
        return word
    }
}

extension CommandWord {
    fileprivate func takes(_ option: Option) -> Bool {
        usage.options.contains { $0.word == option.word }
    }
}
