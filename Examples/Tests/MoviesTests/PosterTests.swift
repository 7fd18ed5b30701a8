import ExampleKit
import ExampleSupport
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Movies

@Suite(.timeLimit(.minutes(10)))
struct PosterTests {
    private func withFile(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("movies-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appendingPathComponent("poster.bmp").path)
    }

    @Test func aPosterIsSavedAndNoBarGetsIntoAFile() async throws {
        try await withFile { file in
            let (exit, shown, noted) = await movies("poster 1001 --output \(file)")
            #expect(exit == .success)
            #expect(shown == "saved the poster of movie 1001, 528 KB, as \(file)")
            #expect(noted == "")
            let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
            // A header of 54 bytes, then 513 rows of 342 pixels with three bytes each, each row padded to a multiple of
            // four.
            #expect(bytes.count == 54 + 513 * 1_028)
            #expect(bytes.prefix(2) == Data("BM".utf8))
            #expect(bytes[2..<6] == withUnsafeBytes(of: UInt32(bytes.count).littleEndian) { Data($0) })
        }
    }

    @Test func onATerminalABarIsDrawnAndWiped() async throws {
        try await withFile { file in
            let drawn = Notebook()
            var console = drawn.console
            let note = console.note
            console.draw = { note($0) }
            let exit = await Program(console: console, variables: [:]).run(["poster", "1001", "--output", file])
            #expect(exit == .success)
            #expect(drawn.noted.contains("100 %  528 of 528 KB"))
            #expect(drawn.noted.hasSuffix("\r\u{1B}[K"))
        }
    }

    @Test(arguments: [
        ("poster 1003", "the movie 1003 has no poster", ExitCode.refused),
        ("poster 999", "The resource you requested could not be found.", .refused),
    ])
    func whereThereIsNoPosterThereIsNoFile(line: String, message: String, code: ExitCode) async throws {
        try await withFile { file in
            let (exit, _, noted) = await movies("\(line) --output \(file)")
            #expect(exit == code)
            #expect(noted == "movies: \(message)")
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }

    @Test func aPlaceThatCannotBeWrittenToIsSaid() async throws {
        let (exit, _, noted) = await movies("poster 1001 --output /nowhere/at/all.bmp")
        #expect(exit == .cannotWrite)
        #expect(noted.contains("/nowhere/at/all.bmp"))
    }

    @Test(arguments: [
        ("1001", "bytes=0-", 206), ("1001", "bytes=-5-", 200), ("1001", "bytes=9999999-", 200),
        ("9223372036854775807", "bytes=0-", 401),
    ])
    func theServerAnswersOddRequestsForPosters(id: String, range: String, status: Int) async throws {
        try await EmbeddedServer.run(MovieServer.answer) { url in
            let poster = url.appendingPathComponent("t/p/w342/poster\(id).bmp")
            let response = try await DefaultSession.shared.send(NetworkRequest(.get, poster, headers: ["Range": range]))
            #expect(response.statusCode == status)
        }
    }

    @Test(arguments: [
        ("poster", "poster needs the ID of a movie: a whole number from 1"),
        ("poster 1001", "poster needs --output and the file to write"),
        ("poster 1001 --output", "--output needs a value: the file to write"),
        ("poster 1001 --output /tmp/", "'/tmp/' is not a file to write"),
        ("videos 1001 --output a", "videos takes no --output: it goes with poster"),
        ("poster 1001 --output a --page 2", "poster takes no --page: it goes with now-playing and popular"),
    ])
    func wrongUsageIsOneLine(line: String, message: String) async {
        let (exit, _, noted) = await movies(line)
        #expect(exit == .usage)
        #expect(noted == "movies: \(message)")
    }
}
