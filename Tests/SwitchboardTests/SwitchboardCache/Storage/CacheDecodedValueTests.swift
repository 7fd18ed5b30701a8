import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardJSON
import SwitchboardPlatform
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// `RequestOptions.reusesDecodedValue` decodes a stored body once.
@Suite(.timeLimit(.minutes(3)))
struct CacheDecodedValueTests {
    /// Counts its decodes by the name in its JSON.
    private struct Film: Decodable, Sendable, Equatable {
        static let decodes = Protected<[String: Int]>([:])
        let name: String
        var filmYear: Int?

        private enum CodingKeys: String, CodingKey { case name, filmYear }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            name = try values.decode(String.self, forKey: .name)
            filmYear = try values.decodeIfPresent(Int.self, forKey: .filmYear)
            Self.decodes.withLock { [name] in $0[name, default: 0] += 1 }
        }

        static func count(_ name: String) -> Int { decodes.value[name] ?? 0 }
    }

    /// Decodes with a prefix. Equal decoders decode equally.
    private struct Prefixing: ResponseDecoder, Equatable {
        let prefix: String
        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            let text = String(decoding: data, as: UTF8.self).replacing("\"name\":\"", with: "\"name\":\"\(prefix)")
            return try FastJSONDecoder.ofResponses.decode(type, from: Data(text.utf8))
        }
    }

    /// A value that cannot be compared.
    private struct Opaque: ResponseDecoder {
        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            try JSONDecoder().decode(type, from: data)
        }
    }

    private static func session(_ name: String, headers: HTTPHeaders = [:]) -> StubSession {
        StubSession { request in
            request.headers["If-None-Match"] == nil
                ? .text("{\"name\":\"\(name)\",\"film_year\":1979}", headers: headers) : .status(304, headers: headers)
        }
    }

    private func film(
        _ fixture: CacheFixture, _ url: String = "https://h/", headers: HTTPHeaders = [:],
        _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Film {
        try await fixture.router.request(try Self.endPoint(url, headers: headers, change))
    }

    private static func endPoint(
        _ url: String = "https://h/", headers: HTTPHeaders = [:],
        _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }
    ) throws -> URLEndPoint {
        let options = RequestOptions {
            $0.reusesDecodedValue = true
            change(&$0)
        }
        return URLEndPoint(.get, try #require(URL(string: url)), headers: headers, options: options)
    }

    @Test("an unchanged stored response is decoded once with the option")
    func once() async throws {
        let name = "once"
        let fixture = CacheFixture(Self.session(name, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""]))
        for _ in 1...4 { #expect(try await film(fixture).name == name) }
        #expect(Film.count(name) == 1)
        let endPoint = try Self.endPoint()
        let completed: Film = try await withCheckedThrowingContinuation { continuation in
            fixture.router.request(endPoint, as: Film.self) { continuation.resume(with: $0) }
        }
        #expect(completed.name == name && Film.count(name) == 1)
        // A 304 keeps the body and its values.
        fixture.date.advance(by: 61)
        for _ in 1...2 { _ = try await film(fixture) }
        #expect(Film.count(name) == 1 && fixture.session.requests.count == 2)
        _ = try await film(fixture) { $0.reusesDecodedValue = false }
        #expect(Film.count(name) == 2)
    }

    private class Shape: Decodable, @unchecked Sendable {  // has no state that changes
        let name: String
        var text: String { "shape \(name)" }
    }

    private final class Circle: Shape, @unchecked Sendable {  // has no state that changes
        override var text: String { "circle \(name)" }
    }

    @Test("a value of a subclass is not reused for its superclass")
    func subclass() async throws {
        let fixture = CacheFixture(Self.session("a", headers: ["Cache-Control": "max-age=60"]))
        for type in [Circle.self, Shape.self, Circle.self, Shape.self] as [Shape.Type] {
            let text = try await fixture.router.request(Self.endPoint(), as: type).text
            #expect(text == (type == Shape.self ? "shape a" : "circle a"))
        }
    }

    @Test("a value stays with its entry: a new body, removal and reset drop it")
    func entry() async throws {
        let number = Deliveries<Void>()
        let fixture = CacheFixture(
            StubSession { _ in
                number.add(())
                return .text("{\"name\":\"entry \(number.all.count)\"}", headers: ["Cache-Control": "max-age=60"])
            })
        func load(_ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }) async throws -> String {
            try await film(fixture, "https://h/", change).name
        }
        #expect(try await [load(), load()] == ["entry 1", "entry 1"])
        #expect(try await load { $0.cachePolicy = .reloadIgnoringLocalCacheData } == "entry 2")
        #expect(try await load() == "entry 2")
        fixture.date.advance(by: 61)
        #expect(try await [load(), load()] == ["entry 3", "entry 3"])
        await fixture.cache.removeAll()
        #expect(try await [load(), load()] == ["entry 4", "entry 4"])
        await fixture.router.reset()
        #expect(try await [load(), load()] == ["entry 5", "entry 5"])
        for number in 1...5 { #expect(Film.count("entry \(number)") == 1) }
    }

    @Test("another type or another decoder never gets the value")
    func decoders() async throws {
        struct Year: Decodable, Sendable { let filmYear: Int? }
        let name = "decoders"
        let fixture = CacheFixture(Self.session(name, headers: ["Cache-Control": "max-age=60"]))
        var snake = FastJSONDecoder.ofResponses
        snake.keyDecodingStrategy = .convertFromSnakeCase
        func use(_ decoder: any ResponseDecoder) async throws -> Film {
            try await film(fixture) { $0.responseHandling.decoder = decoder }
        }
        #expect(try await fixture.router.request(try Self.endPoint(), as: Year.self).filmYear == nil)
        #expect(try await film(fixture).filmYear == nil)
        #expect(try await use(snake).filmYear == 1979)
        #expect(try await film(fixture).filmYear == nil)
        #expect(try await use(snake).filmYear == 1979)
        #expect(Film.count(name) == 2)
        let year = try await fixture.router.request(
            try Self.endPoint { [snake] in $0.responseHandling.decoder = snake }, as: Year.self)
        #expect(year.filmYear == 1979)
        #expect(try await use(snake).name == name && Film.count(name) == 2)
        for prefix in ["a ", "b ", "a ", "b "] {
            #expect(try await use(Prefixing(prefix: prefix)).name == prefix + name)
        }
        #expect(Film.count("a \(name)") == 1 && Film.count("b \(name)") == 1)
        #expect(fixture.session.requests.count == 1)
    }

    @Test("a decoder that may have changed decodes each time")
    func changingDecoders() async throws {
        let name = "changing"
        let fixture = CacheFixture(Self.session(name, headers: ["Cache-Control": "max-age=60"]))
        let json = JSONDecoder()
        let key = try #require(CodingUserInfoKey(rawValue: "a"))
        var (custom, formatted, informed) = (FastJSONDecoder(), FastJSONDecoder(), FastJSONDecoder())
        custom.dateDecodingStrategy = .custom { _ in Date() }
        formatted.dateDecodingStrategy = .formatted(DateFormatter())
        informed.userInfo = [key: 1]
        for (index, decoder) in ([json, Opaque(), custom, formatted, informed] as [any ResponseDecoder]).enumerated() {
            for _ in 1...2 { _ = try await film(fixture) { $0.responseHandling.decoder = decoder } }
            #expect(Film.count(name) == 2 * (index + 1))
        }
        json.keyDecodingStrategy = .convertFromSnakeCase
        #expect(try await film(fixture) { $0.responseHandling.decoder = json }.filmYear == 1979)
    }

    @Test("each setting of a FastJSONDecoder separates the values")
    func settings() async throws {
        let name = "settings"
        let fixture = CacheFixture(Self.session(name, headers: ["Cache-Control": "max-age=60"]))
        let changes: [@Sendable (inout FastJSONDecoder) -> Void] = [
            { _ in }, { $0.dateDecodingStrategy = .secondsSince1970 }, { $0.dataDecodingStrategy = .deferredToData },
            { $0.keyDecodingStrategy = .convertFromSnakeCase }, { $0.maximumDepth = 3 },
            {
                $0.nonConformingFloatDecodingStrategy =
                    .convertFromString(positiveInfinity: "a", negativeInfinity: "b", nan: "c")
            },
            {
                $0.nonConformingFloatDecodingStrategy =
                    .convertFromString(positiveInfinity: "a", negativeInfinity: "b", nan: "d")
            },
        ]
        for (index, change) in changes.enumerated() {
            for _ in 1...3 {
                _ = try await film(fixture) {
                    var decoder = FastJSONDecoder()
                    change(&decoder)
                    $0.responseHandling.decoder = decoder
                }
            }
            #expect(Film.count(name) == index + 1)
        }
        // A response has at most four values: those of the first decoders are gone.
        _ = try await film(fixture) { $0.responseHandling.decoder = FastJSONDecoder() }
        #expect(Film.count(name) == changes.count + 1)
    }

    @Test("identities and environments never share a value")
    func partitions() async throws {
        let session = StubSession { request in
            let user = request.headers["X-User"] ?? ""
            return .text(
                "{\"name\":\"\(user) in \(request.environment?.name ?? "")\"}", headers: ["Cache-Control": "max-age=60"]
            )
        }
        let cache = ResponseCache(identity: { $0.headers["X-User"] })
        let manager = NetworkManager(environment: .qa, session: session, interceptors: [cache])
        for _ in 1...2 {
            for environment in [NetworkEnvironment.qa, .production] {
                manager.environment = environment
                for user in ["anna", "ben"] {
                    let film: Film = try await manager.request(try Self.endPoint(headers: ["X-User": user]))
                    #expect(film.name == "\(user) in \(environment.name)")
                    #expect(Film.count(film.name) == 1)
                }
            }
        }
    }

    @Test("a body that an interceptor changed is decoded each time")
    func changedBody() async throws {
        let name = "changed"
        let cache = ResponseCache()
        let number = Deliveries<Void>()
        let unwrap = AdHocInterceptor { request, next in
            var response = try await next(request)
            number.add(())
            response.body = Data("{\"name\":\"\(name) \(number.all.count)\"}".utf8)
            return response
        }
        let session = Self.session(name, headers: ["Cache-Control": "max-age=60"])
        let router = Router<URLEndPoint>(session: session, interceptors: [unwrap], exchangeInterceptors: [cache])
        for number in 1...3 {
            let film: Film = try await router.request(try Self.endPoint())
            #expect(film.name == "\(name) \(number)")
        }
        let plain = Router<URLEndPoint>(session: session, exchangeInterceptors: [cache])
        for _ in 1...2 { #expect(try await plain.request(try Self.endPoint(), as: Film.self).name == name) }
        #expect(Film.count(name) == 1 && session.requests.count == 1)
    }

    @Test("statuses and decoding errors are those of a call without the option")
    func errors() async throws {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=60", "Content-Type": "application/json"]
        for response in [
            MockResponse.text("{\"nam\":1}", headers: headers), .text("", headers: headers),
            .text("{\"message\":\"no\"}", status: 404, headers: headers),
            .text("<html>", headers: ["Content-Type": "text/html"]),
        ] {
            var errors: [NetworkError] = []
            for reuses in [false, true, true] {
                let fixture = CacheFixture(StubSession { _ in response })
                for _ in 1...2 {
                    let error = await #expect(throws: NetworkError.self) {
                        try await film(fixture) { $0.reusesDecodedValue = reuses }
                    }
                    errors.append(try #require(error))
                }
            }
            #expect(Set(errors.map { "\($0.code) \($0.reason ?? "") \($0.serverMessage ?? "")" }).count == 1)
        }
        // Text, data and an empty response need no decoder.
        let fixture = CacheFixture(StubSession { _ in .text("x", headers: headers) })
        for _ in 1...2 {
            #expect(try await fixture.router.request(try Self.endPoint(), as: String.self) == "x")
            #expect(try await fixture.router.request(try Self.endPoint(), as: Data.self) == Data("x".utf8))
            _ = try await fixture.router.request(try Self.endPoint(), as: EmptyResponse.self)
        }
    }

    @Test("a cache keeps the values of 256 responses, the last ones decoded")
    func bound() async throws {
        let session = StubSession { .text("{\"name\":\"bound \($0.path)\"}", headers: ["Cache-Control": "max-age=60"]) }
        let fixture = CacheFixture(session)
        for number in 0..<300 { _ = try await film(fixture, "https://h/\(number)") }
        for (number, count) in [(299, 1), (44, 1), (0, 2), (43, 2)] {
            _ = try await film(fixture, "https://h/\(number)")
            #expect(Film.count("bound /\(number)") == count, "\(number)")
        }
        #expect(session.requests.count == 300)
    }

    @Test("a response that is only on disk is decoded for each read")
    func disk() async throws {
        try await withFolder { folder in
            let name = "disk"
            let fixture = try CacheFixture(Self.session(name, headers: ["Cache-Control": "max-age=60"])) {
                try ResponseCache(folder: folder, memoryLimit: 0, now: $0)
            }
            for _ in 1...3 { _ = try await film(fixture) }
            #expect(Film.count(name) == 3 && fixture.session.requests.count == 1)
            let next = try CacheFixture(StubSession()) { try ResponseCache(folder: folder, now: $0) }
            for _ in 1...3 { _ = try await film(next) }
            #expect(Film.count(name) == 4)
        }
    }

    @Test("concurrent calls get equal values of their own URL")
    func concurrency() async throws {
        let session = StubSession { .text("{\"name\":\"many \($0.path)\"}", headers: ["Cache-Control": "max-age=60"]) }
        let fixture = CacheFixture(session)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<400 {
                group.addTask {
                    if index % 50 == 49 { await fixture.cache.remove(.path("\(index % 7)")) }
                    let film = try await film(fixture, "https://h/\(index % 7)")
                    #expect(film.name == "many /\(index % 7)")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("an optional value is decoded, and nil is a value too")
    func optional() async throws {
        let name = "optional"
        let fixture = CacheFixture(Self.session(name, headers: ["Cache-Control": "max-age=60"]))
        for _ in 1...2 {
            let film = try await fixture.router.request(try Self.endPoint(), as: Film?.self)
            #expect(film?.name == name)
        }
        #expect(try await film(fixture).name == name)
        let null = CacheFixture(StubSession { _ in .text("null", headers: ["Cache-Control": "max-age=60"]) })
        for _ in 1...2 { #expect(try await null.router.request(try Self.endPoint(), as: Film?.self) == nil) }
        #expect(try await null.router.request(try Self.endPoint(), as: [Film]?.self) == nil)
    }
}
