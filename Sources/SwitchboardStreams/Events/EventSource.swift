import Foundation
import Switchboard
import SwitchboardText

/// Reads server-sent events or JSON lines, and connects again when the connection ends, as [HTML
/// §9.2](https://html.spec.whatwg.org/multipage/server-sent-events.html#the-eventsource-interface) has it.
actor EventSource<Parser: StreamParser> {
    /// Sends the request for what follows a position; its errors are those of the call.
    typealias Connect = @Sendable (_ position: Parser.Position) async throws -> NetworkResponse

    private let connect: Connect
    /// Its policy says how often in a row it may fail to connect, and how long it waits.
    private let call: LongCall
    private var parser: Parser
    private var bytes: ResponseBytes?
    private var isOver = false
    /// What is thrown once the events before it were given.
    private var failure: (any Error)?
    /// The status of the last connection; nil until one was answered. Before that it is not made again.
    private var status: Int?
    /// The connections since one last gave an event.
    private var quiet = 0

    init(_ parser: Parser, in call: LongCall, connect: @escaping Connect) {
        self.connect = connect
        self.call = call
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
            await connectAgain(after: error)
        }
        return events
    }

    private func open() async throws {
        quiet += 1
        let response = try await connect(parser.position)
        guard response.statusCode != 204 else {
            status = 204
            return end()
        }
        let mediaType = (response.headers["Content-Type"] ?? "").prefix { $0 != ";" }
        if let expected = parser.mediaType, !String(mediaType).trimmedOfBlanks.equalsIgnoringCase(expected) {
            let reason = "an event stream is \(expected), not \(String(mediaType).quotedForMessage)"
            throw NetworkError(.unexpectedContentType, reason: reason).with(response)
        }
        status = response.statusCode
        parser.restart()
        bytes = response.bytes
    }

    private func read(_ bytes: ResponseBytes, _ body: (Parser.Element) -> Void) async throws {
        let chunk = try await bytes.next()
        if chunk == nil {
            self.bytes = nil
        } else {
            // A comment is a sign of life. A server that answers and gives nothing is as dead as one that does not answer.
            call.restartAttempts(at: 0)
        }
        try parser.parse(chunk) { event in
            quiet = 0
            body(event)
        }
        if chunk == nil { await connectAgain(after: nil) }
    }

    /// Goes on after an end, and after an error that may pass.
    private func connectAgain(after error: (any Error)?) async {
        let (policy, lost) = (call.policy, error as? NetworkError)
        guard status != nil, call.isRepeatable, lost.map({ policy.errorCodes.contains($0.code) }) ?? (error == nil)
        else { return end(with: error) }
        do {
            // Longer with each connection that gave no event, and never less than a tenth of a second.
            let first = max(parser.retry ?? policy.baseDelay, .milliseconds(100))
            let wait = first.doubled(quiet - 1, upTo: policy.maximumDelay)
            let cause = lost?.code.description ?? "the end of a connection"
            guard try await call.goesOn(after: wait, because: cause) else { return end(with: error ?? silence) }
        } catch {
            end(with: error)
        }
    }

    /// Why a stream is given up whose connections end as they should.
    private var silence: NetworkError? {
        guard quiet > 1 else { return nil }
        return NetworkError(.connectionLost, reason: "\(quiet) connections in a row ended without an event")
    }

    /// Ends the call. An error is thrown once the events before it were given.
    func end(with error: (any Error)? = nil) {
        isOver = true
        bytes = nil
        failure = error.map(call.end)
        call.end(.success(status ?? 0))
    }
}

extension EventSource where Parser == EventStreamParser {
    /// The data of the next events, decoded, up to the event that ends them.
    func more<Value: Decodable & Sendable>(
        as type: Value.Type, until last: String?, decoder: any ResponseDecoder
    ) async throws -> [Value]? {
        guard let events = try await more() else { return nil }
        var values: [Value] = []
        for event in events {
            guard event.data != last else {
                end()
                break
            }
            do {
                values.append(try event.decode(type, decoder: decoder))
            } catch {
                end(with: error)
                break
            }
        }
        return values
    }
}
