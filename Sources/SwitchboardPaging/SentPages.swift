import Foundation
import Switchboard
import SwitchboardPlatform

/// Records the requests of one iteration over pages, so that none is sent twice.
final class SentPages: Sendable {
    private struct State {
        var seen: Set<RequestHash> = []
        var isRepeat = false
        var lastURL: URL?
    }

    private let state = Protected(State())

    /// Records a token. Returns false for a repeated one.
    @discardableResult
    func insert(_ token: some Hashable) -> Bool {
        let requestHash = RequestHash(token)
        return state.withLock { $0.seen.insert(requestHash).inserted }
    }

    func contains(_ token: some Hashable) -> Bool {
        let requestHash = RequestHash(token)
        return state.withLock { $0.seen.contains(requestHash) }
    }

    /// Runs `load`. Nil when it did not send its request, because an equal one was sent before.
    func skippingRepeats(_ load: () async throws -> NetworkResponse) async throws -> NetworkResponse? {
        do {
            return try await load()
        } catch {
            if state.withLock({ $0.isRepeat }) { return nil }
            throw error
        }
    }

    /// Records a request. Requests with a streamed body are not compared.
    ///
    /// - Throws: `NetworkError` when an equal request was sent before.
    func record(_ request: NetworkRequest) throws(NetworkError) {
        let requestHash = RequestHash(sending: request)
        let isNew = state.withLock { state in
            guard let requestHash, !state.seen.insert(requestHash).inserted else { return true }
            state.isRepeat = true
            return false
        }
        if !isNew { throw NetworkError(.cancelled, reason: "this request was sent before") }
    }

    /// Returns the request for the page at a URL from the server, or for the first page when the URL is nil.
    ///
    /// - Throws: `NetworkError.Code.redirectRefused`.
    func request(_ request: NetworkRequest, forPageAt url: URL?) throws(NetworkError) -> NetworkRequest {
        let lastURL = state.value.lastURL
        guard let url else {
            if let first = request.url { insert(first.withoutFragment) }
            return request
        }
        if let lastURL {
            try url.refuseDowngrade(from: lastURL)
            // The first request has consumed the body.
            guard request.body.isReplayable else {
                throw NetworkError(.redirectRefused, reason: "the body cannot be sent twice")
            }
        }
        var moved = try request.moved(to: url.withoutFragment)
        // As with redirects, credentials stay removed even at the first origin: another origin chose this URL.
        if url.isFromAnotherOrigin { moved.leaveOrigin() }
        return moved
    }

    /// Records the URL of the response, after redirects.
    func recordResponseURL(_ url: URL?) {
        guard let url else { return }
        insert(url.withoutFragment)
        state.withLock { $0.lastURL = url }
    }
}

/// A 128-bit hash of a token or request, with a random seed for each process.
private struct RequestHash: Hashable, Sendable {
    private let one: Int
    private let two: Int

    init(_ token: some Hashable) {
        let url = token as? URL
        let value = url?.isFromAnotherOrigin == true ? AnyHashable(url?.withoutFragment) : AnyHashable(token)
        func hash(_ seed: Int) -> Int {
            var hasher = Hasher()
            hasher.combine(seed)
            hasher.combine(value)
            return hasher.finalize()
        }
        one = hash(1)
        two = hash(2)
    }

    /// Creates the hash of a request from method, URL, header fields and body. Nil for a body that cannot be read.
    init?(sending request: NetworkRequest) {
        guard !request.body.isStreamed, let body = try? request.body.isEmpty ? Data() : request.body.encode() else {
            return nil
        }
        self.init(
            Sent(
                method: request.method, url: request.url?.withoutFragment.absoluteString, headers: request.headers,
                body: body))
    }

    private struct Sent: Hashable {
        let method: HTTPMethod
        let url: String?
        let headers: HTTPHeaders
        let body: Data
    }
}
