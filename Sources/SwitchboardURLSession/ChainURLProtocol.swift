import Foundation
import Switchboard
import SwitchboardPlatform

/// Sends the requests of URLSessions through the owner of its class. See ``ProtocolClasses``.
class ChainURLProtocol: URLProtocol {
    /// Locked, because Foundation starts and stops on its internal queues.
    private let load = Protected<URLLoad?>(nil)

    /// Whether it has started a loading and not stopped it.
    var isLoading: Bool { load.value != nil }

    /// The type of the owner, for an error.
    class var ownerName: String { "owner" }

    /// Accepts every request, so that none bypasses the owner.
    override class func canInit(with request: URLRequest) -> Bool { true }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override class func requestIsCacheEquivalent(_ one: URLRequest, to other: URLRequest) -> Bool { false }

    /// Returns whether to load for a task in this state. Nil is a loading without a task.
    static func loads(
        in state: URLSessionTask.State?, startsStoppedTasks: Bool = ProtocolClient.startsStoppedTasks
    ) -> Bool {
        !startsStoppedTasks || state == nil || state == .running
    }

    /// Starts the loading unless it runs already. The open-source Foundation calls this method again when a running
    /// task is resumed once more, and after a suspension, which stops the loading. It may also call it for a canceled
    /// task, after it stopped the loading. On Apple's systems each call starts a loading.
    override func startLoading() {
        guard Self.loads(in: task?.state) else { return }
        let new = URLLoad(of: self)
        let old = load.withLock { load in
            defer { load = load ?? new }
            return load
        }
        if let old { old.resume() } else { new.start() }
    }

    /// Stops the loading. After a suspension it waits instead, unless it can start again. The open-source Foundation
    /// may call this method late, when a suspended task runs again. Such a call does nothing.
    override func stopLoading() {
        let state = task?.state
        if ProtocolClient.startsStoppedTasks, state == .running { return }
        let load = load.value
        // Apple's systems stop no suspended task, only its loading at a redirect.
        if ProtocolClient.startsStoppedTasks, state == .suspended, load?.suspend() == true { return }
        if load?.stop() == true { _ = self.load.swap(nil) }
    }
}

/// One loading of a request by a ``ChainURLProtocol``: it sends the request through the owner and delivers the response
/// to the client.
final class URLLoad: Sendable {
    /// The same limit as URLSession on Apple's systems.
    private static let redirectLimit = 16

    private struct State {
        var task: Task<Void, Never>?
        /// Whether the client receives the body in pieces now.
        var isInBody = false
        /// Ends when a suspended loading continues. Nil while it is not suspended.
        var suspension: (stream: AsyncStream<Never>, continuation: AsyncStream<Never>.Continuation)?
    }

    private let request: ProtocolRequest
    private let client: ProtocolClient
    private let protocolClass: ChainURLProtocol.Type
    private let state = Protected(State())

    /// Creates the loading on the thread that starts it. On Apple's systems the client expects its messages there.
    init(of urlProtocol: ChainURLProtocol) {
        request = ProtocolRequest(urlRequest: urlProtocol.request, task: urlProtocol.task)
        client = ProtocolClient(of: urlProtocol)
        protocolClass = type(of: urlProtocol)
    }

    func start() {
        state.withLock { $0.task = Task { await run() } }
    }

    /// Stops the loading. The client receives nothing more once this method has returned. Returns false if it has
    /// received the end already, after which no other loading may start.
    func stop() -> Bool {
        defer { state.withLock { $0.task }?.cancel() }
        return client.stop()
    }

    /// Stops delivering the response until ``resume()``. Returns false outside of the body if the loading can start
    /// again.
    func suspend() -> Bool {
        let isRepeatable = request.isRepeatable
        return state.withLock { state in
            guard state.isInBody || !isRepeatable else { return false }
            if state.suspension == nil { state.suspension = AsyncStream.makeStream() }
            return true
        }
    }

    func resume() {
        let suspension = state.withLock { state in
            defer { state.suspension = nil }
            return state.suspension
        }
        suspension?.continuation.finish()
    }

    private func run() async {
        do {
            try await load()
        } catch {
            fail(NetworkError.caught(error))
        }
    }

    private func load() async throws {
        guard let owner = ProtocolClasses.shared.owner(of: protocolClass) else {
            throw NetworkError(
                .cannotConnect,
                reason: "the \(protocolClass.ownerName) of this URLSessionConfiguration is gone: keep it")
        }
        let prepared = try owner.prepareForURLSession(try await request.networkRequest(for: client))
        var next = prepared.request
        for _ in 0...Self.redirectLimit {
            let response = try await prepared.send(next)
            guard let result = redirection(of: next, by: response),
                let followed = try await request.follow(result, response, client)
            else { return try await deliver(response) }
            next = followed
        }
        throw NetworkError(.tooManyRedirects, reason: "\(Self.redirectLimit) were followed").attributed(to: next)
    }

    /// Returns the request after a redirect, or a failure if the rules refuse it. Nil for any other response.
    private func redirection(
        of request: NetworkRequest, by response: NetworkResponse
    ) -> Result<NetworkRequest, NetworkError>? {
        do throws(NetworkError) {
            let next = try RedirectInterceptor.none.nextRequest(after: request, redirectedBy: response)
            guard let next else { return nil }
            return .success(next)
        } catch {
            return .failure(error)
        }
    }

    private func deliver(_ response: NetworkResponse) async throws {
        guard let head = response.urlResponse else { throw NetworkError(.missingURL) }
        await whileSuspended()
        state.withLock { $0.isInBody = client.takesPieces }
        client.didReceive(head)
        if client.takesPieces {
            for try await chunk in response.bytes {
                await whileSuspended()
                await client.didLoad(chunk)
            }
        } else {
            var body = response.body
            if response.stream != nil { for try await chunk in response.bytes { body += chunk } }
            if !body.isEmpty { await client.didLoad(body) }
        }
        await whileSuspended()
        client.didFinish()
    }

    /// Waits until the task is not suspended, or canceled.
    private func whileSuspended() async {
        while !Task.isCancelled, let suspension = state.withLock({ $0.suspension }) {
            for await _ in suspension.stream {}
        }
    }

    /// Delivers the part of the response that came before the failure, then the failure. An error for a status is a
    /// response.
    private func fail(_ error: NetworkError) {
        if let response = error.response, let head = response.urlResponse, client.didReceive(head) {
            if !response.body.isEmpty { client.enqueue(response.body) }
            if error.code.isStatus { return client.didFinish() }
        }
        client.didFail(URLError(error, for: request.urlRequest.url))
    }
}
