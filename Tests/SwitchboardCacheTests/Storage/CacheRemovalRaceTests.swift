import Foundation
import Switchboard
@testable import SwitchboardCache
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// A removal at any moment of a load: the removed response does not come back.
@Suite(.timeLimit(.minutes(10)))
struct CacheRemovalRaceTests {
    enum Removal: CaseIterable, Sendable { case all, partition, url, path, tag, endPoint, put, makesStale }

    enum Load: CaseIterable, Sendable { case validation, head, background }

    /// A cache, and a chain without it that takes its steps one by one.
    private struct Steps: Sendable {
        static let url = URL(text: "https://h/todos")
        let fixture: CacheFixture
        let events = Events()

        init(in folder: URL?) throws {
            let numbers = Deliveries<Void>()
            let session = StubSession { request in
                let fields: HTTPHeaders = ["ETag": "\"s\"", "Cache-Control": "max-age=60, stale-while-revalidate=60"]
                guard request.method == .get || request.method == .head else { return .status(204) }
                if request.headers.contains("If-None-Match") { return .status(304, headers: fields) }
                // A HEAD without validators describes any stored response.
                if request.method == .head { return .status(200, headers: ["Cache-Control": "max-age=60"]) }
                numbers.add(())
                return .text("\(numbers.all.count)", headers: fields)
            }
            fixture = try CacheFixture(session) { now in
                try folder.map { try ResponseCache(folder: $0, now: now) } ?? ResponseCache(now: now)
            }
        }

        func get() async throws -> NetworkResponse {
            try await fixture.response(Self.url.absoluteString, .server) { $0.cacheTags = ["todos"] }
        }

        func remove(_ removal: Removal) async throws {
            let cache = fixture.cache
            switch removal {
            case .all: await cache.removeAll()
            case .partition: await cache.removeAll(in: nil)
            case .url: await cache.remove(.url(Self.url))
            case .path: await cache.remove(.path("todos"))
            case .tag: await cache.remove(.tag("todos"))
            case .endPoint: try await cache.remove(URLEndPoint(.get, Self.url))
            case .put: _ = try await fixture.response(Self.url.absoluteString, method: .put)
            case .makesStale:
                _ = try await fixture.response("https://h/call", method: .post) { $0.makesStale = [.path("todos")] }
            }
        }

        /// Runs a load with a step between the moment when it finds the stored response and the moment when it begins,
        /// and one before its answer is stored. Expects that a load in the background is canceled, or that it is not.
        func run(
            _ kind: Load, found: @escaping @Sendable () async throws -> Void = {},
            begun: @escaping @Sendable () async throws -> Void = {}, isCancelled: Bool = false
        ) async throws {
            let cache = fixture.cache
            let behind = CacheStep { request, next in
                let response = try await next(request)
                try await begun()
                return response
            }
            let steps = CacheStep { request, next in
                let key = try #require(CacheKey(request, identity: nil))
                let (stored, _, _, removals) = await cache.decide(key, request, at: fixture.date.now)
                let response = try #require(stored)
                #expect(response.tags == ["todos"])
                try await found()
                if kind == .background {
                    cache.revalidate(response, request, next, key, removals)
                    return try response.answer(to: request, at: cache.now(), .stale(.whileRevalidating))
                }
                return try await cache.perform(
                    CacheLoad(
                        key: key, stored: response, found: response, removals: removals, request: request, next: next,
                        reason: .requested))
            }
            let router = Router<URLEndPoint>(session: fixture.session, exchangeInterceptors: [steps, behind])
            let options = RequestOptions {
                $0.cacheLifetime = .server
                $0.monitors = [events]
            }
            let method = kind == .head ? HTTPMethod.head : .get
            _ = try await router.response(for: URLEndPoint(method, Self.url, options: options))
            let count = kind == .background ? 2 : 1
            let isOver = await comesTrue {
                events.texts.count { $0.hasPrefix("finished") || $0 == "cancelled" } == count
            }
            let isEndedEarly = events.texts.contains("cancelled")
            #expect(isOver && isEndedEarly == isCancelled, "\(kind)")
        }

        /// Runs a closure with a load that has found nothing.
        func run(_ body: @escaping @Sendable (CacheLoad) async throws -> Void) async throws {
            try await fixture.withLoad(of: Self.url, body)
        }
    }

