import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@testable import App

@Suite struct FilmListTests {
    private let session = StubSession()
    private var manager: NetworkManager { NetworkManager(servers: FilmApi.servers, session: session) }
    private let page = MockResponse.json(#"{"page":1,"totalPages":1,"results":[{"id":7,"title":"Alien"}]}"#)
    private let alien = Film(id: 7, title: "Alien")

    @Test("an isolated model is decoded on the main actor")
    func load() async throws {
        session.stub(FilmApi.popular(page: 1), with: page)
        let list = FilmList(manager: manager)
        await list.load()
        #expect(list.films == [alien] && list.message == nil)
        session.verify()
    }

    @Test("typed endpoints send and receive isolated models")
    func typed() async throws {
        let list = FilmList(manager: manager)
        session.stub(AddFilm(film: alien), with: .json(#"{"id":7,"title":"Alien"}"#))
        try await list.add(alien)
        #expect(list.films == [alien])
        #expect(try session.requests.last?.body.encode() == Data(#"{"id":7,"title":"Alien"}"#.utf8))
        session.stub(FindFilms(text: "x"), with: .json("[]"))
        try await list.find("x")
        #expect(list.films.isEmpty)
        session.stub(FilmApi.rate(Rating(film: 7, stars: 5)), with: .status(204))
        try await list.rate(alien, stars: 5)
        session.verify()
    }

    @Test("protocols of the app have endpoints of the main actor")
    func protocols() async throws {
        session.stub(FindOffers(), with: .json(#"[{"id":7,"title":"Alien"}]"#))
        #expect(try await manager.send(FindOffers()) == [alien])
        #expect(session.requests.last?.path == "/3/v2/offers")
        session.stub(FilmApi.popular(page: 1), with: page)
        #expect(try await FilmRepository(router: manager.router(for: FilmApi.self)).popular() == [alien])
    }

    @Test("interceptors and monitors of the main actor keep state")
    func state() async throws {
        session.stub(.any, times: .any) { _ in .status(204, headers: ["X-Version": "7"]) }
        let (activity, version) = (Activity(), LastVersion())
        let manager = NetworkManager(
            servers: FilmApi.servers, session: session, interceptors: [version], monitors: [activity])
        for _ in 0..<2 { _ = try await manager.response(for: FilmApi.film(id: 1)) }
        #expect(session.requests.map { $0.headers["X-Version"] } == [nil, "7"])
        while activity.finished < 2 { await Task.yield() }
        await manager.reset()
        #expect(version.version == nil)
    }

    @Test("a stub of another case does not answer")
    func otherCase() async throws {
        session.stub(FilmApi.film(id: 1), with: page)
        let list = FilmList(manager: manager)
        await list.load()
        #expect(list.films.isEmpty && list.message != nil)
    }

    @Test("classes that are not Sendable are decoded too")
    func person() async throws {
        session.stub(PeopleApi.person(id: 1), with: .json(#"{"name":"Ripley"}"#))
        #expect(try await FilmList(manager: manager).person().name == "Ripley")
    }

    @Test("completions on the main actor change the view model")
    func completions() async throws {
        session.stub(.any, times: .any) { _ in self.page }
        let list = FilmList(manager: manager)
        list.loadWithCompletion()
        while list.films.isEmpty { await Task.yield() }
        #expect(list.films == [alien])
    }

    @Test("a manager's encoder writes bodies of endpoints, not earlier ones")
    func encoder() async throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        let manager = NetworkManager(servers: FilmApi.servers, session: session, encoder: encoder)
        session.stub(.any, times: .any) { _ in .json(#"{"id":7,"title":"Alien"}"#) }
        let list = FilmList(manager: manager)
        try await list.add(alien)
        #expect(try session.requests.last?.body.encode() == Data(#"{"id":7,"title":"Alien"}"#.utf8))
        let error = await #expect(throws: NetworkError.self) {
            try await list.post(alien, to: URL(string: "https://films.example.com/3/films")!)
        }
        #expect(error?.code == .encodingFailed)
        #expect(error?.reason?.contains("endpoint's `task`") == true)
    }
}
