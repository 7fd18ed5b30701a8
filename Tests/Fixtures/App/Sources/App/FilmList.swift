import Foundation
import Switchboard

/// A view model that stores a router.
final class FilmList {
    private(set) var films: [Film] = []
    private(set) var message: String?
    private let router: Router<FilmApi>
    private let manager: NetworkManager
    private var handle: RequestHandle?

    init(manager: NetworkManager) {
        self.manager = manager
        router = manager.router(for: FilmApi.self)
    }

    // MARK: Values

    func load() async {
        do {
            let page: FilmPage = try await router.request(.popular(page: 1))
            films = page.results
        } catch {
            message = error.localizedDescription
        }
    }

    func add(_ film: Film) async throws { films.append(try await manager.send(AddFilm(film: film))) }

    func find(_ text: String) async throws { films = try await manager.send(FindFilms(text: text)) }

    func rate(_ film: Film, stars: Int) async throws {
        _ = try await router.response(for: .rate(Rating(film: film.id, stars: stars)))
    }

    func person() async throws -> Person {
        try await manager.request(PeopleApi.person(id: 1), as: Person.self)
    }

    func catalog() async throws -> Catalog {
        try await manager.request(FilmApi.all, as: Catalog.self)
    }

    func genres() async throws -> [String] { try await manager.request(GenreApi.list) }

    func post(_ film: Film, to url: URL) async throws -> Film {
        try await manager.request(URLEndPoint(.post, url, task: .requestBody(JSONBody(film))), as: Film.self)
    }

    // MARK: Completions

    func loadWithCompletion() {
        handle = router.request(.popular(page: 1), as: FilmPage.self, on: MainActor.self) {
            self.films = (try? $0.get())?.results ?? []
        }
    }

    func findWithCompletion(_ text: String) {
        manager.send(FindFilms(text: text), on: MainActor.self) { result in
            switch result {
            case .success(let films): self.films = films
            case .failure(let error): self.message = error.localizedDescription
            }
        }
    }

    func loadTitles(_ completion: @escaping ([String]) -> Void) {
        manager.request(FilmApi.all, as: Catalog.self, on: MainActor.self) {
            self.message = "loaded"
            completion((try? $0.get())?.titles ?? [])
        }
    }

    func loadData() {
        router.request(.film(id: 1), on: MainActor.self) { data, _, _ in self.message = "\(data?.count ?? 0) bytes" }
        router.response(for: .film(id: 1), on: MainActor.self) { self.message = (try? $0.get())?.text }
    }

    func cancel() {
        handle?.cancel()
        router.cancel()
    }

    // MARK: Concurrent calls and transfers

    func pages(_ numbers: [Int]) async throws -> [FilmPage] {
        let calls = numbers.map { number in
            Task { try await router.request(.popular(page: number), as: FilmPage.self) }
        }
        var pages: [FilmPage] = []
        for call in calls { pages.append(try await call.value) }
        return pages
    }

    func save(to file: URL) async throws {
        let progress = TransferProgress()
        Task { for await update in progress { message = "\(update.fraction ?? 0)" } }
        try await router.download(.film(id: 1), to: file, progress: progress)
    }

    func explain() async -> String { "\(await router.explain(.popular(page: 1)))" }
}

/// A service that takes any router.
final class FilmService {
    private let router: any NetworkRouter<FilmApi>

    init(_ router: any NetworkRouter<FilmApi>) { self.router = router }

    func popular() async throws -> [Film] { try await router.request(.popular(page: 1), as: FilmPage.self).results }
}
