import ExampleKit
import Foundation
import Switchboard
import Testing

@testable import Movies

struct InvocationTests {
    @Test(
        arguments: [
            ("", .newMovies(page: 1)),
            ("now-playing", .newMovies(page: 1)),
            ("--page 2", .newMovies(page: 2)),
            ("now-playing --page 3", .newMovies(page: 3)),
            ("--page 3 popular", .popular(page: 3)),
            ("popular --page=4", .popular(page: 4)),
            ("popular --page 1 --page 2", .popular(page: 2)),
            ("recommended 1001", .recommended(id: 1001)),
            ("videos 7", .video(id: 7)),
            ("-- videos 7", .video(id: 7)),
            ("videos -- 7", .video(id: 7)),
        ] as [(String, MovieApi)])
    func aCommandIsACall(line: String, call: MovieApi) throws {
        #expect(try parse(line) == .run(Arguments(call: call)))
    }

    @Test(arguments: [
        "--verbose --environment qa videos 7", "videos 7 --environment=qa --verbose",
        "videos --verbose 7 --environment qa",
    ])
    func optionsStandAnywhere(line: String) throws {
        #expect(try parse(line) == .run(Arguments(call: .video(id: 7), environment: .qa, isVerbose: true)))
    }

    @Test func theSourceIsChosen() throws {
        let url = try #require(URL(string: "http://127.0.0.1:8080/base"))
        #expect(try parse("--server http://127.0.0.1:8080/base") == .run(Arguments(source: .server(url))))
        #expect(try parse("--live") == .run(Arguments(source: .live)))
        #expect(try parse("--live --environment production") == .run(Arguments(source: .live)))
    }

    @Test(
        arguments: [
            ("--help", nil), ("-h", nil), ("popular --help", .popular), ("--help videos", .videos),
            ("recommended --help", .recommended),
            ("now-playing --page 2 --help", .nowPlaying),
        ] as [(String, Command?)])
    func helpNeedsNothingElse(line: String, command: Command?) throws {
        #expect(try parse(line) == .help(command))
    }

    @Test(arguments: [
        ("play", "unknown command 'play': use now-playing, popular, recommended, videos or poster"),
        ("play --help", "unknown command 'play': use now-playing, popular, recommended, videos or poster"),
        (
            "--color",
            "unknown option '--color': use --page, --output, --environment, --server, --live, --verbose or --help"
        ),
        (
            "--pages=2",
            "unknown option '--pages': use --page, --output, --environment, --server, --live, --verbose or --help"
        ),
        ("-v", "unknown option '-v': use --page, --output, --environment, --server, --live, --verbose or --help"),
        ("--environment prod", "unknown environment 'prod': use qa, staging or production"),
        ("--environment", "--environment needs a value: qa, staging or production"),
        ("--environment --verbose", "--environment needs a value: qa, staging or production"),
        ("--page", "--page needs a value: a whole number from 1"),
        ("--page 0", "'0' is not a page: use a whole number from 1"),
        ("--page -1", "'-1' is not a page: use a whole number from 1"),
        ("--page=", "'' is not a page: use a whole number from 1"),
        ("--page two", "'two' is not a page: use a whole number from 1"),
        ("--page 1.5", "'1.5' is not a page: use a whole number from 1"),
        ("--page 99999999999999999999", "'99999999999999999999' is not a page: use a whole number from 1"),
        ("recommended", "recommended needs the ID of a movie: a whole number from 1"),
        ("videos --verbose", "videos needs the ID of a movie: a whole number from 1"),
        ("videos amber", "'amber' is not the ID of a movie: use a whole number from 1"),
        ("videos 0", "'0' is not the ID of a movie: use a whole number from 1"),
        ("videos -5", "'-5' is not the ID of a movie: use a whole number from 1"),
        ("videos 5 --page 2", "videos takes no --page: it goes with now-playing and popular"),
        ("popular 5", "unexpected argument '5': popular takes options only"),
        ("videos 5 6", "unexpected argument '6': videos takes one ID"),
        ("--verbose=yes", "--verbose takes no value, and got 'yes'"),
        ("--server", "--server needs a value: a URL such as http://127.0.0.1:8080"),
        ("--server movies", "'movies' is not a server: use a URL such as http://127.0.0.1:8080"),
        ("--server ftp://host/", "'ftp://host/' is not a server: use a URL such as http://127.0.0.1:8080"),
        ("--server http://host/?a=b", "'http://host/?a=b' is not a server: use a URL such as http://127.0.0.1:8080"),
        ("--server http://host:99999", "'http://host:99999' is not a server: use a URL such as http://127.0.0.1:8080"),
        ("--live --server http://host", "--live and --server exclude each other: use one"),
        ("--live --environment qa", "--live has no environment 'qa': use production"),
    ])
    func wrongUsageNamesTheWordAndWhatIsAllowed(line: String, message: String) async {
        #expect(throws: Failure(.usage, message)) { try parse(line) }
        let (exit, shown, noted) = await movies(line)
        #expect(exit == .usage)
        #expect(shown == "")
        #expect(noted == "movies: \(message)")
    }

    @Test func anEmptyWordIsNoCommand() {
        #expect(throws: Failure.self) { try Invocation([""]) }
    }

    private func parse(_ line: String) throws -> Invocation {
        try Invocation(line.split(separator: " ").map(String.init))
    }
}
