import ExampleKit
import Foundation
import Testing

/// The command line that all examples share.
struct WordsTests {
    private enum Command: String, CommandWord {
        case go, stay

        var usage: Usage {
            switch self {
            case .go: Usage("goes", operands: "FROM TO", options: [.page.needed], details: "Goes somewhere.")
            case .stay: Usage("stays", options: [.output], details: "Stays.")
            }
        }
    }

    private let help = Help<Command>("walk", "Walks about.")

    private func words(_ line: String) throws -> Words {
        try Words(line.split(separator: " ").map(String.init), options: help.allOptions)
    }

    @Test func optionsStandAnywhereAndTheLastOfTwoWins() throws {
        let words = try words("--page 1 go --page=2 there --verbose -- --page")
        #expect(words.operands == ["go", "there", "--page"])
        #expect(words[.page] == "2")
        #expect(words.has(.verbose) && !words.has(.output))
        #expect(try words.page == 2)
    }

    @Test(arguments: [
        ("--pace", "unknown option '--pace': use --page, --output, --server, --verbose or --help"),
        ("--page", "--page needs a value: a whole number from 1"),
        ("--page --help", "--page needs a value: a whole number from 1"),
        ("--verbose=1", "--verbose takes no value, and got '1'"),
    ])
    func aWrongOptionIsNamed(line: String, message: String) {
        #expect(throws: Failure(.usage, message)) { try words(line) }
    }

    @Test func whatGoesWithAnotherCommandAndWhatIsLeftOverIsRefused() throws {
        let given = try words("--output a")
        #expect(throws: Failure(.usage, "go takes no --output: it goes with stay")) {
            try given.checkOptions(of: Command.go)
        }
        let left = try words("home")
        #expect(throws: Failure(.usage, "unexpected argument 'home': go takes FROM and TO")) {
            try left.checkEnd(of: Command.go)
        }
        #expect(throws: Failure(.usage, "unexpected argument 'home': stay takes options only")) {
            try left.checkEnd(of: Command.stay)
        }
    }

    @Test func helpIsMadeOfWhatIsDeclared() {
        #expect(
            help.text(for: .go) == """
                Usage: walk go FROM TO --page N [options]

                Goes somewhere.

                  --page N            the page, from 1 (default: 1)
                  --server URL        ask a server that runs already
                  --verbose           log requests and answers to standard error, no secrets
                  --help              show this help, or a command's: walk stay --help
                """)
        #expect(
            help.text(for: nil).hasPrefix(
                """
                Usage: walk [command] [options]

                Walks about.

                  go FROM TO          goes
                  stay                stays

                  --page N            the page, from 1 (default: 1)
                  --output FILE       the file to write; one that is there is replaced
                """))
    }
}
