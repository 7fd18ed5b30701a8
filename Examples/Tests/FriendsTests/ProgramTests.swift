import ExampleKit
import ExampleSupport
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Friends

@Suite(.timeLimit(.minutes(10)))
struct ProgramTests {
    @Test("without a command the program runs every step in sequence", .requirement("S1.12", "S1.14", "S1.10"))
    func tour() async {
        let outcome = await friends()
        #expect(outcome.exit == .success)
        #expect(outcome.noted == "")
        let lines = outcome.shown.split(separator: "\n").map(String.init)
        for text in [
            "   2  Bruno Teal                bruno@example.com", "   8  Dario Wren                unknown", "4 friends",
            "from the cache: 4 friends, no requests", "refreshed:      4 friends, 1 request",
            "added Hugo Pike as friend 9", "removed 3", "Bruno Teal, Edda Stone, Dario Wren, Hugo Pike",
            "chess: given up", "tea & cake: Bruno Teal, Edda Stone", "Hugo Pike is your friend already.",
            "You have no friend 99.",
        ] {
            #expect(lines.contains(text), "\(text)")
        }
    }

    @Test(arguments: [
        (["add", "Hugo Pike"], "added Hugo Pike as friend 9"), (["remove", "2"], "removed 2"),
    ])
    func eachCommandSaysWhatBecameOfIt(words: [String], shown: String) async {
        let outcome = await Outcome(words) { console, words in await Program(console: console).run(words) }
        #expect(outcome.exit == .success)
        #expect(outcome.shown == shown)
    }

    @Test(arguments: [
        (["list", "--token", "wrong"], "Sign in first.", ExitCode.refused),
        (["list", "--token="], "Authentication failed: the bearer token is empty", .unavailable),
        (["remove", "99"], "You have no friend 99.", .refused),
        (["add", "Edda Stone"], "Edda Stone is your friend already.", .refused),
        (["group", "none"], "You have no group none.", .refused),
        (["add"], "add needs a NAME", .usage), (["group"], "group needs a NAME", .usage),
        (["remove", "-1"], "'-1' is not the ID of a friend: use a whole number from 1", .usage),
        (["list", "2"], "unexpected argument '2': list takes options only", .usage),
        (["add", "a", "b"], "unexpected argument 'b': add takes one NAME", .usage),
        (["play"], "unknown command 'play': use tour, list, add, remove or group", .usage),
    ])
    func whatGoesWrongIsOneLine(words: [String], message: String, code: ExitCode) async {
        let outcome = await Outcome(words) { console, words in await Program(console: console).run(words) }
        #expect(outcome.exit == code)
        #expect(outcome.shown == "")
        #expect(outcome.noted.hasPrefix("friends: \(message)"))
        #expect(outcome.noted.split(separator: "\n").count == 1)
    }

    @Test("the log shows that a token is sent and hides its value", .requirement("S1.5"))
    func log() async {
        let outcome = await friends("list", "--verbose")
        #expect(outcome.exit == .success)
        #expect(outcome.noted.contains("Authorization: "))
        #expect(outcome.noted.contains("/api/friends?user_id=1"))
        #expect(!outcome.noted.contains(FriendsServer.token))
    }

    @Test func aServerThatIsGoneIsUnavailable() async throws {
        let url = "http://127.0.0.1:1"  // where nothing listens
        let outcome = await friends("list", "--server", "\(url)")
        #expect(outcome.exit == .unavailable)
        #expect(outcome.noted.split(separator: "\n").count == 1)
    }

    @Test func helpSaysWhatThereIs() async {
        let all = await friends("--help")
        #expect(all.exit == .success)
        #expect(Command.allCases.map(\.rawValue).allSatisfy(all.shown.contains))
        for command in Command.allCases {
            let outcome = await friends("\(command)", "--help")
            #expect(outcome.exit == .success)
            #expect(outcome.shown.hasPrefix("Usage: friends \(command) "))
            #expect(outcome.shown.split(separator: "\n").allSatisfy { $0.count <= 80 })
        }
    }
}
