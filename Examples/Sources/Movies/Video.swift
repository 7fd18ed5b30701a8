import Foundation

/// A trailer, a clip or the like.
struct Video: Decodable, Equatable, Sendable {
    let name: String
    /// `Trailer`, `Teaser`, `Clip`, ...
    let type: String
    /// Where to watch it: `YouTube`, `Vimeo`.
    let site: String
    /// Its name over there.
    let key: String
}

/// The videos of one movie.
struct VideoList: Decodable, Equatable, Sendable {
    /// The movie's.
    let id: Int
    let videos: [Video]

    enum CodingKeys: String, CodingKey {
        case id
        case videos = "results"
    }
}
