import Foundation
import Switchboard

/// TheMovieDB's pictures: another server than ``MovieApi``'s, without a key.
enum ImageApi: EndPointType {
    /// The `poster_path` of a movie.
    case poster(path: String)

    var baseURL: String { MovieBackend.current.images }

    var path: String {
        switch self {
        case .poster(let path): path
        }
    }

    /// A picture takes as long as it takes.
    var options: RequestOptions { RequestOptions { $0.timeouts.total = nil } }
}
