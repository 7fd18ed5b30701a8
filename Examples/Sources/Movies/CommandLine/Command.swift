import ExampleKit

/// The commands of the program.
enum Command: String, CommandWord {
    case nowPlaying = "now-playing"
    case popular
    case recommended
    case videos
    case poster

    static let help = Help<Command>(
        "movies",
        """
        Asks a movie database: a small one inside this program, unless --server or
        --live names another.
        """,
        options: [.environment], server: .movieServer, switches: [.live], moreExitCodes: "; 78 no key")

    var usage: Usage {
        switch self {
        case .nowPlaying:
            Usage(
                "what is in cinemas now (the default)", options: [.moviePage],
                details: "Shows what is in cinemas now. Without a command, movies does this too.")
        case .popular:
            Usage(
                "what people watch", options: [.moviePage],
                details: "Shows what people watch, the most popular first.")
        case .recommended:
            Usage(
                "what to watch after the movie ID", operands: "ID",
                details: """
                    Shows what to watch after the movie ID. The tables of now-playing and popular
                    have the IDs.
                    """)
        case .videos:
            Usage(
                "the trailers and clips of the movie ID", operands: "ID",
                details: """
                    Shows the trailers and clips of the movie ID. The tables of now-playing and
                    popular have the IDs.
                    """)
        case .poster:
            Usage(
                "the poster of the movie ID, into a file", operands: "ID", options: [.output.needed],
                details: """
                    Saves the poster of the movie ID, with a bar on a terminal. When it breaks off,
                    the same command goes on with what it has.
                    """)
        }
    }
}

extension Option {
    static let moviePage = Option.page.saying("the page of now-playing or popular, from 1 (default: 1)")
    static let environment = Option(
        "--environment", "NAME", expected: "qa, staging or production",
        help: "qa, staging or production (default: production)")
    static let movieServer = Option.server.saying(
        """
        ask a server that runs already, which has the paths
        /qa/3/movie/, /staging/3/movie/ and /production/3/movie/
        """)
    static let live = Option("--live", help: "ask api.themoviedb.org, with the key in TMDB_API_KEY")
}
