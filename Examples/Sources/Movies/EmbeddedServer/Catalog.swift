import Switchboard

/// The invented movies of one environment, identical at every start.
nonisolated struct Catalog: Sendable {
    /// The movies in cinemas now, in the list's order.
    let newMovies: [MovieRecord]
    /// The same movies, the most popular first.
    let popular: [MovieRecord]

    /// Creates sixty movies, which fill three pages.
    init(environment: NetworkEnvironment) {
        let firstID = environment == .production ? 1001 : environment == .staging ? 2001 : 3001
        newMovies = Self.titles(from: .of(environment)).enumerated().map { index, title in
            MovieRecord(id: firstID + index, title: title, index: index)
        }
        popular = newMovies.sorted { $0.popularity > $1.popularity }
    }

    /// Returns eight other movies, or nil if no movie has this ID.
    func recommended(after id: Int) -> [MovieRecord]? {
        guard let index = newMovies.firstIndex(where: { $0.id == id }) else { return nil }
        return (1...8).map { newMovies[(index + 7 * $0) % newMovies.count] }
    }

    /// Returns up to three videos, or nil if no movie has this ID.
    func videos(of id: Int) -> [VideoRecord]? {
        guard let movie = newMovies.first(where: { $0.id == id }) else { return nil }
        return ["Trailer", "Teaser", "Behind the Scenes"].prefix((id + 2) % 4).enumerated().map { index, type in
            VideoRecord(of: movie, number: index + 1, type: type)
        }
    }

    /// Combines adjectives and nouns. Every tenth title comes from the complete titles instead.
    private static func titles(from words: WordLists) -> [String] {
        (0..<60).map { index in
            guard index % 10 != 3 else { return words.titles[index / 10 % words.titles.count] }
            let adjective = words.adjectives[index % words.adjectives.count]
            let noun = words.nouns[index % words.nouns.count]
            return index % 3 == 0 ? "\(adjective) \(noun)" : "The \(adjective) \(noun)"
        }
    }
}
