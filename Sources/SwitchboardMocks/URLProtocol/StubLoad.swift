import SwitchboardPlatform
import Foundation
import Switchboard

/// One loading of a request by a ``StubURLProtocol``: it sends the request to the stub and delivers the response to the
/// client.
final class StubLoad: Sendable {
    /// The same limit as URLSession on Apple's systems.
    private static let redirectLimit = 16

    private let request: ProtocolRequest
    private let client: ProtocolClient
    private let task = Protected<Task<Void, Never>?>(nil)

    /// Creates the loading on the thread that starts it. On Apple's systems the client expects its messages there.
    init(of urlProtocol: URLProtocol) {
        request = ProtocolRequest(urlRequest: urlProtocol.request, task: urlProtocol.task)
        client = ProtocolClient(of: urlProtocol)
    }

    func start(from stub: StubSession?) {
        task.withLock { $0 = Task { await run(stub) } }
    }

    /// Stops the loading. The client receives nothing more once this method has returned.
    func stop() {
        client.stop()
        task.withLock { $0 }?.cancel()
    }

    private func run(_ stub: StubSession?) async {
        do {
            guard let stub else {
                throw NetworkError(
                    .cannotConnect, reason: "the StubSession of this URLSessionConfiguration is gone: keep it")
            }
            try await load(from: stub)
        } catch {
            fail(error)
        }
    }

    private func load(from stub: StubSession) async throws {
        var request = try await self.request.networkRequest
        for _ in 0...Self.redirectLimit {
            let response = try await stub.send(request)
            guard let redirection = try RedirectInterceptor.none.redirection(of: request, by: response) else {
                return try await deliver(response)
            }
            switch try await self.request.follow(redirection, response, client) {
            case .declined: return try await deliver(response)
            case .bySystem: return
            case .byStub(let next): request = next
            }
        }
        throw NetworkError(.tooManyRedirects, reason: "\(Self.redirectLimit) were followed").noting(request)
    }

    private func deliver(_ response: NetworkResponse) async throws {
        guard let head = response.urlResponse else { throw NetworkError(.missingURL) }
        client.didReceive(head)
        var body = Data()
        for try await chunk in response.bytes {
            if ProtocolClient.takesPieces { client.didLoad(chunk) } else { body += chunk }
        }
        if !body.isEmpty { client.didLoad(body) }
        client.didFinish()
    }

    /// Delivers the part of the response that came before the failure, then the failure.
    private func fail(_ error: any Error) {
        let error = error as? NetworkError ?? NetworkError(.cancelled)
        if let response = error.response, let head = response.urlResponse, client.didReceive(head) {
            if !response.body.isEmpty { client.didLoad(response.body) }
        }
        client.didFail(URLError(error, for: request.urlRequest.url))
    }
}
