import Foundation
import Switchboard

/// The drawn plan of one call.
struct Plan {
    enum Kind: String {
        case get, post
        /// A POST with an `Idempotency-Key`.
        case keyed
    }

    let id: Int
    let kind: Kind
    /// Whether `FoundationSession` sends the call. URLSession on Linux resends a POST when a connection dies, so it
    /// gets only requests that may be sent twice.
    let usesFoundation: Bool
    /// The total timeout, which is too short for some of the server's faults.
    let total: Duration
    let idle: Duration?
    let cancelled: Duration?

    init(_ id: Int, seed: UInt64) {
        self.id = id
        var draw = SeededGenerator(seed: seed, request: id, attempt: 0)
        kind = [.get, .get, .post, .keyed][Int(draw.next() % 4)]
        usesFoundation = draw.isOneIn(10) && kind != .post
        let isShort = draw.isOneIn(8)
        total = isShort ? .milliseconds(250) : .seconds(4)
        // The other calls have time on a slow machine, whose processors 64 exchanges share.
        idle = isShort ? (draw.isOneIn(2) ? nil : .milliseconds(120)) : .milliseconds(600)
        cancelled = draw.isOneIn(20) ? .milliseconds(Int(draw.next() % 20)) : nil
    }

    /// The server's final answer.
    var answer: String { "answer to \(id)" }

    func endPoint(at server: URL, _ monitors: [any EventMonitor]) -> URLEndPoint {
        let options = RequestOptions {
            $0.timeouts = Timeouts(idle: idle, total: total)
            $0.monitors = monitors
            if kind == .keyed { $0.idempotencyKey = .unique }
        }
        let url = server.appendingPathComponent(kind.rawValue).appendingPathComponent("\(id)")
        guard kind != .get else { return URLEndPoint(.get, url, options: options) }
        return URLEndPoint(.post, url, task: .requestBody(DataBody(Data("order \(id)".utf8))), options: options)
    }
}

extension Plan: CustomStringConvertible {
    var description: String {
        let session = usesFoundation ? "FoundationSession" : "default session"
        let cancel = cancelled.map { ", cancelled after \($0)" } ?? ""
        return "\(kind.rawValue) \(id) (\(session), total \(total), idle \(idle.map { "\($0)" } ?? "none")\(cancel))"
    }
}
