import ExampleKit
import Foundation
import Switchboard

/// Loads movies and videos. The rest of the program uses only this type to reach the network.
struct MovieService: Sendable {
    let router: Router<MovieApi>
    var images = Router<ImageApi>()

    /// Returns a page of the movies in cinemas now.
    func newMovies(page: Int) async throws -> MoviePage {
        try await self.page(page, of: MovieApi.newMovies)
    }

    /// Returns a page of the popular movies.
    func popular(page: Int) async throws -> MoviePage {
        try await self.page(page, of: MovieApi.popular)
    }

    /// Returns movies to watch after the movie `id`.
    func recommended(after id: Int) async throws -> MoviePage {
        try await router.request(.recommended(id: id), as: MoviePage.self)
    }

    /// Returns the trailers and clips of the movie `id`.
    func videos(of id: Int) async throws -> VideoList {
        try await router.request(.video(id: id), as: VideoList.self)
    }

    /// Returns the movie `id`.
    func movie(_ id: Int) async throws -> Movie {
        try await router.request(.movie(id: id), as: Movie.self)
    }

    /// Saves the poster of the movie `id`. Resumes an earlier attempt that was interrupted.
    func savePoster(of id: Int, to file: URL, progress: TransferProgress) async throws {
        guard let path = try await movie(id).posterPath else {
            throw Failure(.refused, "the movie \(id) has no poster")
        }
        try await images.download(.poster(path: path), to: file, keepingPartial: true, progress: progress)
    }

    /// Returns a page, or throws if it does not exist. The server returns an empty page past the end and an error past
    /// the highest page.
    private func page(_ number: Int, of list: (Int) -> MovieApi) async throws -> MoviePage {
        let page: MoviePage
        do {
            page = try await router.request(list(number), as: MoviePage.self)
        } catch let error as NetworkError where ServerError(error)?.code == ServerError.invalidPage {
            page = try await router.request(list(1), as: MoviePage.self)  // has the number of the last page
        }
        let last = max(1, min(page.totalPages, MoviePage.highest))
        guard number <= last else { throw Failure(.refused, "there is no page \(number): the last page is \(last)") }
        return page
    }
}
