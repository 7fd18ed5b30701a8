import Foundation
import Switchboard
import SwitchboardMocks

/// Answers requests with drawn faults, and records the orders that it applied, once for each key.
final class Ledger: @unchecked Sendable {  // under its lock
    /// The record of one call.
    struct Entry {
        var received = 0
        var applied = 0
        var hasKey = false
        var faults: [String] = []
    }

    private let seed: UInt64
    private let lock = NSLock()
    private var entries: [Int: Entry] = [:]
    private var keys: Set<String> = []
    private var strangers = 0

    init(seed: UInt64) {
        self.seed = seed
    }

    var all: [Int: Entry] { lock.withLock { entries } }
    /// The number of requests with an unknown target or another body.
    var damaged: Int { lock.withLock { strangers } }

    func answer(_ request: RecordedRequest) -> MockResponse {
        let parts = request.target.split(separator: "/")
        guard parts.count == 2, let id = Int(parts[1]), request.method == .get || request.text == "order \(id)" else {
            lock.withLock { strangers += 1 }
            return .status(400)
        }
        return lock.withLock {
            entries[id, default: Entry()].received += 1
            var draw = SeededGenerator(seed: seed, request: id, attempt: entries[id]?.received ?? 0)
            let (name, response, isApplied) = outcome(&draw, request, "answer to \(id)")
            entries[id]?.faults.append(name)
            if isApplied, request.method == .post { apply(id, request.headers["Idempotency-Key"]) }
            return response
        }
    }

    private func apply(_ id: Int, _ key: String?) {
        entries[id]?.hasKey = key != nil
        if let key, !keys.insert(key).inserted { return }
        entries[id]?.applied += 1
    }

    /// Returns the fault's name, the response, and whether the server has acted on the request.
    private func outcome(_ draw: inout SeededGenerator, _ request: RecordedRequest, _ answer: String) -> (
        String, MockResponse, Bool
    ) {
        let whole = MockResponse.text(answer)
        let isApplied = draw.isOneIn(2)
        switch draw.fraction() {
        case ..<0.78: return ("whole", whole, true)
        case ..<0.82: return ("429", busy(429, &draw), false)
        case ..<0.89: return ("503", busy(503, &draw), isApplied)
        case ..<0.93: return ("reset", broken(request) { .reset(at: $0) }, isApplied)
        case ..<0.95: return ("close", broken(request) { .close(at: $0) }, isApplied)
        case ..<0.97: return ("truncated", whole.truncated(after: Int(draw.next() % 8)), isApplied)
        case ..<0.985: return ("stalled", whole.stalled(after: Int(draw.next() % 8)), isApplied)
        default: return ("stall", .stall, isApplied)
        }
    }

    /// Returns the fault. On a reused connection a GET gets some bytes of the body first: libcurl resends a GET that
    /// dies there without a byte, and no budget counts that. A fault within the head ends a process with URLSession on
    /// Linux.
    private func broken(_ request: RecordedRequest, _ fault: (MockResponse.BreakPoint) -> MockResponse) -> MockResponse
    {
        fault(request.method == .get && request.index > 0 ? .body(after: 3) : .response)
    }

    private func busy(_ status: Int, _ draw: inout SeededGenerator) -> MockResponse {
        let fields: [HTTPHeaders] = [
            [:], ["Retry-After": "0"], ["Retry-After": "1"], ["Retry-After": "60"],
            ["RateLimit-Remaining": "0", "RateLimit-Reset": "1"], ["X-RateLimit-Reset-After": "0.05"],
            ["X-RateLimit-Reset": "\(Int(Date().timeIntervalSince1970) + 1)"],
        ]
        return .status(status, headers: fields[Int(draw.next() % UInt64(fields.count))])
    }
}
