import ExampleKit
import Foundation
import Switchboard

/// Movies and videos, for the rest of the program: the only place that talks to the network.
struct MovieService: Sendable {
    let router: Router<MovieApi>
    var images = Router<ImageApi>()

    /// A page of what is in cinemas now.
    func newMovies(page: Int) async throws -> MoviePage {
        try await self.page(page, of: MovieApi.newMovies)
    }

    /// A page of what people watch.
    func popular(page: Int) async throws -> MoviePage {
        try await self.page(page, of: MovieApi.popular)
    }

    /// What to watch after the movie `id`.
    func recommended(after id: Int) async throws -> MoviePage {
        try await router.request(.recommended(id: id), as: MoviePage.self)
    }

    /// The trailers and clips of the movie `id`.
    func videos(of id: Int) async throws -> VideoList {
        try await router.request(.video(id: id), as: VideoList.self)
    }

    /// The movie `id` by itself.
    func movie(_ id: Int) async throws -> Movie {
        try await router.request(.movie(id: id), as: Movie.self)
    }

    /// Saves the poster of the movie `id`, and goes on with what an earlier attempt left.
    func savePoster(of id: Int, to file: URL, progress: TransferProgress) async throws {
        guard let path = try await movie(id).posterPath else {
            throw Failure(.refused, "the movie \(id) has no poster")
        }
        try await images.download(.poster(path: path), to: file, keepingPartial: true, progress: progress)
    }

    /// A page that exists. The server answers one past the end with an empty page, and refuses one past the highest.
    private func page(_ number: Int, of list: (Int) -> MovieApi) async throws -> MoviePage {
        let page: MoviePage
        do {
            page = try await router.request(list(number), as: MoviePage.self)
        } catch let error as NetworkError where ServerError(error)?.code == ServerError.invalidPage {
            page = try await router.request(list(1), as: MoviePage.self)  // says which page is the last
        }
        let last = max(1, min(page.totalPages, MoviePage.highest))
        guard number <= last else { throw Failure(.refused, "there is no page \(number): the last page is \(last)") }
        return page
    }
}
