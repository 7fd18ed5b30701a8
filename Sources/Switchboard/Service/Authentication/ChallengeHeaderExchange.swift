import Foundation

/// Sends back a header field that a server gives with a refusal: protection against requests from other sites, as
/// Transmission's RPC has it, and many servers with other names.
///
/// ```swift
/// NetworkManager(interceptors: [ChallengeHeaderExchange.transmission])
/// ChallengeHeaderExchange(answering: [401, 403], header: "X-CSRF-Token")
/// ```
///
/// The value is kept for later requests to the origin, in the same ``RequestOptions/partition``. A refused request is sent
/// again once, if it had another value or none, and its body can be sent twice. A field that the request has already stays.
public final class ChallengeHeaderExchange: Interceptor {
    /// The statuses of a refusal.
    public let statuses: Set<Int>
    /// The field of the response.
    public let responseHeader: String
    /// The field of requests.
    public let requestHeader: String
    private let origins: CredentialOrigins
    private let values = Protected<[OriginKey: String]>([:])
    /// Servers must not fill the memory.
    private static let limit = 256

    /// Makes an exchange of one field.
    ///
    /// - Parameters:
    ///   - statuses: The statuses of a refusal. Default 409 and 401.
    ///   - header: The field of the response.
    ///   - requestHeader: The field of requests. Default nil: the same.
    ///   - origins: Where values may be sent. Each goes to the origin that it came from alone.
    public init(
        answering statuses: Set<Int> = [401, 409], header: String, as requestHeader: String? = nil,
        origins: CredentialOrigins = .asked
    ) {
        self.statuses = statuses
        responseHeader = header
        self.requestHeader = requestHeader ?? header
        self.origins = origins
    }

    /// That of [Transmission's RPC](https://github.com/transmission/transmission/blob/main/docs/rpc-spec.md): 409 and
    /// `X-Transmission-Session-Id`. A new one each time.
    public static var transmission: ChallengeHeaderExchange {
        ChallengeHeaderExchange(answering: [409], header: "X-Transmission-Session-Id")
    }

    /// Sends the request with the value that is known, and again with a new one.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard request.takesCredentials(for: origins), !request.headers.contains(requestHeader),
            let key = OriginKey(request)
        else { return try await next(request) }
        let known = values.withLock { $0[key] }
        let response = try await next(adding(known, to: request))
        guard statuses.contains(response.statusCode), let value = response.headers.values(for: responseHeader).first,
            isUsable(value), value != known
        else { return response }
        values.withLock { values in
            if values.count >= Self.limit, values[key] == nil { values.removeAll() }
            values[key] = value
        }
        guard request.body.isReplayable else { return response }
        request.report(.authentication("\(requestHeader) exchanged"))
        return try await next(adding(value, to: request))
    }

    /// Adds the value that is known.
    public func plan(for request: inout NetworkRequest) async -> [String] {
        guard request.takesCredentials(for: origins) else { return [request.reasonAgainstCredentials(for: origins)] }
        guard let key = OriginKey(request), let known = values.withLock({ $0[key] }) else {
            return ["waits for a refusal with \(responseHeader), and answers it"]
        }
        guard !request.headers.contains(requestHeader) else { return ["keeps the request's own \(requestHeader)"] }
        request = adding(known, to: request)
        return ["adds \(requestHeader)"]
    }

    private func adding(_ value: String?, to request: NetworkRequest) -> NetworkRequest {
        guard let value else { return request }
        var request = request
        request.setCredential(requestHeader, value)
        return request
    }

    private func isUsable(_ value: String) -> Bool {
        !value.isEmpty && value.utf8.count <= 8 << 10 && HTTPHeader(name: requestHeader, value: value).fault == nil
    }
}

extension ChallengeHeaderExchange: Resettable {
    /// Forgets the values.
    public func reset() async {
        values.withLock { $0 = [:] }
    }
}
