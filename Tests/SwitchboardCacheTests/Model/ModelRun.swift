import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardCache

/// A seeded run of random requests through a cache to a random origin, judged by the model.
struct ModelRun: Sendable {
    let seed: UInt64
    var steps = 1_000
    /// The number of calls at the same time. With 1, the run is the same each time.
    var width = 1
    var usesUser = true
    /// Whether missed hits count as faults. A cache that evicts misses some.
    var isRoomy = true
    var paths = 8
    /// Creates the cache. It is called again now and then when `restarts` is true.
    let makeCache:
        @Sendable (_ identity: ResponseCache.Identity?, @escaping @Sendable () -> Date) throws -> ResponseCache
    var restarts = false

    /// Counts and faults of a run.
    struct Report: Sendable, CustomStringConvertible {
        var outcomes: [String: Int] = [:]
        var faults: [String] = []

        var description: String {
            outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        }
    }

    func run() async throws -> Report {
        let date = TestDate(Date(timeIntervalSince1970: ModelOrigin.start))
        let history = ModelHistory(usesUser: usesUser, isConcurrent: width > 1, isRoomy: isRoomy)
        let origin = ModelOrigin(seed: seed, date, history, isSlow: width > 1)
        let user: ResponseCache.Identity = { $0.headers["X-User"] }
        func router() throws -> Router<URLEndPoint> {
            Router(session: origin, exchangeInterceptors: [try makeCache(usesUser ? user : nil) { date.now }])
        }
        var draw = ModelDraw(seed: seed, paths: paths)
        var current = try router()
        var report = Report()
        try await withThrowingTaskGroup(of: (String, String?).self) { group in
            for step in 0..<steps {
                if step >= width, let (outcome, fault) = try await group.next() { report.add(outcome, fault) }
                if report.faults.count >= 5 { break }
                if restarts, width == 1, draw.random.oneIn(100) { current = try router() }
                date.advance(by: draw.pause())
                let (request, router) = (draw.request(), current)
                group.addTask { try await send(request, step, router, history, date) }
            }
            for try await (outcome, fault) in group { report.add(outcome, fault) }
        }
        return report
    }

    /// Makes a call. Returns its outcome, and the fault if the model does not allow it.
    private func send(
        _ request: ModelRequest, _ step: Int, _ router: Router<URLEndPoint>, _ history: ModelHistory, _ date: TestDate
    ) async throws -> (String, String?) {
        let events = Events()
        history.begin(request, at: date.now.timeIntervalSince1970)
        let answer: ModelAnswer
        do {
            answer = ModelAnswer(try await router.rawResponse(for: request.endPoint([events])))
        } catch let error as NetworkError {
            answer = ModelAnswer(error)
        }
        var (fault, missed) = history.end(request, answer, at: date.now.timeIntervalSince1970)
        if width == 1, answer.isRevalidating {
            // The call and its revalidation end.
            try await events.waitForEnds(2)
            history.endRevalidation(of: request)
        }
        if isRoomy, width == 1, let missed { fault = fault ?? "a hit was missed: \(missed)" }
        let outcome = answer.outcome.map { "\($0)" } ?? answer.error.map { "\($0)" } ?? "passed"
        guard let fault else { return (outcome, nil) }
        return (
            outcome,
            """
            seed \(seed), step \(step): \(fault)
              request \(request) at \((history.withLock { $0.calls[request.number]?.requestTime } ?? 0) - ModelOrigin.start) s
              answer \(answer)
            \(history.last(of: request, answer.serial))
            """
        )
    }
}

extension ModelRun.Report {
    mutating func add(_ outcome: String, _ fault: String?) {
        let name = outcome.contains("(") ? String(outcome.prefix { $0 != "." && $0 != "(" }) + detail(outcome) : outcome
        outcomes[name, default: 0] += 1
        if let fault { faults.append(fault) }
    }

    private func detail(_ outcome: String) -> String {
        outcome.split { ".()".contains($0) }.last.map { " \($0)" } ?? ""
    }
}

extension ModelHistory {
    /// Returns the last exchanges and the stored responses of a request's URL, in lines.
    func last(of request: ModelRequest, _ serial: Int?) -> String {
        withLock { state in
            let url = request.url.prefix { $0 != "?" }
            let numbers = state.calls.values.filter { $0.request.url.prefix { $0 != "?" } == url }
            let lines = numbers.sorted { $0.begin < $1.begin }.suffix(12).flatMap { call in
                ["  \(call.request)"] + state.exchanges[call.request.number, default: []].map { "\($0)" }
            }
            let own = state.exchanges.values.joined().filter { $0.serial == serial }.flatMap {
                ["  the answer's:", "  \(state.calls[$0.call].map { "\($0.request)" } ?? "")", "\($0)"]
            }
            return (lines + own + state.entries[key(request), default: []].suffix(12).map { "\($0)" })
                .joined(separator: "\n")
        }
    }
}

extension Events {
    /// Waits until this number of calls have ended.
    fileprivate func waitForEnds(_ count: Int) async throws {
        while true {
            let known = texts
            if known.count(where: { $0.hasPrefix("finished") || $0.hasPrefix("failed") }) >= count { return }
            // The texts of both contain a colon.
            try await wait(for: ": ", count: known.count { $0.contains(": ") } + 1)
        }
    }
}
