import Foundation
import Switchboard
import SwitchboardCalls
import SwitchboardStreams
import SwitchboardTesting
import SwitchboardWebSocket
import Testing

/// An endpoint whose members end the process outside of the main actor.
private enum ProbeApi {
    case one, page(Int), stream(URL)
}

extension ProbeApi: EndPointType {
    var baseURL: URL {
        MainActor.preconditionIsolated()
        if case .stream(let url) = self { return url }
        return URL(string: "https://probe.example.com")!
    }
    var path: String {
        MainActor.preconditionIsolated()
        return "probe"
    }
    var task: HTTPTask {
        MainActor.preconditionIsolated()
        if case .page(let number) = self { return .requestParameters(urlParameters: ["page": number]) }
        return .request
    }
}

/// A model whose coding ends the process outside of the main actor.
private struct Probe: Codable {
    let id: Int

    init(id: Int) { self.id = id }

    init(from decoder: any Decoder) throws {
        MainActor.preconditionIsolated()
        id = try decoder.singleValueContainer().decode(Int.self)
    }

    func encode(to encoder: any Encoder) throws {
        MainActor.preconditionIsolated()
        var container = encoder.singleValueContainer()
        try container.encode(id)
    }
}

/// A model that must not be decoded on the main thread.
nonisolated private struct Large: Codable {
    init() {}

    init(from decoder: any Decoder) throws { #expect(!Thread.isMainThread) }

    func encode(to encoder: any Encoder) throws {
        #expect(!Thread.isMainThread)
        var container = encoder.singleValueContainer()
        try container.encode(1)
    }
}

/// An endpoint whose header fields have a misspelled name.
private struct Misspelled: EndPointType {
    let header: HTTPHeaders = ["X-A": "1"]
    var baseURL: String { "https://probe.example.com" }
    var path: String { "probe" }
}

private struct Filter: Encodable {
    let year = 1979
}

nonisolated private enum FilterApi: EndPointType {
    case find(Filter)
    var baseURL: String { "https://probe.example.com" }
    var path: String { "probe" }
    var task: HTTPTask {
        switch self {
        case .find(let filter): .requestParameters(urlParameters: ["by": filter])
        }
    }
}

/// A generic page.
private struct Listing<Item: Decodable>: Decodable {
    let items: [Item]
    let next: Int?
}

private struct FindProbe: TypedEndPoint {
    typealias Response = Probe
    var path: String {
        MainActor.preconditionIsolated()
        return "probe"
    }
}

nonisolated private struct FindLarge: TypedEndPoint {
    typealias Response = Large
    var path: String { "large" }
}

/// Properties whose initial values get no actor from Swift.
private final class ProbeCalls {
    private let router: Router<ProbeApi>
    lazy var probe = router.call(for: .one, as: Probe.self, isolation: MainActor.shared)
    lazy var large = router.call(for: .one, as: Large.self, isolation: MainActor.shared)
    lazy var pages = router.pages(
        as: Large.self, from: 1, while: { _ in false }, for: { .page($0) }, isolation: MainActor.shared)

    init(router: Router<ProbeApi>) { self.router = router }
}

@Suite(.timeLimit(.minutes(10))) struct IsolationTests {
    private let session = StubSession()
    private var router: Router<ProbeApi> { Router(session: session) }

    private func answer(_ response: MockResponse) { session.stub(.any, times: .any) { _ in response } }

    @Test("calls read endpoints and decode on the main actor")
    func calls() async throws {
        answer(.json("7"))
        #expect(try await router.request(.one, as: Probe.self).id == 7)
        #expect(try await router.upload(.one, as: Probe.self).id == 7)
        #expect(try await router.response(for: .one).decode(Probe.self).id == 7)
        let called = try await router.call(for: .one, as: Probe.self).value.id
        #expect(called == 7)
        let detached = router.call(for: .one, as: Probe.self)
        #expect(try await Task.detached { try await detached.map { $0.id }.value }.value == 7)
        #expect("\(await router.explain(.one))".contains("probe"))
    }

    @Test("explain names misspelled members of an endpoint of the main actor")
    func misspelled() async {
        let plan = await Router<Misspelled>(session: session).explain(Misspelled())
        #expect(plan.warnings.count == 1 && plan.warnings.first?.contains(#""headers""#) == true)
    }

    @Test("parameters of the main actor fail elsewhere, with the remedy")
    func parameters() async throws {
        let filter = Filter()
        let error = await Task.detached {
            await #expect(throws: NetworkError.self) { try await Router<FilterApi>().response(for: .find(filter)) }
        }.value
        #expect(error?.code == .encodingFailed)
        #expect(error?.reason?.contains("nonisolated") == true)
        answer(.json("[]"))
        _ = try await Router<FilterApi>(session: session).response(for: .find(filter))
        #expect(session.requests.last?.query == "by%5Byear%5D=1979")
    }

    @Test("the operation of a call stays on the main actor")
    func callOfOperation() async throws {
        answer(.json("7"))
        let router = router
        let call = NetworkCall {
            MainActor.preconditionIsolated()
            return try await router.request(.one, as: Probe.self).id
        }
        #expect(try await Task.detached { try await call.map { $0 + 1 }.value }.value == 8)
    }

    @Test("calls in initial values of properties read endpoints on a given actor")
    func initialValues() async throws {
        answer(.json("7"))
        let calls = ProbeCalls(router: router)
        #expect(try await calls.probe.value.id == 7)
        _ = try await calls.large.value
        for try await _ in calls.pages {}
    }

    @Test("calls at the same time decode on the main actor")
    func callsAtTheSameTime() async throws {
        answer(.json("7"))
        let calls = (1...3).map { router.call(for: .page($0), as: Probe.self) }
        let pair = try await calls[0].zip(calls[1]).value
        #expect(pair.0.id == 7 && pair.1.id == 7)
        #expect(try await NetworkCall.all(calls).value.map(\.id) == [7, 7, 7])
    }

    @Test("the operation of a latest call stays on the main actor")
    func latestCall() async throws {
        answer(.json("7"))
        let id = try await LatestCall<Int>().value {
            MainActor.preconditionIsolated()
            return try await self.router.request(.one, as: Probe.self).id
        }
        #expect(id == 7)
    }

    @Test("typed endpoints of the main actor decode there, others elsewhere")
    func typed() async throws {
        answer(.json("7"))
        let manager = NetworkManager(servers: [.production: "https://probe.example.com"], session: session)
        #expect(try await manager.send(FindProbe()).id == 7)
        #expect(try await manager.router(for: FindProbe.self).send(FindProbe()).id == 7)
        #expect(try await manager.call(for: FindProbe()).value.id == 7)
        for try await page in manager.router(for: FindProbe.self).pages(for: FindProbe()) {
            #expect(page.value.id == 7)
        }
        let id = await withCheckedContinuation { continuation in
            manager.send(FindProbe(), on: MainActor.self) { continuation.resume(returning: (try? $0.get())?.id) }
        }
        #expect(id == 7)
        let sent = await withCheckedContinuation { continuation in
            manager.send(FindProbe()) { continuation.resume(returning: (try? $0.get())?.id) }
        }
        let requested = await withCheckedContinuation { continuation in
            router.request(.one, as: Probe.self) { continuation.resume(returning: (try? $0.get())?.id) }
        }
        #expect(sent == 7 && requested == 7)
        _ = try await manager.send(FindLarge())
        _ = try await manager.router(for: FindLarge.self).send(FindLarge())
        await withCheckedContinuation { continuation in
            manager.send(FindLarge(), on: MainActor.self) { _ in continuation.resume() }
        }
    }

    @Test("completions with `on: MainActor.self` decode and run on the main actor")
    func completions() async throws {
        answer(.json("7"))
        let ids = await withCheckedContinuation { continuation in
            router.request(.one, as: Probe.self, on: MainActor.self) { result in
                MainActor.preconditionIsolated()
                continuation.resume(returning: (try? result.get())?.id)
            }
        }
        #expect(ids == 7)
    }

    @Test("sequences decode on the main actor, also for a reader elsewhere")
    func sequences() async throws {
        answer(.json("[1,2,3]"))
        var ids: [Int] = []
        for try await probe in router.elements(for: .one, as: Probe.self) { ids.append(probe.id) }
        #expect(ids == [1, 2, 3])
        let elements = router.elements(for: .one, as: Probe.self)
        let read = Task.detached {
            var ids: [Int] = []
            for try await probe in elements { ids.append(probe.id) }
            return ids
        }
        #expect(try await read.value == [1, 2, 3])
        var pages: [Int] = []
        for try await page in router.pages(for: .one, as: [Probe].self) { pages += page.value.map(\.id) }
        #expect(pages == [1, 2, 3])
        var numbered = 0
        let sequence = router.pages(as: [Probe].self, from: 1, while: { _ in true }, for: { .page($0) })
        for try await _ in sequence { numbered += 1 }
        #expect(numbered == 1)  // the second page repeats the first
        answer(.json("7", headers: ["X-Next": "2"]))
        for try await page in router.pages(
            as: Probe.self, next: { $1.headers["X-Next"].flatMap { Int($0) } }, for: { .page($0 ?? 1) })
        {
            pages.append(page.value.id)
            break
        }
        for try await page in router.pages(
            as: Probe.self, next: { _ in Int?.none }, for: { $0.map { .page($0) } ?? .one })
        {
            pages.append(page.value.id)
        }
        #expect(pages == [1, 2, 3, 7, 7])
    }

    @Test("generic pages and their closures stay on the main actor")
    func genericPages() async throws {
        answer(.json(#"{"items":[4,5],"next":null}"#))
        let numbered = router.pages(
            as: Listing<Probe>.self, from: 1,
            while: { page in
                MainActor.preconditionIsolated()
                return page.next != nil
            }, for: { .page($0) })
        let cursored = router.pages(
            as: Listing<Probe>.self,
            next: { page in
                MainActor.preconditionIsolated()
                return page.next
            }, for: { .page($0 ?? 1) })
        for pages in [numbered, cursored] {
            let items = pages.items { page in
                MainActor.preconditionIsolated()
                return page.items
            }
            var ids: [Int] = []
            for try await probe in items { ids.append(probe.id) }
            #expect(ids == [4, 5])
        }
    }

    @Test("lines and events decode on the main actor")
    func lines() async throws {
        answer(.text("1\n2\n", headers: ["Content-Type": "application/x-ndjson"]))
        var ids: [Int] = []
        for try await probe in router.jsonLines(for: .one, as: Probe.self) { ids.append(probe.id) }
        #expect(ids == [1, 2])
        answer(.text("data: 3\n\ndata: [DONE]\n\n", headers: ["Content-Type": "text/event-stream"]))
        let events = Router<ProbeApi>(
            session: StubSession { _ in
                .text("data: 3\n\ndata: [DONE]\n\n", headers: ["Content-Type": "text/event-stream"])
            })
        for try await probe in events.events(for: .one, as: Probe.self, until: "[DONE]") { ids.append(probe.id) }
        #expect(ids == [1, 2, 3])
    }

    @Test("a WebSocket encodes and decodes on the main actor")
    func webSocket() async throws {
        let router = Router<ProbeApi>(
            session: StubSession { _ in .webSocket(steps: [.receive, .text("8"), .close()]) })
        let socket = try await router.webSocket(for: .one, sending: Probe.self, receiving: Probe.self)
        try await socket.send(Probe(id: 1))
        var ids: [Int] = []
        for try await probe in socket { ids.append(probe.id) }
        #expect(ids == [8])
    }

    @Test("nonisolated models are encoded and decoded outside of the main actor")
    func large() async throws {
        answer(.json("1"))
        _ = try await router.request(.one, as: Large.self)
        _ = try await router.upload(.one, as: Large.self)
        let url = try #require(URL(string: "https://probe.example.com"))
        let manager = NetworkManager(session: session)
        _ = try await manager.response(for: URLEndPoint(.post, url, task: .requestBody(JSONBody(Large()))))
        await withCheckedContinuation { continuation in
            router.request(.one, as: Large.self, on: MainActor.self) { _ in continuation.resume() }
        }
    }

    @Test("no value follows a cancellation, wherever it comes from", arguments: 0..<300)
    func cancellation(round: Int) async throws {
        answer(.json("7"))
        let router = router
        let outcome = Outcome()
        let (ended, end) = AsyncStream<Void>.makeStream()
        let handle = router.request(.one, as: Probe.self, on: MainActor.self) { result in
            if outcome.isCancelled, case .success = result { Issue.record("a value after the cancellation") }
            outcome.results.append(result)
            end.finish()
        }
        for _ in 0..<(round / 3 % 20) { await Task.yield() }
        switch round % 3 {
        case 0:
            handle.cancel()
            outcome.isCancelled = outcome.results.isEmpty
        case 1: Task.detached { handle.cancel() }
        default: Task { router.cancel() }
        }
        for await _ in ended {}
        #expect(outcome.results.count == 1)

        let task = Task {
            var ids: [Int] = []
            for try await probe in router.elements(for: .one, as: Probe.self, at: []) { ids.append(probe.id) }
            return try await router.request(.one, as: Probe.self).id + ids.count
        }
        for _ in 0..<(round % 20) { await Task.yield() }
        task.cancel()
        switch await task.result {
        case .success(let id): #expect(id >= 7)
        case .failure(let error): #expect(error is CancellationError || error is NetworkError)
        }
    }

    @Test("an error of the request reaches each form of call")
    func failures() async throws {
        let router = Router<PeopleWithoutServer>(session: session)
        let error = await #expect(throws: NetworkError.self) { try await router.request(.one, as: Probe.self) }
        #expect(error?.code == .missingURL)
        let completed: NetworkError.Code? = await withCheckedContinuation { continuation in
            router.request(.one, as: Probe.self, on: MainActor.self) { result in
                if case .failure(let error) = result { continuation.resume(returning: error.code) }
            }
        }
        #expect(completed == .missingURL)
        let streamed = await #expect(throws: NetworkError.self) {
            for try await _ in router.elements(for: .one, as: Probe.self) {}
        }
        #expect(streamed?.code == .missingURL)
        #expect(session.requests.isEmpty)
    }
}

/// The results of a completion.
private final class Outcome {
    var results: [Result<Probe, NetworkError>] = []
    var isCancelled = false
}

private enum PeopleWithoutServer: EndPointType {
    case one
    var baseURL: URL? { nil }
    var path: String { "" }
}
