import Foundation
import Switchboard
import SwitchboardCache

/// Makes the calls through one cache, and prints their answers.
struct Calls: Sendable {
    let router: Router<URLEndPoint>
    let base: String
    /// The name of the cache.
    let cache: String
    let width: Int
    /// The clock of cache and origin. Nil for the system's.
    let clock: Clock?
    let ends: Ends

    private struct Line: Encodable {
        let number: Int
        let cache: String
        let width: Int
        let method: String
        let path: String
        let language: String?
        let user: String
        let directives: String?
        let range: String?
        let begin: Double
        let end: Double
        var outcome: String?
        var status: Int?
        var serial: Int?
        var age: Int?
        var body: String?
        var error: String?
    }

    func run(_ plan: Plan) async {
        let number = ends.begin()
        let begin = time
        let monitor = EndMonitor(ends, number)
        let endPoint = plan.endPoint(at: base, number, clock?.now, [monitor])
        var answer: NetworkResponse?
        var fault: NetworkError?
        do {
            answer = try await router.rawResponse(for: endPoint)
        } catch {
            fault = error as? NetworkError
        }
        var line = Line(
            number: number, cache: cache, width: width, method: plan.method, path: plan.path, language: plan.language,
            user: plan.user,
            directives: plan.directives, range: plan.range, begin: begin, end: time)
        if let answer {
            line.outcome = answer.cacheOutcome.map(name)
            line.status = answer.statusCode
            line.serial = answer.headers["X-Serial"].flatMap { Int($0) }
            line.age = answer.headers["Age"].flatMap { Int($0) }
            line.body = answer.text
        }
        line.error = fault.map { "\($0.code)" }
        if answer?.cacheOutcome == .stale(.whileRevalidating) { ends.expectTwo(number) }
        ends.print(line)
        // The clock stands still until the revalidation of the only call has ended.
        if width == 1, answer?.cacheOutcome == .stale(.whileRevalidating) { await ends.waitForRevalidations() }
    }

    private var time: Double { (clock?.now ?? Date()).timeIntervalSince1970 }

    private func name(_ outcome: ResponseCache.Outcome) -> String {
        switch outcome {
        case .hit: "hit"
        case .validated: "validated"
        case .stale(.requested): "stale as requested"
        case .stale(.whileRevalidating): "stale while revalidating"
        case .stale(.serverFailed): "stale in place of a failure"
        case .miss: "miss"
        }
    }
}
