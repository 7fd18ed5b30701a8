/// The texts of `--help`.
enum Help {
    /// The help on a command, or on the whole program.
    static func text(for command: Command?) -> String {
        switch command {
        case .nowPlaying:
            """
            Usage: movies now-playing [--page N] [options]

            Shows what is in cinemas now. Without a command, movies does this too.

            \(page)
            \(options)
            """
        case .popular:
            """
            Usage: movies popular [--page N] [options]

            Shows what people watch, the most popular first.

            \(page)
            \(options)
            """
        case .recommended:
            """
            Usage: movies recommended ID [options]

            Shows what to watch after the movie ID. The tables of now-playing and popular
            have the IDs.

            \(options)
            """
        case .videos:
            """
            Usage: movies videos ID [options]

            Shows the trailers and clips of the movie ID. The tables of now-playing and
            popular have the IDs.

            \(options)
            """
        case .poster:
            """
            Usage: movies poster ID --output FILE [options]

            Saves the poster of the movie ID, with a bar on a terminal. When it breaks off,
            the same command goes on with what it has.

              --output FILE       the file to write; one that is there is replaced

            \(options)
            """
        case nil:
            """
            Usage: movies [command] [options]

            Asks a movie database: a small one inside this program, unless --server or
            --live names another.

              now-playing         what is in cinemas now (the default)
              popular             what people watch
              recommended ID      what to watch after the movie ID
              videos ID           the trailers and clips of the movie ID
              poster ID           the poster of the movie ID, into a file

            \(page)
              --output FILE       the file that poster writes
            \(options)

            Exit codes: 0 done; 1 the server said no; 64 wrong usage; 65 unreadable answer;
            69 no answer; 74 nowhere to write; 78 no key.
            """
        }
    }

    private static let page = """
          --page N            the page of now-playing or popular, from 1 (default: 1)
        """

    private static let options = """
          --environment NAME  qa, staging or production (default: production)
          --server URL        ask a server that runs already, which has the paths
                              /qa/3/movie/, /staging/3/movie/ and /production/3/movie/
          --live              ask api.themoviedb.org, with the key in TMDB_API_KEY
          --verbose           log what is sent and received to standard error, no keys
          --help              show this help, or a command's: movies popular --help
        """
}
