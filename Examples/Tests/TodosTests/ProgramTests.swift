import ExampleKit
import ExampleSupport
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Todos

@Suite(.timeLimit(.minutes(10)))
struct ProgramTests {
    @Test("without a command the program runs every flow and every style", .requirement("S4.12"))
    func tour() async {
        let outcome = await todos("")
        #expect(outcome.exit == .success)
        #expect(outcome.noted == "")
        let lines = outcome.shown.split(separator: "\n").map(String.init)
        for text in [
            "   1     1  no    Water the ferns", "3 todos, 1 done", "added 7 of user 1: Buy tea & cake, not done",
            "changed 7 of user 1: Buy tea & cake, done", "deleted 1", "there is no todo 1",
            "   7     1  yes   Buy tea & cake", "3 todos, 2 done",
            "async: Sharpen the pencils, Tune the piano, Count the spoons",
            "callback: Sharpen the pencils, Tune the piano, Count the spoons",
        ] {
            #expect(lines.contains(text), "\(text)")
        }
        #expect(lines.last?.hasPrefix("publisher: ") == true)
    }

    @Test(arguments: [
        ("list --user 9", "no todos, 0 done"), ("add Nap", "added 7 of user 1: Nap, not done"),
        ("add Nap --user 2", "added 7 of user 2: Nap, not done"),
        ("done 3", "changed 3 of user 1: Wind the clock in the hall, done"), ("delete 6", "deleted 6"),
        (
            "follow",
            """
            changed 1 of user 1: Water the ferns, done
            changed 2 of user 1: Post the letter to Ottilie, not done
            changed 3 of user 1: Wind the clock in the hall, done
            """
        ),
    ])
    func eachCommandSaysWhatBecameOfIt(line: String, shown: String) async {
        let outcome = await todos(line)
        #expect(outcome.exit == .success)
        #expect(outcome.shown == shown)
    }

    @Test(arguments: [
        ("done 9", "there is no todo 9", ExitCode.refused),
        ("delete 9", "there is no todo 9", .refused),
        ("done", "done needs the ID of a todo: a whole number from 1", .usage),
        ("delete x", "'x' is not the ID of a todo: use a whole number from 1", .usage),
        ("add", "add needs a TITLE", .usage),
        ("list --user 0", "'0' is not a user: use a whole number from 1", .usage),
        ("done 1 --user 2", "done takes no --user: it goes with list and add", .usage),
        ("delete 1 2", "unexpected argument '2': delete takes one ID", .usage),
        ("play", "unknown command 'play': use tour, list, add, done, delete, follow or styles", .usage),
    ])
    func whatGoesWrongIsOneLine(line: String, message: String, code: ExitCode) async {
        let outcome = await todos(line)
        #expect(outcome.exit == code)
        #expect(outcome.shown == "")
        #expect(outcome.noted == "todos: \(message)")
    }

    @Test("with --inspect the program waits after its result")
    func inspect() async {
        let outcome = await Outcome("list --user 9 --inspect") { console, words in
            await Program(console: console, pause: { console.note("waits") }).run(words)
        }
        #expect(outcome.exit == .success)
        #expect(outcome.shown == "no todos, 0 done\nThe page has ended.")
        #expect(outcome.noted == "Press Return to end.\nwaits")
    }

    @Test(
        "with --inspect a failed call stays on the page, and wrong words end",
        arguments: [
            ("done 9", "Press Return to end.\nwaits\ntodos: there is no todo 9", ExitCode.refused),
            ("done x", "todos: 'x' is not the ID of a todo: use a whole number from 1", .usage),
        ])
    func inspectFailure(line: String, noted: String, code: ExitCode) async {
        let outcome = await Outcome("\(line) --inspect") { console, words in
            await Program(console: console, pause: { console.note("waits") }).run(words)
        }
        #expect(outcome.exit == code)
        #expect(outcome.shown == "")
        #expect(outcome.noted == noted)
    }

    @Test func aServerThatIsGoneIsUnavailable() async throws {
        let url = "http://127.0.0.1:1"  // where nothing listens
        let outcome = await todos("styles --server \(url)")
        #expect(outcome.exit == .unavailable)
        #expect(outcome.noted.split(separator: "\n").count == 1)
    }

    @Test func whatTheServerRefusesIsSaidInItsWords() async throws {
        try await MockServer.run { _ in
            .json(#"{"message": "The list\nis full."}"#, statusCode: 409)
        } body: { server in
            let outcome = await todos("add Nap --server \(server.url)")
            #expect(outcome.exit == .refused)
            #expect(outcome.noted == "todos: The list is full.")
        }
    }

    @Test func helpSaysWhatThereIs() async {
        let all = await todos("--help")
        #expect(all.exit == .success)
        #expect(Command.allCases.map(\.rawValue).allSatisfy(all.shown.contains))
        for command in Command.allCases {
            let outcome = await todos("\(command) --help")
            #expect(outcome.exit == .success)
            #expect(outcome.shown.hasPrefix("Usage: todos \(command) "))
            #expect(outcome.shown.split(separator: "\n").allSatisfy { $0.count <= 80 })
        }
    }
}
