import ExampleKit
import ExampleSupport
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Users

@Suite(.timeLimit(.minutes(10)))
struct ProgramTests {
    @Test("without a command the program runs every flow in sequence", .requirement("S0.14"))
    func tour() async {
        let outcome = await users("")
        #expect(outcome.exit == .success)
        #expect(outcome.noted == "")
        for text in [
            "   1  Ada Marsh                 ada.marsh@example.com", "page 1 of 2, 12 users",
            "Cache-Control: max-age=14400", "   7  Greta Lark                greta.lark@example.com",
            "page 2 of 2, 12 users", "there is no user 100",
            "added Ivy Quill, lamplighter, as user 13 on 2026-03-14T09:26:53Z",
            "user 2 is Bruno Teal, bruno.teal@example.com",
            "The picture has 49206 bytes in a file, the same as in memory.",
        ] {
            #expect(outcome.shown.split(separator: "\n").map(String.init).contains(text), "\(text)")
        }
    }

    @Test("saves a picture byte for byte to the file of --output", .requirement("S0.14"))
    func picture() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("a.bmp")
            let outcome = await users("show 12 --output \(file.path)")
            #expect(outcome.exit == .success)
            #expect(outcome.shown == "user 12 is Leon Birch, leon.birch@example.com\nsaved the picture as \(file.path)")
            let saved = try Data(contentsOf: file)
            let isWhole = saved == Avatar.bytes(of: 12)  // outside the macro, which would search for the differences
            #expect(isWhole)
        }
    }

    @Test(arguments: [
        ("list --page 3", "there is no page 3: the last page is 2", ExitCode.refused),
        ("show 100", "there is no user 100", .refused),
        ("show 100 --output /nowhere/at/all.bmp", "there is no user 100", .refused),
        ("show", "show needs the ID of a user: a whole number from 1", .usage),
        ("show two", "'two' is not the ID of a user: use a whole number from 1", .usage),
        ("add Ivy", "add needs NAME and JOB", .usage),
        ("add Ivy clerk today", "unexpected argument 'today': add takes NAME and JOB", .usage),
        ("headers --page 2", "headers takes no --page: it goes with list", .usage),
        ("list --output a", "list takes no --output: it goes with show", .usage),
        ("list 2", "unexpected argument '2': list takes options only", .usage),
        ("play", "unknown command 'play': use tour, list, headers, show or add", .usage),
        ("--server users", "'users' is not a server: use a URL such as http://127.0.0.1:8080", .usage),
    ])
    func whatGoesWrongIsOneLine(line: String, message: String, code: ExitCode) async {
        let outcome = await users(line)
        #expect(outcome.exit == code)
        #expect(outcome.shown == "")
        #expect(outcome.noted == "users: \(message)")
    }

    @Test func aServerThatIsGoneIsUnavailable() async throws {
        let url = "http://127.0.0.1:1"  // where nothing listens
        let outcome = await users("--server \(url)")
        #expect(outcome.exit == .unavailable)
        #expect(outcome.shown == "")
        #expect(outcome.noted.split(separator: "\n").count == 1)
    }

    @Test(arguments: MockFault.all.filter { $0.code != nil && !$0.needsBody })
    func whateverTheServerDoesIsOneLineAndAnExitCode(fault: MockFault) async throws {
        try await MockServer.run { server in
            server.enqueue(fault.response.repeated())
            let outcome = await Outcome("list --server \(server.url)") { console, words in
                let timeouts = Timeouts(attempt: .seconds(fault.code == .timedOut ? 1 : 20))
                return await Program(console: console, timeouts: timeouts).run(words)
            }
            #expect(outcome.exit == .unavailable || outcome.exit == .badData)
            #expect(outcome.shown.isEmpty)
            #expect(outcome.noted.split(separator: "\n").count == 1)
        }
    }

    @Test func textsOfAServerCannotMoveTheCursor() async throws {
        let hostile =
            #"{"data":{"id":1,"email":"\#u{5C}u001b[2J","first_name":"a\nb","last_name":"","avatar":"http://h/"}}"#
        try await MockServer.run { _ in
            .json(hostile)
        } body: { server in
            let outcome = await users("show 1 --server \(server.url)")
            #expect(outcome.exit == .success)
            #expect(outcome.shown == "user 1 is a b ,  [2J")
        }
    }

    @Test func theLogShowsTheRequests() async {
        let outcome = await users("list --page 2 --verbose")
        #expect(outcome.exit == .success)
        #expect(outcome.noted.contains("/api/users?page=2"))
    }

    @Test func helpSaysWhatThereIs() async {
        let all = await users("--help")
        #expect(all.exit == .success)
        #expect(Command.allCases.map(\.rawValue).allSatisfy(all.shown.contains))
        for command in Command.allCases {
            let outcome = await users("\(command) --help")
            #expect(outcome.exit == .success)
            #expect(outcome.shown.hasPrefix("Usage: users \(command) "))
            #expect(outcome.shown.split(separator: "\n").allSatisfy { $0.count <= 80 })
        }
    }
}
