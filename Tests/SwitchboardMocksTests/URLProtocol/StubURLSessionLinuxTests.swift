#if canImport(FoundationNetworking)
import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// On Linux, features that Foundation denies a URLProtocol fail with a reason, where they would otherwise trap or
/// return wrong results.
@Suite(.timeLimit(.minutes(10)))
struct StubURLSessionLinuxTests {
    private let url: URL

    init() throws {
        url = try #require(URL(string: "https://h.example/p"))
    }

    @Test("a download task is refused")
    func downloadTask() async throws {
        let stub = StubSession { _ in .text("unused") }
        let session = stub.urlSession()
        let error: (any Error)? = await withCheckedContinuation { continuation in
            session.downloadTask(with: url) { _, _, error in continuation.resume(returning: error) }.resume()
        }
        let refusal = try #require(error as? URLError)
        #expect(refusal.code == .unsupportedURL)
        #expect(refusal.localizedDescription.contains("download tasks"))
        #expect(stub.requests.isEmpty)
    }

    @Test("an upload from a delegate's stream is refused, also with a body", arguments: [nil, Data("stale".utf8)])
    func delegateStream(body: Data?) async throws {
        let delegate = Refusals()
        let stub = StubSession { _ in .text("unused") }
        stub.urlSession(delegate: delegate).uploadTask(withStreamedRequest: URLRequest("PUT", url, body: body)).resume()
        let end = try await delegate.ends.first()
        let refusal = try #require(end)
        #expect(refusal.code == .unsupportedURL)
        #expect(refusal.localizedDescription.contains("upload"))
        #expect(stub.requests.isEmpty)
    }

    @Test("the configuration's timeout applies")
    func configurationTimeout() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 9
        let stub = StubSession(.status(204))
        _ = try await stub.urlSession(configuration).data(from: url)
        #expect(stub.requests.first?.timeouts.idle == .seconds(9))
    }

    @Test("a task that is resumed twice is one request")
    func resumedTwice() async throws {
        let delegate = TaskDelegate()
        let stub = StubSession { _ in .text("there") }
        let task = stub.urlSession(delegate: delegate).dataTask(with: url)
        task.resume()
        task.resume()
        #expect(try await delegate.ends.first() == nil)
        #expect(stub.requests.count == 1)
    }

    @Test("a suspended task starts again")
    func suspended() async throws {
        let clock = TestClock()
        let delegate = TaskDelegate()
        let stub = StubSession(clock: clock, .text("late").delayed(by: .seconds(5)), .text("there"))
        let task = stub.urlSession(delegate: delegate).dataTask(with: url)
        task.resume()
        _ = try await clock.nextSleep()
        task.suspend()
        task.resume()
        #expect(try await delegate.ends.first() == nil)
        #expect(delegate.data.all == [Data("there".utf8)])
        #expect(stub.requests.count == 2)
    }
}

/// Records the errors of tasks, with their texts.
private final class Refusals: NSObject, URLSessionDataDelegate {
    let ends = Deliveries<URLError?>()

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ends.add(error as? URLError)
    }
}
#endif
