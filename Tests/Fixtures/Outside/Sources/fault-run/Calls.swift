import Foundation
import Switchboard

/// Makes the calls, many at a time.
struct Calls {
    let server: URL
    let routers: (any: Router<URLEndPoint>, foundation: Router<URLEndPoint>)
    let ends: Ends
    /// The longest time by which a call may miss its total timeout, on a busy machine.
    let tolerance = Duration.seconds(3)

    func run(_ plans: [Plan], width: Int) async {
        await withTaskGroup(of: Void.self) { group in
            for (index, plan) in plans.enumerated() {
                if index >= width { await group.next() }
                group.addTask { await run(plan) }
            }
        }
    }

    private func run(_ plan: Plan) async {
        let endPoint = plan.endPoint(at: server, [ends])
        let router = plan.usesFoundation ? routers.foundation : routers.any
        let start = ends.time
        await withCheckedContinuation { continuation in
            let handle = router.request(endPoint, as: String.self) { result in
                let isFirst = ends.end(plan, result, after: ends.time - start, tolerance: tolerance)
                if isFirst { continuation.resume() }
            }
            guard let delay = plan.cancelled else { return }
            Task {
                try? await Task.sleep(for: delay)
                handle.cancel()
            }
        }
    }
}
