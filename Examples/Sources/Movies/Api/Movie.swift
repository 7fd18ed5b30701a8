import Foundation

/// A movie in a list.
struct Movie: Decodable, Equatable, Sendable {
    let id: Int
    let title: String
    /// The date, such as `2026-03-14`. Empty or nil until it is announced.
    let releaseDate: String?
    /// The rating, from 0 to 10.
    let rating: Double
    /// The path of the poster. Nil for a movie without one, so that such a movie does not fail the whole page.
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
    /// The most movies on one page.
    static let size = 20
    /// The highest page that the server returns, whatever the number of pages.
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
