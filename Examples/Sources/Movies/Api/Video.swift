import Foundation

/// A trailer, a clip or the like.
struct Video: Decodable, Equatable, Sendable {
    let name: String
    /// `Trailer`, `Teaser`, `Clip`, ...
    let type: String
    /// The site that hosts the video, such as `YouTube` or `Vimeo`.
    let site: String
    /// The video's ID on that site.
    let key: String
}

/// The videos of one movie.
struct VideoList: Decodable, Equatable, Sendable {
    /// The movie's ID.
    let id: Int
    let videos: [Video]

    enum CodingKeys: String, CodingKey {
        case id
        case videos = "results"
    }
}
