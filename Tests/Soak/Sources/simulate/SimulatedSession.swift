import Foundation
import Switchboard

/// A session whose exchanges take virtual time, and fail as the plan says.
final class SimulatedSession: NetworkSession {
    private let world: World
    private let server: Server

    init(_ world: World, _ server: Server) {
        (self.world, self.server) = (world, server)
    }

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try Task.checkCancellation()
        try request.validate()
        let id = request.options[CallNumber.self].id
        let host = server.check(request, id)
        let began = world.clock.milliseconds
        let number = world.begin(id, isLogin: host == 3)
        let user = host == 3 ? server.beginRefresh(request) : nil
        defer { if let user { server.refreshing.remove(user) } }
        world.calls[id]?.attempts += 1
        let attempt = host == 3 ? number : world.calls[id]?.attempts ?? 0
        do {
            let answer = try await exchange(request, host, id, attempt, began)
            try Task.checkCancellation()
            server.deliver(answer)
            return response(answer, request, number, id, attempt)
        } catch {
            world.finish(number, -1)
            throw error
        }
    }

    private func exchange(
        _ request: NetworkRequest, _ host: Int, _ id: Int, _ attempt: Int, _ began: Int
    ) async throws -> Answer {
        let setup = world.plan.setup
        var random = world.random(id, attempt * 16)
        let limit = request.timeouts.attempt.map { Int($0.components.seconds) * 1_000 } ?? 60_000
        let restarts = server.restarts
        func happens(_ share: Int) -> Bool { random.number(0...999) < share }
        let isSlow = happens(setup.slow)
        func wait() async throws {
            let time = random.number(1...(isSlow ? 300 : 20)) * 10
            let left = began + limit - world.clock.milliseconds
            try await world.clock.sleep(for: .milliseconds(max(0, min(time, left))))
            if time > left { throw NetworkError(.timedOut, reason: "simulated") }
            if server.restarts != restarts { throw NetworkError(.connectionLost, reason: "the server restarted") }
        }
        try await wait()
        if happens(setup.lostBefore) { throw NetworkError(.connectionLost, reason: "before the server") }
        let isDown = world.clock.milliseconds < server.outageEnd
        let isFailing = happens(isDown ? 800 : setup.unavailable)
        let isLimited = happens(setup.tooMany)
        let isDuplicated = happens(setup.duplicated)
        var answer: Answer
        if isFailing {
            answer = Answer(503)
        } else if isLimited {
            answer = Answer(429, [("Retry-After", "\(random.number(0...3))")])
        } else {
            answer = server.answer(request, host, id, began: began)
            // The network delivers a request twice. A POST without a key is not sent twice by any transport.
            if isDuplicated, request.method == .get || request.headers["Idempotency-Key"] != nil, host < 2 {
                answer = server.answer(request, host, id, began: began)
            }
        }
        if happens(setup.stalled) {
            try await world.clock.sleep(for: .milliseconds(max(0, began + limit - world.clock.milliseconds)))
            throw NetworkError(.timedOut, reason: "simulated")
        }
        try await wait()
        if happens(setup.lostAfter) { throw NetworkError(.connectionLost, reason: "after the server") }
        return answer
    }

    private func response(
        _ answer: Answer, _ request: NetworkRequest, _ number: Int, _ id: Int, _ attempt: Int
    ) -> NetworkResponse {
        let headers = HTTPHeaders(answer.headers.map { HTTPHeader(name: $0.0, value: $0.1) })
        var response = NetworkResponse(statusCode: answer.status, headers: headers, url: request.url)
        response.request = request
        guard let chunks = answer.chunks, request.options.streamsResponse else {
            response.body = Data((answer.chunks?.joined() ?? answer.body).utf8)
            world.finish(number, answer.status)
            return response
        }
        let body = SlowBody(world, server, chunks, number, world.random(id, attempt * 16 + 1))
        response.bytes = ResponseBytes { try await body.next() }
        return response
    }
}

/// A body that arrives in parts, and may break off. Its release ends the exchange.
private final class SlowBody: @unchecked Sendable {
    private let world: World
    private let server: Server
    private let restarts: Int
    private var chunks: ArraySlice<String>
    private let number: Int
    private var random: SeededGenerator

    init(_ world: World, _ server: Server, _ chunks: [String], _ number: Int, _ random: SeededGenerator) {
        (self.world, self.server, self.chunks, self.number) = (world, server, chunks[...], number)
        (self.random, restarts) = (random, server.restarts)
    }

    deinit { world.finish(number, 0) }

    func next() async throws -> Data? {
        try await world.clock.sleep(for: .milliseconds(random.number(0...20) * 10))
        if server.restarts != restarts || random.number(0...999) < world.plan.setup.lostAfter / 2 {
            world.finish(number, -2)
            throw NetworkError(.connectionLost, reason: "in the body")
        }
        let isCut = world.fault == .shortBody && chunks.first == "chunk 5;"
        guard !isCut, let chunk = chunks.popFirst() else {
            world.finish(number, 200)
            return nil
        }
        return Data(chunk.utf8)
    }
}
