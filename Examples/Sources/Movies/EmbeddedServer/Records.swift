import Foundation

// The server's records in TheMovieDB's JSON. The client has separate types, so the tests compare both sides with the
// JSON and not with each other.

/// A movie in the server's JSON.
nonisolated struct MovieRecord: Encodable, Sendable {
    let id: Int
    let title: String
    let originalTitle: String
    let overview: String
    let posterPath: Nullable
    let backdropPath: Nullable
    let releaseDate: String
    let voteAverage: Double
    let voteCount: Int
    let popularity: Double
    let genreIds: [Int]
    let adult = false
    let video = false
    let originalLanguage = "en"

    /// Creates the movie at `index` of its catalog. The third has no pictures, and the fifth has no date.
    init(id: Int, title: String, index: Int) {
        self.id = id
        self.title = title
        originalTitle = title
        overview = "Nobody has seen \(title), because it was never made."
        posterPath = Nullable(index == 2 ? nil : "/poster\(id).bmp")
        backdropPath = Nullable(index == 2 ? nil : "/backdrop\(id).jpg")
        releaseDate = index == 4 ? "" : String(format: "2026-%02d-%02d", 1 + index * 5 % 9, 1 + index * 11 % 28)
        voteAverage = Double(40 + index * 17 % 56) / 10
        voteCount = 100 + index * 37 % 900
        popularity = Double(index * 43 % 60) + 10.5
        genreIds = [18, 35 + index % 3]
    }
}

/// A video in the server's JSON.
nonisolated struct VideoRecord: Encodable, Sendable {
    let id: String
    let key: String
    let name: String
    let site = "YouTube"
    let type: String
    let size = 1080
    let official = true
    let publishedAt = "2026-02-03T16:00:00.000Z"
    let language = "en"
    let country = "US"

    // All keys but two are camel case here, and the encoder converts them to snake case.
    enum CodingKeys: String, CodingKey {
        case id, key, name, site, type, size, official, publishedAt
        case language = "iso_639_1"
        case country = "iso_3166_1"
    }

    init(of movie: MovieRecord, number: Int, type: String) {
        id = "video-\(movie.id)-\(number)"
        key = "mv\(movie.id)x\(number)"
        name = "\(movie.title): \(type)"
        self.type = type
    }
}

/// A page of movies.
nonisolated struct PageRecord: Encodable, Sendable {
    /// The first and the last release date in a list of new movies.
    struct Dates: Encodable, Sendable {
        let maximum: String
        let minimum: String
    }

    /// The dates, or nil for other lists.
    var dates: Dates?
    let page: Int
    let results: [MovieRecord]
    let totalPages: Int
    let totalResults: Int

    /// Creates page `number` of `movies`. A page past the end is empty.
    init(_ number: Int, of movies: [MovieRecord]) {
        page = number
        results = Array(movies.dropFirst((number - 1) * 20).prefix(20))
        totalPages = (movies.count + 19) / 20
        totalResults = movies.count
    }
}

/// The videos of a movie.
nonisolated struct VideosRecord: Encodable, Sendable {
    let id: Int
    let results: [VideoRecord]
}

/// An error.
nonisolated struct ErrorRecord: Encodable, Sendable {
    let success = false
    let statusCode: Int
    let statusMessage: String
}

/// Encodes nil as `null`. A plain optional property would omit its key.
nonisolated struct Nullable: Encodable, Sendable {
    private let text: String?

    init(_ text: String?) { self.text = text }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
