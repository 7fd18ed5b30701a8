import Foundation
import Switchboard
import SwitchboardText

/// Reads server-sent events or JSON lines, and reconnects when the connection ends, as in [HTML
/// §9.2](https://html.spec.whatwg.org/multipage/server-sent-events.html#the-eventsource-interface).
actor EventSource<Parser: StreamParser> {
    /// Sends the request for the elements after a position. Its errors are those of the call.
    typealias Connect = @Sendable (_ position: Parser.Position) async throws -> NetworkResponse

    private let connect: Connect
    /// The call. Its policy limits the consecutive failed attempts and sets the waits between them.
    let call: LongCall
    private var parser: Parser
    private var bytes: ResponseBytes?
    /// Passes each element of the connection to the monitors.
    private var recorder: ((Parser.Element) -> Void)?
    private var isEnded = false
    /// Whether the connection has ended, and the next one waits for the reader.
    private var isBetweenConnections = false
    /// The error to throw after the elements before it are delivered.
    private var failure: (any Error)?
    /// The status of the last response, or nil before the first. Without a first response, the source does not
    /// reconnect.
    private var status: Int?
    /// The number of connections since the last element.
    private var emptyConnections = 0

    init(_ parser: sending Parser, in call: LongCall, connect: @escaping Connect) {
        self.connect = connect
        self.call = call
        self.parser = parser
    }

    /// Returns the next elements, possibly none. Nil after an error, or when the server ended the stream.
    func more() async throws -> Transferred<[Parser.Element]>? {
        var elements: [Parser.Element] = []
        if !isEnded {
            do {
                try await advance { elements.append($0) }
            } catch {
                bytes = nil
                await reconnect(after: error)
            }
        }
        if elements.isEmpty, let failure {
            self.failure = nil
            // The call ends here, because a reader may stop before it gets the error.
            throw call.end(with: failure)
        }
        return isEnded && elements.isEmpty ? nil : Transferred(elements)
    }

    /// Performs the next step: opens a connection, reads from it, or waits for the next one.
    private func advance(_ body: (Parser.Element) -> Void) async throws {
        if call.isCancelled { throw CancellationError() }
        if isBetweenConnections {
            isBetweenConnections = false
            await reconnect(after: nil)
        } else if let bytes {
            try await read(bytes, body)
        } else {
            try await open()
        }
    }

    private func open() async throws {
        emptyConnections += 1
        let response = try await connect(parser.position)
        guard response.statusCode != 204 else {
            status = 204
            return end()
        }
        let mediaType = (response.headers.contentType ?? "").prefix { $0 != ";" }
        if let expected = parser.mediaType, !String(mediaType).trimmedOfBlanks.equalsIgnoringCase(expected) {
            let reason = "an event stream is \(expected), not \(String(mediaType).quotedForMessage)"
            throw NetworkError(.unexpectedContentType, reason: reason).with(response)
        }
        status = response.statusCode
        parser.restart()
        bytes = response.bytes
        recorder = response.request?.messageRecorder.map { record in
            { element in
                if let data = Parser.recorded(element) { record(CallMessage(.event, isSent: false, data)) }
            }
        }
    }

    private func read(_ bytes: ResponseBytes, _ body: (Parser.Element) -> Void) async throws {
        let chunk = try await bytes.next()
        if chunk == nil {
            self.bytes = nil
        } else {
            // Even a comment counts as progress. A server that responds without any data counts as unreachable.
            call.restartAttempts(at: 0)
        }
        try parser.parse(chunk) { element in
            emptyConnections = 0
            recorder?(element)
            body(element)
        }
        // The elements at the end of the bytes are delivered before the wait.
        isBetweenConnections = chunk == nil
    }

    /// Reconnects after the end of a connection or after a temporary error.
    private func reconnect(after error: (any Error)?) async {
        let (policy, lost) = (call.policy, error as? NetworkError)
        guard status != nil, call.isRepeatable, lost.map(call.reconnects(after:)) ?? (error == nil)
        else { return end(with: error) }
        do {
            // Waits longer after each connection without an element, and never less than a tenth of a second, unless
            // the policy's limit is shorter.
            let first = max(parser.retry ?? policy.baseDelay, .milliseconds(100))
            let wait = first.doubled(emptyConnections - 1, upTo: policy.maximumDelay)
            let cause = lost?.code.description ?? "the end of a connection"
            guard try await call.waitForRetry(after: wait, because: cause) else {
                return end(with: error ?? noElementError)
            }
        } catch {
            end(with: error)
        }
    }

    /// The error of a stream whose connections end normally but deliver no element. Nil for a policy of one attempt.
    private var noElementError: NetworkError? {
        guard emptyConnections > 0, call.policy.maximumAttempts > 1 else { return nil }
        let connections = emptyConnections > 1 ? "\(emptyConnections) connections in a row" : "a connection"
        return NetworkError(.connectionLost, reason: "\(connections) ended without \(Parser.anElement)")
    }

    /// Ends the call. The error is thrown after the elements before it are delivered.
    func end(with error: (any Error)? = nil) {
        isEnded = true
        bytes = nil
        failure = error
        if error == nil { call.end(.success(status ?? 0)) }
    }
}

extension EventSource where Parser == EventStreamParser {
    /// Returns the decoded data of the next events, up to the event whose data is `last`.
    func more<Value>(
        until last: String?, decode: @Sendable (ServerSentEvent) async throws -> Transferred<Value>
    ) async throws -> Transferred<[Value]>? {
        guard let events = try await more()?.value else { return nil }
        var values: [Value] = []
        for event in events {
            guard event.data != last else {
                end()
                break
            }
            do {
                values.append(try await decode(event).value)
            } catch {
                end(with: error)
                break
            }
        }
        return Transferred(values)
    }
}

/// Parses the bytes of a stream into elements, over several connections.
protocol StreamParser {
    associatedtype Element
    associatedtype Position: Sendable

    /// The position after the last complete element, at which the next connection starts.
    var position: Position { get }
    /// The last `retry` time of the server: the wait before a reconnection.
    var retry: Duration? { get }
    /// The media type that a response must have, or nil for any.
    var mediaType: String? { get }

    /// The name of an element in errors, with its article.
    static var anElement: String { get }

    /// Returns the bytes of an element for monitors. Nil if they get none.
    static func recorded(_ element: Element) -> Data?

    /// Prepares for the bytes of a new connection.
    mutating func restart()

    /// Passes `body` the elements that this chunk completes. Nil marks the end of the bytes, which completes the last
    /// element.
    mutating func parse(_ chunk: Data?, _ body: (Element) -> Void) throws
}

extension StreamParser {
    static func recorded(_ element: Element) -> Data? { nil }
}