    private func withSteps(isOnDisk: Bool, _ body: (Steps) async throws -> Void) async throws {
        try await withFolder { folder in try await body(Steps(in: isOnDisk ? folder : nil)) }
    }

    @Test(
        "a removal before a load begins also removes what the load had found", arguments: [false, true],
        Removal.allCases)
    func found(isOnDisk: Bool, removal: Removal) async throws {
        for kind in Load.allCases {
            try await withSteps(isOnDisk: isOnDisk) { steps in
                #expect(try await steps.get().text == "1")
                // It has nothing to revalidate, and the next request may be that of another user.
                try await steps.run(
                    kind, found: { try await steps.remove(removal) }, isCancelled: kind == .background)
                #expect(try await steps.get().text == "2", "\(kind)")
            }
        }
    }

    @Test("a removal during a load also removes what the load confirms", arguments: [false, true], Removal.allCases)
    func begun(isOnDisk: Bool, removal: Removal) async throws {
        for kind in Load.allCases {
            try await withSteps(isOnDisk: isOnDisk) { steps in
                #expect(try await steps.get().text == "1")
                try await steps.run(kind, begun: { try await steps.remove(removal) })
                #expect(try await steps.get().text == "2", "\(kind)")
            }
        }
    }

    @Test("a response that replaced the found one is confirmed instead", arguments: [false, true])
    func replaced(isOnDisk: Bool) async throws {
        try await withSteps(isOnDisk: isOnDisk) { steps in
            #expect(try await steps.get().text == "1")
            try await steps.run(
                .head,
                found: {
                    await steps.fixture.cache.removeAll()
                    let other = try await steps.get()
                    #expect(other.text == "2")
                })
            let answer = try await steps.get()
            #expect(answer.text == "2" && answer.cacheOutcome == .hit)
        }
    }

    @Test("a removal supersedes a load that found a response of its tag")
    func superseded() async throws {
        try await withSteps(isOnDisk: true) { steps in
            #expect(try await steps.get().text == "1")
            let storage = steps.fixture.cache.storage
            try await steps.run { load in
                let load = await storage.begin(load)
                #expect(await storage.key(of: load.number) != nil)
                #expect(await storage.find("\"s\"", for: load)?.tags == ["todos"])
                await storage.remove { _, _, tags in tags.contains("todos") }
                #expect(await storage.key(of: load.number) == nil)
            }
        }
    }

    @Test("a removal of many files supersedes loads that begin meanwhile and find a response of its tag")
    func meanwhile() async throws {
        try await withSteps(isOnDisk: true) { steps in
            for index in 0..<250 { _ = try await steps.fixture.get("https://h/\(index)") }
            #expect(try await steps.get().text == "251")
            let storage = steps.fixture.cache.storage
            try await steps.run { load in
                let removal = Task { await storage.remove { _, _, tags in tags.contains("todos") } }
                var numbers: [Int] = []
                while true {
                    let begun = await storage.begin(load)
                    guard await storage.find("\"s\"", for: begun) != nil else { break }
                    numbers.append(begun.number)
                }
                await removal.value
                for number in numbers { #expect(await storage.key(of: number) == nil) }
            }
        }
    }

    @Test("a removal clears memory before the disk, and again after it")
    func order() async throws {
        try await withFolder { folder in
            let fixture = try CacheFixture { try ResponseCache(folder: folder, now: $0) }
            _ = try await fixture.get("https://h/memory")
            for name in names(in: folder) {
                try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
            }
            let other = try CacheFixture { try ResponseCache(folder: folder, now: $0) }
            _ = try await other.get("https://h/disk")
            let storage = fixture.cache.storage
            let seen = Deliveries<String>()
            await storage.remove { url, _, _ in
                seen.add(url)
                return false
            }
            #expect(seen.all == ["https://h/memory", "https://h/disk", "https://h/memory"])
            #expect(await storage.orderOfRemoval == ["memory", "disk", "memory"])
        }
    }
}

extension CacheStorage {
    /// The order in which a removal visits memory and disk.
    fileprivate var orderOfRemoval: [String] {
        var order: [String] = []
        remove(fromDisk: { _ in order.append("disk") }, fromMemory: { _ in order.append("memory") })
        return order
    }
}
