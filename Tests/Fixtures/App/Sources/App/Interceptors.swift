import Foundation
import Switchboard
import SwitchboardAuth
import SwitchboardInspector

struct Stamp: Interceptor {
    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var request = request
        request.headers["X-Stamp"] = "1"
        return try await next(request)
    }
}

struct Attempt: RequestAdapter, ExchangeInterceptor {
    func adapt(_ request: inout NetworkRequest) async throws { request.headers["X-Attempt"] = "1" }
}

enum Priority: RequestOption { static let defaultValue = 0 }

struct Urgent: TypedEndPoint {
    typealias Response = EmptyResponse
    var path: String { "urgent" }
    var options: RequestOptions { RequestOptions { $0[Priority.self] = 2 } }
}

final class Log: EventMonitor {
    func record(_ event: CallEvent) {}
}

/// A monitor whose state a view shows.
@MainActor final class Activity: EventMonitor {
    private(set) var finished = 0

    nonisolated func record(_ event: CallEvent) {
        guard case .finished = event.kind else { return }
        Task { @MainActor in finished += 1 }
    }
}

func makeInspectedManager() async throws -> NetworkManager {
    NetworkManager(monitors: [try await NetworkInspector.start(), Activity()])
}

/// An interceptor with state of the main actor.
@MainActor final class LastVersion: Interceptor, Resettable {
    private(set) var version: String?

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var request = request
        request.headers["X-Version"] = version
        let response = try await next(request)
        version = response.headers["X-Version"]
        return response
    }

    func reset() { version = nil }
}

/// Refreshes a session key. Interceptors and authenticators run outside of the main actor, and so does what they use:
/// the endpoint and the model are `nonisolated`.
struct KeyAuthenticator: Authenticator {
    let login: Router<LoginApi>

    func apply(_ key: SessionKey, to request: inout NetworkRequest) throws {
        request.headers["X-Session"] = key.value
    }

    func refresh(_ key: SessionKey?, in partition: String?) async throws -> SessionKey {
        try await login.request(.renew, as: SessionKey.self)
    }
}

nonisolated enum LoginApi: EndPointType {
    case renew
    var baseURL: String { "https://login.example.com" }
    var path: String { "key" }
}

nonisolated struct SessionKey: Decodable { let value: String }
