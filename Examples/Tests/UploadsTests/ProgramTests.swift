import ExampleKit
import ExampleSupport
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Uploads

@Suite(.timeLimit(.minutes(10)))
struct ProgramTests {
    @Test(
        "without a command the program makes every kind of upload",
        .requirement("S2.4", "S2.5", "S2.8", "S0.17"))
    func tour() async {
        let outcome = await uploads()
        #expect(outcome.exit == .success)
        #expect(outcome.noted == "")
        let lines = outcome.shown.split(separator: "\n").map(String.init)
        for text in [
            "stars         number   5", "seen          bool     true", "by            null",
            "title         text     Holiday",
            // `greeting=Hello%2C%20&target=%F0%9F%8C%8E` has 40 characters.
            "understood application/x-www-form-urlencoded, 40 bytes", "target        text     🌎",
            // A header of 54 bytes, then 200 rows of 320 pixels with three bytes each.
            "understood image/bmp, 192054 bytes",
            "A file could not be read: \"/nowhere/at/all.txt\"",
        ] {
            #expect(lines.contains(text), "\(text)")
        }
        #expect(lines.contains { $0.hasPrefix("photo         file     picture.bmp, image/bmp, 192054 bytes, ") })
        #expect(lines.contains { $0.hasPrefix("note          file     note.txt, text/plain, 13 bytes, ") })
    }

    @Test func whatIsGivenIsWhatIsSent() async throws {
        let json = await uploads("json", "title=a=b", "stars=5", "half=0.5", "seen=false", "by=null")
        #expect(json.exit == .success)
        #expect(
            json.shown == """
                understood application/json, 59 bytes
                Name          Kind     Content
                by            null
                half          number   0.5
                seen          bool     false
                stars         number   5
                title         text     a=b
                """)
        let form = await uploads("form", "a b=c&d", "a b=")
        #expect(
            form.shown == """
                understood application/x-www-form-urlencoded, 18 bytes
                Name          Kind     Content
                a b           text     c&d
                a b           text
                """)
    }

    @Test("names an unreadable file, and skips it with --skip", .requirement("S0.17", "S0.16"))
    func files() async throws {
        try await withTemporaryFolder { folder in
            let (note, gone) = (folder.appendingPathComponent("note.txt"), folder.appendingPathComponent("gone.txt"))
            try Data("abc".utf8).write(to: note)
            let fields = ["title=Holiday", "note=@\(note.path)", "gone=@\(gone.path)"]
            let refused = await uploads("multipart", fields[0], fields[1], fields[2])
            #expect(refused.exit == .noInput)
            #expect(refused.noted == "uploads: A file could not be read: \"\(gone.path)\"")
            let skipped = await uploads("multipart", "--skip", fields[0], fields[1], fields[2])
            #expect(skipped.exit == .success)
            let lines = skipped.shown.split(separator: "\n")
            #expect(lines.contains("note          file     note.txt, text/plain, 3 bytes, 024d0127"))
            #expect(lines.last == "left out, because it cannot be read: \(gone.path)")
            let file = await uploads("file", note.path)
            #expect(file.shown.hasPrefix("sent 3 of 3 bytes\nunderstood text/plain, 3 bytes\n"))
            let folderItself = await uploads("file", folder.path)
            #expect(folderItself.exit == .noInput)
        }
    }

    @Test(arguments: [
        (["json"], "json needs NAME=VALUE"), (["form", "a"], "'a' is no field: use NAME=VALUE"),
        (["form", "=a"], "'=a' is no field: use NAME=VALUE"), (["file"], "file needs a FILE"),
        (["file", "a", "b"], "unexpected argument 'b': file takes one FILE"),
        (["json", "a=1", "--skip"], "json takes no --skip: it goes with multipart"),
        (["play"], "unknown command 'play': use tour, json, form, multipart or file"),
    ])
    func wrongUsageIsOneLine(words: [String], message: String) async {
        let outcome = await Outcome(words) { console, words in await Program(console: console).run(words) }
        #expect(outcome.exit == .usage)
        #expect(outcome.shown == "")
        #expect(outcome.noted == "uploads: \(message)")
    }

    @Test func onATerminalABarIsDrawnAndWiped() async throws {
        let drawn = Notebook()
        var console = drawn.console
        let note = console.note
        console.draw = { note($0) }
        let exit = await Program(console: console).run(["multipart", "a=b"])
        #expect(exit == .success)
        #expect(drawn.noted.contains("100 %"))
        #expect(drawn.noted.hasSuffix("\r\u{1B}[K"))
    }

    @Test func aServerThatIsGoneIsUnavailable() async throws {
        let url = "http://127.0.0.1:1"  // where nothing listens
        let outcome = await uploads("form", "a=b", "--server", "\(url)")
        #expect(outcome.exit == .unavailable)
        #expect(outcome.noted.split(separator: "\n").count == 1)
    }

    @Test func aConnectionThatBreaksAmidAnUploadIsNotTheFilesFault() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("big.bin")
            try Data(repeating: 7, count: 3_000_000).write(to: file)
            try await MockServer.run { server in
                server.enqueue(MockResponse.reset(at: .requestBody(after: 1_000)).repeated())
                let outcome = await uploads("file", file.path, "--server", "\(server.url)")
                #expect(outcome.exit == .unavailable)
                #expect(outcome.shown == "")
                #expect(outcome.noted.split(separator: "\n").count == 1)
            }
        }
    }

    @Test func helpSaysWhatThereIs() async {
        let all = await uploads("--help")
        #expect(all.exit == .success)
        #expect(Command.allCases.map(\.rawValue).allSatisfy(all.shown.contains))
        for command in Command.allCases {
            let outcome = await uploads("\(command)", "--help")
            #expect(outcome.exit == .success)
            #expect(outcome.shown.hasPrefix("Usage: uploads \(command) "))
            #expect(outcome.shown.split(separator: "\n").allSatisfy { $0.count <= 80 })
        }
    }
}
