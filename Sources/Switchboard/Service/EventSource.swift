import Foundation

/// Reads server-sent events or JSON lines, and connects again when the connection ends, as [HTML
/// §9.2](https://html.spec.whatwg.org/multipage/server-sent-events.html#the-eventsource-interface) has it.
actor EventSource<Parser: StreamParser> {
    /// Sends the request for what follows a position; its errors are those of the call.
    typealias Connect = @Sendable (_ position: Parser.Position) async throws -> NetworkResponse

    private let connect: Connect
    private let policy: RetryPolicy?
    private var parser: Parser
    private var bytes: ResponseBytes?
    /// The last request that was answered, to be named in errors.
    private(set) var request: NetworkRequest?
    private var isOver = false
    /// What is thrown once the events before it were given.
    private var failure: (any Error)?
    /// Whether the request may be sent again: once it was answered, and not when it changes something.
    private var isRepeatable = false
    /// The attempts since one was last answered.
    private var attempts = 0
    /// The connections since one last gave an event.
    private var quiet = 0

    /// `policy` says how often in a row it may fail to connect, and how long it waits; nil for one connection alone.
    init(_ parser: Parser, policy: RetryPolicy?, connect: @escaping Connect) {
        self.connect = connect
        self.policy = policy
        self.parser = parser
    }

    /// The next events, none when there are none yet; nil when the server said that there are no more, or after an error.
    func more() async throws -> [Parser.Element]? {
        if let failure {
            self.failure = nil
            throw failure
        }
        guard !isOver else { return nil }
        var events: [Parser.Element] = []
        do {
            if let bytes { try await read(bytes) { events.append($0) } } else { try await open() }
        } catch {
            bytes = nil
            await recover(from: error)
        }
        return events
    }

    private func open() async throws {
        attempts += 1
        quiet += 1
        let response = try await connect(parser.position)
        request = response.request
        guard response.statusCode != 204 else {
            isOver = true
            return
        }
        let mediaType = (response.headers["Content-Type"] ?? "").prefix { $0 != ";" }
        if let expected = parser.mediaType, !String(mediaType).trimmedOfBlanks.equalsIgnoringCase(expected) {
            let reason = "an event stream is \(expected), not \(String(mediaType).quotedForMessage)"
            throw NetworkError(.unexpectedContentType, reason: reason).with(response)
        }
        isRepeatable = response.request.map { $0.method.isIdempotent && $0.body.isReplayable } ?? true
        attempts = 0
        parser.restart()
        bytes = response.bytes
    }

    private func read(_ bytes: ResponseBytes, _ body: (Parser.Element) -> Void) async throws {
        let chunk = try await bytes.next()
        if chunk == nil { self.bytes = nil }
        try parser.parse(chunk) { event in
            quiet = 0
            body(event)
        }
        if chunk == nil { await connectAgain(after: nil) }
    }

    /// Goes on after an error that may pass; any other is the end.
    private func recover(from error: any Error) async {
        guard let lost = error as? NetworkError, lost.isLostStream else { return end(with: error) }
        await connectAgain(after: lost)
    }

    private func connectAgain(after lost: NetworkError?) async {
        guard let policy, isRepeatable, attempts < policy.maximumAttempts else {
            guard var lost else { return end(with: nil) }
            lost.attempts = max(1, attempts)
            return end(with: lost)
        }
        do {
            try await policy.sleep(for: policy.delay(asked: parser.retry, quiet: quiet))
        } catch {
            end(with: error)
        }
    }

    private func end(with error: (any Error)?) {
        isOver = true
        failure = request.flatMap { request in (error as? NetworkError)?.attributed(to: request) } ?? error
    }
}

extension RetryPolicy {
    /// How long to wait before connecting again: what the server asked for, or the policy's own; longer with each
    /// connection that gave no event, and never less than a tenth of a second.
    fileprivate func delay(asked: Duration?, quiet: Int) -> Duration {
        var delay = max(asked ?? baseDelay, .milliseconds(100))
        for _ in 1..<max(1, quiet) where delay < maximumDelay { delay = min(maximumDelay, delay * 2) }
        return min(delay, maximumDelay)
    }
}

extension NetworkError {
    /// Whether a connection was lost or not to be had, so that another one may do better.
    package var isLostStream: Bool {
        switch code {
        case .timedOut, .cannotConnect, .cannotFindHost, .connectionLost, .noInternetConnection, .truncatedBody: true
        default: false
        }
    }
}
