import Foundation
@testable import Switchboard
import SwitchboardPlatform
import SwitchboardTestSupport
import Testing

/// The callbacks of URLSession, played as Apple documents them.
@Suite(.timeLimit(.minutes(10)))
struct FoundationCallbackTests {
    private let url = FoundationExchange.playedURL

    // MARK: The end

    @Test("a connection lost in the body is truncatedBody on Apple", arguments: [false, true])
    func truncation(streams: Bool) async throws {
        for (quirks, code) in [
            (URLSessionQuirks.apple, NetworkError.Code.truncatedBody), (.openSource, .connectionLost),
        ] {
            let error = await #expect(throws: NetworkError.self) {
                let response = try await FoundationExchange.play(streams: streams, quirks: quirks) { exchange in
                    exchange.didReceive(try FoundationExchange.head(["Content-Length": "6"]))
                    exchange.didReceive(Data("abc".utf8))
                    exchange.didComplete(with: URLError(.networkConnectionLost))
                }
                for try await _ in response.bytes {}
            }
            #expect(error?.code == code)
            #expect(error?.urlErrorCode == .networkConnectionLost)
            #expect((error?.reason == "3 of 6 bytes arrived") == (code == .truncatedBody))
        }
    }

    @Test("a connection that the system aborted in the body is truncatedBody")
    func abortedBody() async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await FoundationExchange.play(streams: false, quirks: .apple) { exchange in
                exchange.didReceive(try FoundationExchange.head(["Content-Length": "6"]))
                exchange.didReceive(Data("abc".utf8))
                exchange.didComplete(with: POSIXError(.ECONNABORTED))
            }
        }
        #expect(error?.code == .truncatedBody && error?.underlying is POSIXError)
    }

    @Test("a connection lost before the response is connectionLost")
    func lostBeforeTheHead() async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await FoundationExchange.play { $0.didComplete(with: URLError(.networkConnectionLost)) }
        }
        #expect(error?.code == .connectionLost)
    }

    @Test("an end without an HTTP response is invalidResponse")
    func noResponse() async throws {
        let other = URLResponse(url: url, mimeType: "text/plain", expectedContentLength: 3, textEncodingName: nil)
        for response in [nil, other] {
            let error = await #expect(throws: NetworkError.self) {
                try await FoundationExchange.play { exchange in
                    if let response { exchange.didReceive(response) }
                    exchange.didComplete(with: nil)
                }
            }
            #expect(error?.code == .invalidResponse)
        }
    }

    @Test("a second response in a streamed body ends its reader with an error")
    func secondResponse() async throws {
        let response = try await FoundationExchange.play(streams: true) { exchange in
            exchange.didReceive(try FoundationExchange.head(["Content-Type": "text/plain"]))
            exchange.didReceive(Data("abc".utf8))
            exchange.didReceive(try FoundationExchange.head(["Content-Type": "text/plain"]))
        }
        let error = await #expect(throws: NetworkError.self) { for try await _ in response.bytes {} }
        #expect(error?.code == .invalidResponse)
    }

    @Test("the wait for the end of a canceled task begins after its cancel")
    func waitForTheEnd() async {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let exchange = FoundationExchange(NetworkRequest(.get, url), payload: nil, DeadlineSweeper())
        _ = exchange.attach(session.dataTask(with: url))
        // The task is canceled when this lock is free.
        let deadline = exchange.isTaskCancelled.withLock { _ in
            exchange.cancel()
            return exchange.deadline
        }
        #expect(deadline == nil)
        #expect(await comesTrue { exchange.deadline != nil })
    }

    // MARK: Redirects

    @Test("a redirect is answered after a cancel, except where that traps")
    func redirectAfterCancel() async throws {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        for (quirks, count) in [(URLSessionQuirks.apple, 1), (.openSource, 0)] {
            let exchange = FoundationExchange(
                NetworkRequest(.get, url), payload: nil, DeadlineSweeper(), quirks: quirks)
            _ = exchange.attach(session.dataTask(with: url))
            exchange.cancel()
            #expect(await comesTrue { exchange.isTaskCancelled.value })
            let answers = Protected(0)
            exchange.decline { request in
                #expect(request == nil)
                answers.withLock { $0 += 1 }
            }
            #expect(answers.value == count)
        }
    }

    // MARK: Timeouts

    @Test("an interim response counts as data for the idle timeout")
    func interim() throws {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        var request = NetworkRequest(.get, url)
        request.timeouts = Timeouts(idle: .seconds(60))
        let exchange = FoundationExchange(request, payload: nil, DeadlineSweeper())
        let (delegate, task) = (FoundationSessionDelegate(), session.dataTask(with: url))
        delegate.register(exchange, for: task)
        let before = try #require(exchange.deadline)
        delegate.urlSession(
            session, task: task, didReceiveInformationalResponse: try FoundationExchange.head(status: 103))
        #expect(try #require(exchange.deadline) > before)
    }

    @Test("no timeout has no deadline, and the longest one has a late deadline")
    func deadlines() throws {
        func deadline(_ timeouts: Timeouts) -> SuspendingClock.Instant? {
            var request = NetworkRequest(.get, url)
            request.timeouts = timeouts
            return FoundationExchange(request, payload: nil, DeadlineSweeper()).deadline
        }
        #expect(deadline(.none) == nil)
        for longest in [Timeouts(idle: .seconds(Int64.max)), Timeouts(idle: nil, attempt: .seconds(Int64.max))] {
            let late = try #require(deadline(longest))
            #expect(late > SuspendingClock.now + .seconds(365 * 86_400))
        }
    }
}
