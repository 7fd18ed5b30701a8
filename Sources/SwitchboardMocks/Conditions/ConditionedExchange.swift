import Foundation
import Switchboard
import SwitchboardPlatform

/// One request under simulated conditions, from the first byte sent to the last one received.
struct ConditionedExchange {
    let request: NetworkRequest
    let conditions: NetworkConditions
    let seed: UInt64
    /// The request's number, from 1.
    let number: Int
    let time: SimulatedTime

    func run(_ next: Next) async throws -> NetworkResponse {
        do {
            return try await exchange(next)
        } catch let error as NetworkError {
            throw error.adding(request)
        }
    }

    private func exchange(_ next: Next) async throws -> NetworkResponse {
        guard !conditions.isOffline else {
            throw NetworkError(.noInternetConnection, reason: "simulated conditions: offline")
        }
        // Each request uses two random numbers. They do not depend on the conditions or on earlier requests.
        var generator = SplitMix64(seed: seed, skipping: 2 * UInt64(number - 1))
        let (draw, deviation) = (generator.nextFraction(), 2 * generator.nextFraction() - 1)
        let latency = max(.zero, conditions.latency + conditions.jitter * deviation)
        let idle = request.timeouts.idle
        guard draw >= conditions.loss else {
            try await time.wait(for: latency, limit: idle)
            throw NetworkError(
                .connectionLost,
                reason: "simulated conditions: request \(number) of seed \(seed) drew \(draw) and is lost"
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
        if let stream = response.stream {
            let isUpgraded = response.statusCode == 101 && request.options.upgrade != nil
            response.stream = paced(stream, rate, isUpgraded ? time.withoutLimit : time)
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

    private func paced(_ bytes: ResponseBytes, _ rate: Int, _ time: SimulatedTime) -> ResponseBytes {
        bytes.reading { [request] in
            guard let chunk = try await bytes.next() else { return nil }
            do {
                try await time.wait(for: Int64(chunk.count), at: rate)
            } catch let error as NetworkError {
                throw error.adding(request)
            }
            return chunk
        }
    }

    private func bytes(in duration: Duration, at rate: Int) -> Int {
        Int(min(duration.seconds * Double(rate), Double(Int32.max)))
    }
}

/// A streamed body that is read no faster than it could be sent.
private struct PacedBody: HTTPBody {
    let body: any HTTPBody
    let rate: Int
    let time: SimulatedTime

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
