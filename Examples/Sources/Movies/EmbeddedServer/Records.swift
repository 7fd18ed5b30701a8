import Foundation

// What the server keeps and sends, in TheMovieDB's shapes. They are not the client's types, so that each side is tested against the
// shape and not against itself.

/// A movie, as the server knows it.
struct MovieRecord: Encodable, Sendable {
    let id: Int
    let title: String
    let originalTitle: String
    let overview: String
    @Nullable var posterPath: String?
    @Nullable var backdropPath: String?
    let releaseDate: String
    let voteAverage: Double
    let voteCount: Int
    let popularity: Double
    let genreIds: [Int]
    let adult = false
    let video = false
    let originalLanguage = "en"

    /// The movie at `index` of its catalog. The third has no pictures, the fifth no date yet.
    init(id: Int, title: String, index: Int) {
        self.id = id
        self.title = title
        originalTitle = title
        overview = "Nobody has seen \(title), because it was never made."
        posterPath = index == 2 ? nil : "/poster\(id).bmp"
        backdropPath = index == 2 ? nil : "/backdrop\(id).jpg"
        releaseDate = index == 4 ? "" : String(format: "2026-%02d-%02d", 1 + index * 5 % 9, 1 + index * 11 % 28)
        voteAverage = Double(40 + index * 17 % 56) / 10
        voteCount = 100 + index * 37 % 900
        popularity = Double(index * 43 % 60) + 10.5
        genreIds = [18, 35 + index % 3]
    }
}

/// A video, as the server knows it.
struct VideoRecord: Encodable, Sendable {
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

    // Camel case for all but two: the encoder makes them snake case.
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
struct PageRecord: Encodable, Sendable {
    /// The first and last release date on a list of new movies.
    struct Dates: Encodable, Sendable {
        let maximum: String
        let minimum: String
    }

    /// Nil for other lists.
    var dates: Dates?
    let page: Int
    let results: [MovieRecord]
    let totalPages: Int
    let totalResults: Int

    /// The page `number` of `movies`; one past the end is empty.
    init(_ number: Int, of movies: [MovieRecord]) {
        page = number
        results = Array(movies.dropFirst((number - 1) * 20).prefix(20))
        totalPages = (movies.count + 19) / 20
        totalResults = movies.count
    }
}

/// The videos of a movie.
struct VideosRecord: Encodable, Sendable {
    let id: Int
    let results: [VideoRecord]
}

/// An error.
struct ErrorRecord: Encodable, Sendable {
    let success = false
    let statusCode: Int
    let statusMessage: String
}

/// Writes nil as `null`, where a plain optional property would leave its key out.
@propertyWrapper struct Nullable: Encodable, Sendable {
    var wrappedValue: String?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}
