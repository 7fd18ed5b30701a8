import Foundation
import Switchboard

/// TheMovieDB's pictures. Their server is not the one of ``MovieApi`` and needs no key.
enum ImageApi: EndPointType {
    /// The poster at a movie's `poster_path`.
    case poster(path: String)

    var baseURL: String { MovieBackend.current.images }

    var path: String {
        switch self {
        case .poster(let path): path
        }
    }

    /// A slow picture has no time limit.
    var options: RequestOptions { RequestOptions { $0.timeouts.total = nil } }
}
