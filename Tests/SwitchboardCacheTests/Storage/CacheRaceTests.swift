import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardJSON
import SwitchboardPlatform
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// Decoded values and revalidations in the background, with removals and cancellations at random points.
@Suite(.timeLimit(.minutes(10)), .serialized)
struct CacheRaceTests {
    /// `t` is written as `n`, so each strategy has one right date for a number.
    private struct Dated: Decodable, Sendable, Equatable {
        let n: Int
        let t: Date
    }

    private struct Counted: Decodable, Sendable { let n: Double }

    /// Fails for odd numbers.
    private struct Even: Decodable, Sendable {
        struct Odd: Error {}
        let n: Int
        init(from decoder: any Decoder) throws {
            n = try [String: Int](from: decoder)["n"] ?? 0
            guard n % 2 == 0 else { throw Odd() }
        }
    }

    private enum Strategy: CaseIterable {
        case seconds, milliseconds, reference

        var decoder: FastJSONDecoder {
            var decoder = FastJSONDecoder()
            switch self {
            case .seconds: decoder.dateDecodingStrategy = .secondsSince1970
            case .milliseconds: decoder.dateDecodingStrategy = .millisecondsSince1970
            case .reference: break
            }
            return decoder
        }

        func date(_ number: Int) -> Date {
            switch self {
            case .seconds: Date(timeIntervalSince1970: Double(number))
            case .milliseconds: Date(timeIntervalSince1970: Double(number) / 1_000)
            case .reference: Date(timeIntervalSinceReferenceDate: Double(number))
            }
        }
    }

    /// Serves a number that grows now and then, and confirms its tag.
    private struct Origin: Sendable {
        let number = Protected(0)
        let random: Protected<SeededGenerator>

        init(seed: UInt64) { random = Protected(SeededGenerator(seed: seed)) }

        func pick(_ count: Int) -> Int { random.withLock { Int.random(in: 0..<count, using: &$0) } }

        var session: AdHocSession {
            AdHocSession { request in
                for _ in 0..<pick(8) { await Task.yield() }
                try Task.checkCancellation()
                let isNew = pick(4) == 0
                let number = number.withLock { number in
                    if isNew { number += 1 }
                    return number
                }
                var fields: HTTPHeaders = [
                    "ETag": "\"\(number)\"", "Cache-Control": "max-age=1, stale-while-revalidate=9",
                    "Content-Type": "application/json",
                ]
                guard request.headers["If-None-Match"]?.contains("\"\(number)\"") == true else {
                    let body = Data("{\"n\":\(number),\"t\":\(number)}".utf8)
                    return NetworkResponse(statusCode: 200, headers: fields, body: body, url: request.url)
                }
                fields["Content-Type"] = "text/html"
                return NetworkResponse(statusCode: 304, headers: fields, url: request.url)
            }
        }
    }

