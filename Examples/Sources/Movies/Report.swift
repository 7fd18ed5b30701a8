import ExampleKit
import Foundation
import Switchboard

extension MovieService {
    /// Performs `call` and returns the text to show.
    func report(on call: MovieApi, in environment: NetworkEnvironment) async throws -> String {
        let (table, footer) =
            switch call {
            case .newMovies(let page): try await Report.of(newMovies(page: page))
            case .popular(let page): try await Report.of(popular(page: page))
            case .recommended(let id): try await Report.of(recommended(after: id))
            case .video(let id): try await Report.of(videos(of: id))
            case .movie(let id): try await Report.of(movie(id))
            }
        return (table.rows.isEmpty ? "" : table.text + "\n\n") + "\(environment.name): \(footer)"
    }
}

/// Formats the program's output: a table and the line below it.
enum Report {
    static func of(_ page: MoviePage) -> (Table, footer: String) {
        var table = Table(
            .init("#", width: 4, isNumber: true), .init("Title", width: 44),
            .init("Released", width: 10), .init("Rating", width: 6, isNumber: true),
            .init("ID", width: 8, isNumber: true))
        let first = (min(max(page.number, 1), MoviePage.highest) - 1) * MoviePage.size + 1
        for (rank, movie) in zip(first..., page.movies) {
            let date = movie.releaseDate ?? ""
            let rating = String(format: "%.1f", movie.rating)
            table.rows.append(["\(rank)", movie.title, date.isEmpty ? "unknown" : date, rating, "\(movie.id)"])
        }
        let count = counted(page.totalMovies, "movie")
        return (table, page.movies.isEmpty ? count : "page \(page.number) of \(page.totalPages), \(count)")
    }

    static func of(_ list: VideoList) -> (Table, footer: String) {
        var table = Table(
            .init("#", width: 4, isNumber: true), .init("Name", width: 32),
            .init("Type", width: 17), .init("Site", width: 8), .init("Key", width: 11))
        for (rank, video) in zip(1..., list.videos) {
            table.rows.append(["\(rank)", video.name, video.type, video.site, video.key])
        }
        return (table, "\(counted(list.videos.count, "video")) of movie \(list.id)")
    }

    static func of(_ movie: Movie) -> (Table, footer: String) {
        (Table(), "movie \(movie.id) is \(movie.title)")
    }
}
