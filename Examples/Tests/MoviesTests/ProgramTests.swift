import ExampleKit
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import Movies

@Suite(.timeLimit(.minutes(10)))
struct ProgramTests {
    @Test func withoutACommandItShowsWhatIsInCinemas() async {
        let (exit, shown, noted) = await movies("")
        let lines = shown.split(separator: "\n")
        #expect(exit == .success)
        #expect(lines.count == 22)
        #expect(lines.first == "   #  Title                                         Released    Rating        ID")
        #expect(lines[1] == "   1  Amber Almanac                                 2026-01-01     4.0      1001")
        #expect(lines.last == "production: page 1 of 3, 60 movies")
        #expect(noted == "")
    }

    @Test(arguments: [
        "", "popular", "popular --page 3", "--environment qa", "recommended 2001 --environment staging", "videos 1001",
    ])
    func everyLineFitsATerminal(line: String) async {
        let shown = await movies(line).shown
        #expect(shown.split(separator: "\n").map { String($0).displayWidth }.max() ?? 0 <= 80)
    }

    @Test(arguments: [
        ("now-playing --page 2", "  21  ", "production: page 2 of 3, 60 movies"),
        ("popular --environment staging", "   1  ", "staging: page 1 of 3, 60 movies"),
        ("recommended 3001 --environment qa", "   1  ", "qa: page 1 of 1, 8 movies"),
        ("videos 1001", "   1  ", "production: 3 videos of movie 1001"),
        ("videos 1003", "   1  ", "production: 1 video of movie 1003"),
    ])
    func eachCommandShowsItsTable(line: String, firstRow: String, footer: String) async {
        let (exit, shown, _) = await movies(line)
        #expect(exit == .success)
        #expect(shown.split(separator: "\n").dropFirst().first?.hasPrefix(firstRow) == true)
        #expect(shown.hasSuffix("\n\n" + footer))
    }

    @Test func aMovieWithoutVideosHasNoTable() async {
        #expect(await movies("videos 1002").shown == "production: no videos of movie 1002")
    }

    @Test func aMovieWithoutADateSaysSo() async {
        #expect(await movies("").shown.contains("  unknown  "))
    }

    @Test func theEnvironmentsShareNoMovie() async {
        var titles: [Set<Substring>] = []
        for environment in ["qa", "staging", "production"] {
            let lines = await movies("--environment \(environment)").shown.split(separator: "\n").dropFirst().dropLast()
            titles.append(Set(lines.map { $0.dropFirst(6).prefix(44) }))
        }
        #expect(titles.map(\.count) == [20, 20, 20])
        #expect(titles.reduce(into: Set()) { $0.formUnion($1) }.count == 60)
    }

    @Test func threePagesAreSixtyMovies() async {
        var ids: Set<Substring> = []
        for page in 1...3 {
            let lines = await movies("popular --page \(page)").shown.split(separator: "\n").dropFirst().dropLast()
            ids.formUnion(lines.map { $0.suffix(4) })
        }
        #expect(ids.count == 60)
    }

    @Test(arguments: [
        ("--page 4", "there is no page 4: the last page is 3"),
        ("popular --page 500", "there is no page 500: the last page is 3"),
        ("popular --page 501", "there is no page 501: the last page is 3"),
        ("recommended 999", "The resource you requested could not be found."),
        ("videos 999", "The resource you requested could not be found."),
    ])
    func whatTheServerDoesNotHaveIsOneLine(line: String, message: String) async {
        let (exit, shown, noted) = await movies(line)
        #expect(exit == .refused)
        #expect(shown == "")
        #expect(noted == "movies: \(message)")
    }

    @Test(arguments: [[:], ["TMDB_API_KEY": ""]])
    func theRealServerNeedsAKey(variables: [String: String]) async {
        let (exit, _, noted) = await movies("--live", variables: variables)
        #expect(exit == .configuration)
        #expect(noted == "movies: --live needs a key: set TMDB_API_KEY to yours from themoviedb.org")
    }

    @Test(arguments: ["", "videos 999", "--page 501"])
    func theLogHidesTheKey(line: String) async {
        let (_, shown, noted) = await movies(line + " --verbose")
        #expect(noted.contains("/production/3/movie/"))
        #expect(noted.contains("api_key="))
        #expect(!(shown + noted).contains(MovieServer.key))
    }

    @Test func anAnswerThatCannotBeWrittenIsAFailure() async {
        let full = Console(show: { _ in throw Failure(.cannotWrite, "full") }, note: { _ in })
        #expect(await Program(console: full, variables: [:]).run([]) == .cannotWrite)
        #expect(await Program(console: full, variables: [:]).run(["--help"]) == .cannotWrite)
    }

    @Test func helpGoesToStandardOutput() async {
        for command in Command.allCases.map(\.rawValue) {
            let (exit, shown, noted) = await movies("\(command) --help")
            #expect(exit == .success)
            #expect(shown.hasPrefix("Usage: movies \(command) "))
            #expect(noted == "")
        }
        let shown = await movies("--help").shown
        #expect((Command.allCases.map(\.rawValue) + Command.help.allOptions.map(\.word)).allSatisfy(shown.contains))
    }
}
