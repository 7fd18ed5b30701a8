import Switchboard

/// The movies of one environment: invented, and the same at every start.
struct Catalog: Sendable {
    /// In cinemas now, in the order of the list.
    let newMovies: [MovieRecord]
    /// The same movies, the most popular first.
    let popular: [MovieRecord]

    /// Sixty movies: three full pages.
    init(environment: NetworkEnvironment) {
        let firstID = environment == .production ? 1001 : environment == .staging ? 2001 : 3001
        newMovies = Self.titles(from: .of(environment)).enumerated().map { index, title in
            MovieRecord(id: firstID + index, title: title, index: index)
        }
        popular = newMovies.sorted { $0.popularity > $1.popularity }
    }

    /// Eight others to watch after a movie, or nil if there is no such movie.
    func recommended(after id: Int) -> [MovieRecord]? {
        guard let index = newMovies.firstIndex(where: { $0.id == id }) else { return nil }
        return (1...8).map { newMovies[(index + 7 * $0) % newMovies.count] }
    }

    /// None to three videos, or nil if there is no such movie.
    func videos(of id: Int) -> [VideoRecord]? {
        guard let movie = newMovies.first(where: { $0.id == id }) else { return nil }
        return ["Trailer", "Teaser", "Behind the Scenes"].prefix((id + 2) % 4).enumerated().map { index, type in
            VideoRecord(of: movie, number: index + 1, type: type)
        }
    }

    /// Every tenth title is one of the whole ones; an adjective meets each noun before it meets it again.
    private static func titles(from words: WordLists) -> [String] {
        (0..<60).map { index in
            guard index % 10 != 3 else { return words.titles[index / 10 % words.titles.count] }
            let adjective = words.adjectives[index % words.adjectives.count]
            let noun = words.nouns[index % words.nouns.count]
            return index % 3 == 0 ? "\(adjective) \(noun)" : "The \(adjective) \(noun)"
        }
    }
}