    @Test("an answer that must not be stored supersedes the loads before it")
    func superseded() async throws {
        let (begun, gate) = (Deliveries<Void>(), Gate())
        let session = AdHocSession { request in
            let number = begun.count(adding: ())
            if number == 1 { try await gate.wait() }
            return NetworkResponse(
                statusCode: number == 2 ? 404 : 200,
                headers: ["Cache-Control": number == 2 ? "no-store" : "max-age=3600"], body: Data("\(number)".utf8),
                url: request.url)
        }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [ResponseCache()])
        let endPoint = URLEndPoint(.get, URL(text: "https://h.example.com/me"))
        let first = Task { try await router.response(for: endPoint).text }
        _ = try await begun.first()
        #expect(try await router.rawResponse(for: endPoint).statusCode == 404)
        gate.open()
        #expect(try await first.value == "1")
        #expect(try await router.response(for: endPoint).text == "3")
    }

    @Test("an answer that is not stored supersedes no load of another variant")
    func otherVariant() async throws {
        let (begun, gate) = (Deliveries<Void>(), Gate())
        let session = AdHocSession { request in
            let isFirst = begun.count(adding: ()) == 1
            if isFirst { try await gate.wait() }
            return NetworkResponse(
                statusCode: isFirst ? 200 : 404,
                headers: ["Vary": "Accept-Language", "Cache-Control": isFirst ? "max-age=3600" : "no-store"],
                url: request.url)
        }
        let cache = ResponseCache(identity: { _ in "me" })
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [cache])
        let url = URL(text: "https://h.example.com/me")
        let english = URLEndPoint(.get, url, headers: ["Accept-Language": "en"])
        let french = URLEndPoint(.get, url, headers: ["Accept-Language": "fr"])
        let first = Task { try await router.response(for: english) }
        _ = try await begun.first()
        #expect(try await router.rawResponse(for: french).statusCode == 404)
        gate.open()
        _ = try await first.value
        #expect(try await router.response(for: english).cacheOutcome == .hit)
    }

    @Test(
        "no call gets another decoder's value, whatever happens meanwhile", arguments: [false, true],
        [1, 2, 3] as [UInt64])
    func attack(isOnDisk: Bool, seed: UInt64) async throws {
        try await withFolder { folder in
            let origin = Origin(seed: seed)
            let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
            let cache =
                isOnDisk
                ? try ResponseCache(folder: folder, identity: { _ in "me" }, now: { date.now })
                : ResponseCache(identity: { _ in "me" }, now: { date.now })
            let routers = (1...2).map { _ in
                Router<URLEndPoint>(session: origin.session, exchangeInterceptors: [cache])
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...12 {
                    group.addTask {
                        for _ in 1...60 { try await step(origin, cache, routers, date) }
                    }
                }
                try await group.waitForAll()
            }
            await cache.reset()
            #expect(await cache.usage.count == 0)
            // Nothing is left of the calls that were canceled: a response is stored and revalidated as ever.
            let events = Events()
            let endPoint = try endPoint(0, .seconds, [events])
            let router = routers[0]
            #expect(try await router.response(for: endPoint).cacheOutcome == .miss(.notStored))
            #expect(try await router.response(for: endPoint).cacheOutcome == .hit)
            date.advance(by: 5)
            #expect(try await router.response(for: endPoint).cacheOutcome == .stale(.whileRevalidating))
            try await events.wait(for: "finished", count: 4)
            #expect(try await router.response(for: endPoint).cacheOutcome == .hit)
        }
    }

    private func endPoint(_ path: Int, _ strategy: Strategy, _ monitors: [any EventMonitor] = []) throws -> URLEndPoint
    {
        let options = RequestOptions {
            $0.decoder = strategy.decoder
            $0.monitors = monitors
        }
        return URLEndPoint(.get, try #require(URL(string: "https://h/\(path)")), options: options)
    }

    private func step(
        _ origin: Origin, _ cache: ResponseCache, _ routers: [Router<URLEndPoint>], _ date: TestDate
    ) async throws {
        let strategy = Strategy.allCases[origin.pick(3)]
        let endPoint = try endPoint(origin.pick(3), strategy)
        let router = routers[origin.pick(2)]
        let call = Task {
            switch origin.pick(4) {
            case 0:
                let value = try await router.request(endPoint, as: Dated?.self)
                #expect(value?.t == value.map { strategy.date($0.n) } && value != nil)
            case 1: #expect(try await router.request(endPoint, as: Counted.self).n >= 0)
            case 2: #expect(try await router.request(endPoint, as: Even.self).n % 2 == 0)
            default:
                let value = try await router.request(endPoint, as: Dated.self)
                #expect(value.t == strategy.date(value.n))
            }
        }
        switch origin.pick(24) {
        case 0: await cache.removeAll()
        case 1: await cache.remove(.path("\(origin.pick(3))"))
        case 2: await cache.remove(.url(URL(text: "https://h/1")))
        case 3: await cache.reset()
        case 4...7: date.advance(by: Double(origin.pick(4)))
        case 8...13:
            for _ in 0..<origin.pick(12) { await Task.yield() }
            call.cancel()
        default: break
        }
        do {
            try await call.value
        } catch let error as NetworkError {
            #expect(error.code == .decodingFailed && error.underlying is Even.Odd || call.isCancelled, "\(error)")
        } catch {
            #expect(error is CancellationError && call.isCancelled, "\(error)")
        }
    }

    @Test("a 304 with another Content-Type keeps the type and the decoded value")
    func contentType() async throws {
        let json: HTTPHeaders = ["ETag": "\"1\"", "Content-Type": "application/json", "Cache-Control": "max-age=60"]
        let html = json.merging(["Content-Type": "text/html"])
        let fixture = CacheFixture(StubSession(.text("{\"n\":1,\"t\":1}", headers: json), .status(304, headers: html)))
        for _ in 1...3 {
            let value = try await fixture.router.request(try endPoint(0, .seconds), as: Dated.self)
            #expect(value.t == Strategy.seconds.date(1))
            fixture.date.advance(by: 40)
        }
        let response = try await fixture.router.response(for: try endPoint(0, .seconds))
        #expect(response.headers["Content-Type"] == "application/json" && fixture.session.requests.count == 2)
    }

    @Test("an error while decoding is not stored, nor replaced by a value")
    func errors() async throws {
        let fixture = CacheFixture(
            StubSession { _ in .text("{\"n\":1,\"t\":1}", headers: ["Cache-Control": "max-age=60"]) })
        for _ in 1...2 {
            let value = try await fixture.router.request(try endPoint(0, .seconds), as: Dated.self)
            #expect(value.n == 1)
            await #expect(throws: NetworkError.self) {
                try await fixture.router.request(try endPoint(0, .seconds), as: Even.self)
            }
        }
        #expect(fixture.session.requests.count == 1)
    }

    @Test("a canceled caller does not end the revalidation of its stale answer")
    func caller() async throws {
        let (begun, gate, events) = (Deliveries<Void>(), Gate(), Events())
        let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
        let headers: HTTPHeaders = ["Cache-Control": "max-age=1, stale-while-revalidate=60"]
        let session = AdHocSession { request in
            begun.add(())
            if begun.all.count > 1 { try await gate.wait() }
            let body = Data("{\"n\":\(begun.all.count),\"t\":0}".utf8)
            return NetworkResponse(statusCode: 200, headers: headers, body: body, url: request.url)
        }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [ResponseCache(now: { date.now })])
        let endPoint = try endPoint(0, .seconds, [events])
        _ = try await router.response(for: endPoint)
        date.advance(by: 5)
        let call = Task {
            let value = try await router.request(endPoint, as: Dated.self)
            _ = try await begun.wait(for: 2)
            withUnsafeCurrentTask { $0?.cancel() }
            return value.n
        }
        #expect(try await call.value == 1)
        router.cancel()
        gate.open()
        try await events.wait(for: "finished", count: 3)
        #expect(try await router.request(endPoint, as: Dated.self).n == 2)
    }
}
