import Foundation

/// One movie, as every list has it.
struct Movie: Decodable, Equatable, Sendable {
    let id: Int
    let title: String
    /// `2026-03-14`; empty or nil while nobody knows.
    let releaseDate: String?
    /// 0 to 10.
    let rating: Double
    /// Nil for a movie without a poster. They exist, and must not fail the whole page.
    let posterPath: String?
    let backdropPath: String?

    enum CodingKeys: String, CodingKey {
        case id, title
        case releaseDate = "release_date"
        case rating = "vote_average"
        case posterPath = "poster_path"
        case backdropPath = "backdrop_path"
    }
}

/// A page of a list of movies.
struct MoviePage: Decodable, Equatable, Sendable {
    /// The most movies that fit on a page.
    static let size = 20
    /// The highest page that the server gives, however many there are.
    static let highest = 500

    let number: Int
    let movies: [Movie]
    let totalPages: Int
    let totalMovies: Int

    enum CodingKeys: String, CodingKey {
        case number = "page"
        case movies = "results"
        case totalPages = "total_pages"
        case totalMovies = "total_results"
    }
}
