import Foundation
import Switchboard
import SwitchboardPlatform

/// One request under simulated conditions, from the first byte sent to the last one received.
struct ConditionedExchange {
    private let request: NetworkRequest
    private let conditions: NetworkConditions
    private let draw: ConditionDraw
    private let time: ConditionedTime

    /// Creates the exchange and starts its time.
    init(
        _ request: NetworkRequest, _ conditions: NetworkConditions, _ draw: ConditionDraw, _ clock: any Clock<Duration>
    ) {
        self.request = request
        self.conditions = conditions
        self.draw = draw
        time = ConditionedTime(clock, attempt: request.timeouts.attempt)
    }

    func run(
        _ next: @Sendable (NetworkRequest) async throws -> NetworkResponse
    ) async throws -> NetworkResponse {
        do {
            return try await exchange(next)
        } catch let error as NetworkError {
            throw error.adding(request)
        }
    }

    private func exchange(
        _ next: @Sendable (NetworkRequest) async throws -> NetworkResponse
    ) async throws -> NetworkResponse {
        guard !conditions.isOffline else {
            throw NetworkError(.noInternetConnection, reason: "simulated conditions: offline")
        }
        let latency = draw.latency(under: conditions)
        let idle = request.timeouts.idle
        guard !draw.isLost(under: conditions) else {
            try await time.wait(for: latency, limit: idle)
            throw NetworkError(
                .connectionLost,
                reason:
                    "simulated conditions: request \(draw.number) of seed \(draw.seed) drew \(draw.loss) and is lost"
                    + " below \(conditions.loss)")
        }
        var sent = try await upload()
        try await time.wait(for: latency / 2, limit: idle)
        // The session receives the rest of the attempt's time. The response must not show that limit.
        if let rest = time.rest { sent.timeouts.attempt = rest }
        var response = try await next(sent)
        if time.rest != nil { response.request?.timeouts = request.timeouts }
        try await time.wait(for: latency - latency / 2, limit: idle.map { $0 - latency / 2 })
        try await download(&response)
        return response
    }

    // MARK: Bodies

    /// Waits until a body in memory is sent. Returns the request with a body that needs no further delay, or with a
    /// paced stream.
    private func upload() async throws -> NetworkRequest {
        var request = request
        guard let rate = conditions.uploadBytesPerSecond, !request.body.isEmpty else { return request }
        guard !request.body.isStreamed else {
            request.body = PacedBody(body: request.body, rate: rate, time: time)
            return request
        }
        // The session reports a body that cannot be encoded. A body that can is not encoded twice.
        if request.body.length == nil, let data = try? request.body.encode() {
            request.body = DataBody(data, additionalHeaders: request.body.additionalHeaders)
        }
        try await time.wait(for: request.body.length ?? 0, at: rate)
        return request
    }

    private func download(_ response: inout NetworkResponse) async throws {
        guard let rate = conditions.downloadBytesPerSecond else { return }
        guard !request.options.streamsResponse || !response.body.isEmpty else {
            let isUpgraded = response.statusCode == 101 && request.options.upgrade != nil
            response.bytes = paced(response.bytes, rate, isUpgraded ? time.withoutLimit : time)
            return
        }
        let count = Int64(response.body.count)
        let rest = time.rest
        do {
            try await time.wait(for: count, at: rate)
        } catch var error as NetworkError {
            error.statusCode = response.statusCode
            error.headers = response.headers
            error.body = response.body.prefix(rest.map { bytes(in: $0, at: rate) } ?? 0)
            throw error
        }
    }

    private func paced(_ bytes: ResponseBytes, _ rate: Int, _ time: ConditionedTime) -> ResponseBytes {
        ResponseBytes(result: { bytes.result }) { [request] in
            guard let chunk = try await bytes.next() else { return nil }
            do {
                try await time.wait(for: Int64(chunk.count), at: rate)
            } catch let error as NetworkError {
                throw error.adding(request)
            }
            return chunk
        }
    }

    /// Returns the number of bytes that arrive within a time.
    private func bytes(in duration: Duration, at rate: Int) -> Int {
        Int(min(duration.seconds * Double(rate), Double(Int32.max)))
    }
}

/// A streamed body that is read no faster than it could be sent.
private struct PacedBody: HTTPBody {
    let body: any HTTPBody
    let rate: Int
    let time: ConditionedTime

    var isEmpty: Bool { body.isEmpty }
    var additionalHeaders: HTTPHeaders { body.additionalHeaders }
    var length: Int64? { body.length }
    var isStreamed: Bool { true }
    var isReplayable: Bool { body.isReplayable }

    func encode() throws -> Data { try body.encode() }

    func makeStream() throws -> HTTPBodyStream {
        let stream = try body.makeStream()
        return HTTPBodyStream {
            guard let chunk = try await stream.next() else { return nil }
            try await time.wait(for: Int64(chunk.count), at: rate)
            return chunk
        }
    }
}

/// Measures one request under conditions: it waits on the clock, and no longer than the attempt may take.
struct ConditionedTime: Sendable {
    private let clock: any Clock<Duration>
    private var attempt: Duration?
    private let elapsed: @Sendable () -> Duration

    /// Creates the value and starts its time.
    init(_ clock: any Clock<Duration>, attempt: Duration?) {
        self.clock = clock
        self.attempt = attempt
        elapsed = clock.stopwatch()
    }

    /// The same time for an upgraded connection, which may take longer than the attempt.
    var withoutLimit: ConditionedTime {
        var time = self
        time.attempt = nil
        return time
    }

    /// The time left for the attempt, or nil without limit.
    var rest: Duration? {
        attempt.map { max(.zero, $0 - elapsed()) }
    }

    /// Waits for `duration`. Stops earlier at `limit` or at the end of the attempt.
    ///
    /// - Throws: ``/Switchboard/NetworkError/Code/timedOut`` when it stops earlier, or `CancellationError`.
    func wait(for duration: Duration, limit: Duration? = nil) async throws {
        let limits = [(limit, "idle"), (rest, "attempt")].compactMap { time, name in time.map { ($0, name) } }
        guard let (least, name) = limits.min(by: { $0.0 < $1.0 }), least < duration else {
            return try await sleep(for: duration)
        }
        try await sleep(for: least)
        throw NetworkError(
            .timedOut, reason: "simulated conditions: the answer came later than timeouts.\(name) allows")
    }

    /// Waits for the time that `count` bytes take.
    func wait(for count: Int64, at bytesPerSecond: Int) async throws {
        try await wait(for: Self.time(for: count, at: bytesPerSecond))
    }

    /// Returns the time that `count` bytes take, to the nanosecond.
    static func time(for count: Int64, at bytesPerSecond: Int) -> Duration {
        guard count > 0 else { return .zero }
        let rate = UInt64(max(1, bytesPerSecond))
        let (seconds, rest) = UInt64(count).quotientAndRemainder(dividingBy: rate)
        let (nanoseconds, _) = rate.dividingFullWidth(rest.multipliedFullWidth(by: 1_000_000_000))
        return (.seconds(Int64(clamping: seconds)) + .nanoseconds(Int64(nanoseconds))).clamped
    }

    private func sleep(for duration: Duration) async throws {
        guard duration > .zero else { return try Task.checkCancellation() }
        try await withOwnTask { [clock] in try await clock.sleep(for: duration) }
        try Task.checkCancellation()
    }
}
