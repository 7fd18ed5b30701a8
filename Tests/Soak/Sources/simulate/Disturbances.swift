import Foundation
import Switchboard
import SwitchboardAuth
import SwitchboardCache
import SwitchboardCookies
import SwitchboardResilience

// Broken parts, each of which one rule of the simulation must find; see `Fault`.

/// An interceptor that breaks calls as the fault says, and otherwise passes them.
struct Disturbance: Interceptor {
    private let world: World
    private let session: any NetworkSession
    private let fault: Fault?

    init(_ world: World, _ session: any NetworkSession, _ fault: Fault?) {
        (self.world, self.session, self.fault) = (world, session, fault)
    }

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        let id = request.options[CallNumber.self].id
        switch fault {
        case .lostCall where id % 16 == 3:
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            return try await next(request)
        case .lateRequest where id % 16 == 3:
            let response = try await next(request)
            Task { [world, session] in
                try await world.clock.sleep(for: .seconds(1))
                _ = try await session.send(request)
            }
            return response
        case .sleeper where id % 16 == 3:
            Task { [world] in try await world.clock.sleep(for: .seconds(100_000)) }
            return try await next(request)
        case .repeatPost where request.method == .post:
            do {
                return try await next(request)
            } catch let error as NetworkError where error.code == .connectionLost {
                return try await next(request)
            }
        case .refresh where request.method == .get:
            let number = world.lastToken
            let body = DataBody(Data("refresh_token=refresh-\(number)".utf8))
            let url = URL(string: "https://\(Server.hosts[3])/token")
            if number >= 0 { _ = try? await session.send(NetworkRequest(.post, url, body: body)) }
            return try await next(request)
        case .shortEvents where request.headers.contains("Last-Event-ID"):
            return NetworkResponse(statusCode: 204, url: request.url)
        case .shortPages where request.url?.path == "/pages/3":
            return NetworkResponse(
                statusCode: 200, headers: ["Content-Type": "application/json"], body: Data("[3,0]".utf8),
                url: request.url)
        case .falseCancel where id % 16 == 3: throw CancellationError()
        default: return try await next(request)
        }
    }
}

/// Adds a token at every origin.
struct ForeignToken: ExchangeInterceptor {
    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var request = request
        if !request.headers.contains("Authorization") { request.headers["Authorization"] = "Bearer access-0" }
        return try await next(request)
    }
}

/// A circuit breaker that sends all requests.
struct LeakyBreaker: ExchangeInterceptor {
    let breaker: CircuitBreaker

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        do {
            return try await breaker.intercept(request, next: next)
        } catch let error as NetworkError where error.code == .circuitOpen {
            return try await next(request)
        }
    }
}

/// A store of tokens. With a fault, a reset keeps them or waits.
actor SimulatedStore: TokenStore {
    private let store = MemoryTokenStore()
    private let fault: Fault?
    private let clock: VirtualClock

    init(_ fault: Fault?, _ clock: VirtualClock) { (self.fault, self.clock) = (fault, clock) }

    func load(in partition: String?) async throws -> OAuthToken? { await store.load(in: partition) }
    func save(_ token: OAuthToken, in partition: String?) async throws { await store.save(token, in: partition) }
    func remove(in partition: String?) async throws { await store.remove(in: partition) }
    func removeAll() async throws {
        if fault == .slowReset { try? await clock.sleep(for: .seconds(1)) }
        if fault != .keptTokens { await store.removeAll() }
    }
}

/// A jar or a cache that a reset keeps.
struct Kept: Interceptor, ExchangeInterceptor {
    let inner: any ExchangeInterceptor

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        try await inner.intercept(request, next: next)
    }
}

/// A cache. With a fault, it does not see writes.
struct HidingWrites: Interceptor, ExchangeInterceptor, Resettable {
    private let cache: ResponseCache
    private let fault: Fault?

    init(_ cache: ResponseCache, _ fault: Fault?) { (self.cache, self.fault) = (cache, fault) }

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard fault == .hiddenWrite, request.method != .get else {
            return try await cache.intercept(request, next: next)
        }
        return try await next(request)
    }

    func reset() async {}
    var resettableParts: [any Resettable] { [cache] }
}
