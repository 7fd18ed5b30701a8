import Foundation
import Switchboard
import SwitchboardCalls
import SwitchboardStreams
import SwitchboardWebSocket

/// Sequences of isolated models, read on the main actor.
final class FilmStreams {
    private(set) var titles: [String] = []
    private let router: Router<FilmApi>
    private let latest = LatestCall<FilmPage>()

    init(_ router: Router<FilmApi>) { self.router = router }

    func elements() async throws {
        for try await film in router.elements(for: .all, as: Film.self) { titles.append(film.title) }
    }

    func lines() async throws {
        for try await film in router.jsonLines(for: .all, as: Film.self) { titles.append(film.title) }
        for try await line in router.lines(for: .all) { titles.append(line) }
    }

    func events() async throws {
        for try await event in router.events(for: .ticker) { titles.append(event.data) }
    }

    func decodedEvents() async throws {
        for try await film in router.events(for: .ticker, as: Film.self, until: "[DONE]") { titles.append(film.title) }
    }

    func linkedPages() async throws {
        for try await page in router.pages(for: .all, as: [Film].self) { titles += page.value.map(\.title) }
    }

    func numberedPages() async throws {
        let pages = router.pages(
            as: FilmPage.self, from: 1, while: { $0.page < $0.totalPages }, for: { .issues(page: $0) })
        for try await film in pages.items({ $0.results }) { titles.append(film.title) }
    }

    func genericPages() async throws {
        let linked = router.pages(for: .all, as: Listing<Film>.self)
        for try await film in linked.items({ $0.items }) { titles.append(film.title) }
        let numbered = router.pages(
            as: Listing<Film>.self, from: 1, while: { $0.hasMore }, for: { .issues(page: $0) })
        for try await film in numbered.items(\.items) { titles.append(film.title) }
        let cursored = router.pages(
            as: Listing<Film>.self, next: { $0.items.last?.id }, for: { .issues(page: $0 ?? 1) })
        for try await page in cursored { titles += page.value.items.map(\.title) }
    }

    func talk() async throws {
        let socket = try await router.webSocket(for: .chat, sending: Rating.self, receiving: Film.self)
        try await socket.send(Rating(film: 1, stars: 5))
        for try await film in socket { titles.append(film.title) }
    }

    func calls() async throws {
        let call = router.call(for: .popular(page: 1), as: FilmPage.self)
        titles += try await call.map { $0.results.map(\.title) }.value
        titles += try await latest.value {
            try await self.router.request(.popular(page: 1), as: FilmPage.self)
        }.results.map(\.title)
        let (first, second) = try await call.zip(router.call(for: .popular(page: 2), as: FilmPage.self)).value
        titles += (first.results + second.results).map(\.title)
        let pages = (3...9).map { router.call(for: .popular(page: $0), as: FilmPage.self) }
        titles += try await NetworkCall.all(pages).value.flatMap { $0.results.map(\.title) }
        call.start(on: MainActor.self) { self.titles += (try? $0.get())?.results.map(\.title) ?? [] }
    }
}
